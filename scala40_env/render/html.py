"""A replay of matches as one HTML file that needs nothing else: no network, no library.

The file holds what the page shows, worked out by the engine: for every hand the state of the table after the deal, and
for every move the few values that it changed. Its script puts them on the page and knows no rule of the game. The cards
are the symbols of `render.cards`.

The state is an object of plain values; seats and melds are numbers in its keys::

    h0, k0, ...  the hand of a seat, and of it what everybody has seen    p, q   top of the pozzo and its size
    o            for each seat 1 if it has opened, otherwise 0            b      who discarded that, -1 for nobody
    m1, ...      a meld                                                   s      size of the stock
    w            numbers of the melds laid in this turn                   c      totals of all seats
    t            the seat on move, -1 when the hand is over               x      seats out of the match
    n            what has to be done and what this turn owes, or how the hand ended: sentences

A card is one letter, its place in `LETTERS`; in a meld a joker is ``*`` and the letter of what it stands for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.resources import files
from itertools import groupby, pairwise
from os import PathLike
from pathlib import Path
from string import Template, ascii_lowercase, ascii_uppercase
from typing import Any, Literal

from scala40_env.kernels.state import NONE
from scala40_env.render.cards import BACK, Palette, symbols
from scala40_env.render.scene import Scene, scene_of
from scala40_env.render.svg import xml_text
from scala40_env.render.words import LANGUAGES, Words, words_of
from scala40_env.rules.cards import format_card
from scala40_env.rules.errors import BadRecord, Scala40Error, shown
from scala40_env.rules.game import Game
from scala40_env.rules.position import this_turn_of
from scala40_env.rules.reading import known_of
from scala40_env.rules.record import Record, ReplayStep

LETTERS = {format_card(card): letter for card, letter in enumerate(ascii_uppercase + ascii_lowercase + "*")}
"""The letter of every card: `A` to `Z`, `a` to `z` in the order of their numbers, and the joker."""

State = dict[str, Any]

PAGE_PALETTE = Palette("s40", ("var(--spades)", "var(--hearts)", "var(--diamonds)", "var(--clubs)"))
"""For pages, where the style sheet decides on two or four colours."""

CARDS_SCRIPT = "cards.js"
"""The script beside this module's templates that puts a card on a page, for all pages that do."""


def replay_html(
    records: Record | Iterable[Record], path: str | PathLike[str], *, language: Literal["en", "it", "es"] = "en"
) -> int:
    """Write the replay of a match, or of several, to `path`; returns how many bytes that were.

    Its words are of the `language`. Nothing is written if one of the matches does not replay, which raises `BadRecord`,
    as no records do, or for a language that there is not, which raises `Scala40Error`.
    """
    page = replay_page(records, language=language).encode()
    return Path(path).write_bytes(page)


def replay_page(records: Record | Iterable[Record], *, with_seed: bool = True, language: str = "en") -> str:
    """The text of that file.

    Args:
        records: the matches.
        with_seed: name the seed of each. Of a match that still goes on it would tell the cards to come.
        language: of its words, one of `words.LANGUAGES`.
    """
    if language not in LANGUAGES:
        raise Scala40Error(f"language = {shown(language)}: allowed are {', '.join(LANGUAGES)}")
    words = words_of(language)
    given = [records] if isinstance(records, Record) else records
    matches = [_match(record, words, with_seed) for record in given]
    if not matches:
        raise BadRecord("there is no match to replay")
    data = {"language": language, "words": words.content, "cards": list(LETTERS), "matches": matches}
    return Template(template("replay.html")).substitute(
        language=language,
        title=xml_text(_title(matches, words)),
        no_script=xml_text(words.say("no_script")),
        style=template("replay.css"),
        script=template(CARDS_SCRIPT) + template("replay.js"),
        symbols=symbols([BACK, *LETTERS, *_jokers_on_the_table(matches)], PAGE_PALETTE),
        data=_json_in_html(data),
    )


def template(name: str) -> str:
    """The text of one of the files that pages are made of."""
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _title(matches: Sequence[dict[str, Any]], words: Words) -> str:
    players = ", ".join(matches[0]["players"])
    more = len(matches) - 1
    return f"Scala Quaranta: {words.say('and_more', names=players, n=more) if more else players}"


def _json_in_html(data: Any) -> str:
    """JSON that no name in it can break out of: a script ends at ``</script`` wherever that stands."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")


# ---------------------------------------------------------------------------------------------------------------------
# Matches as states and their changes


def _match(record: Record, words: Words, with_seed: bool) -> dict[str, Any]:
    """A match as the page takes it."""
    said = partial(_note, words=words, names=record.players)
    hands = [_hand(list(steps), said) for _, steps in groupby(record.replay(), key=lambda step: step.hand)]
    about = {"rules": words.say("rules_of", preset=record.rules.preset, n=record.rules.num_players)}
    about |= {"seed": str(record.seed)} if with_seed else {}  # it can be larger than the numbers of a browser
    return {**about, "players": list(record.players), "hands": hands}


def _hand(steps: Sequence[ReplayStep], said: Callable[[Game], str]) -> dict[str, Any]:
    """A hand: its dealer, the state after the deal, every move with what it changed, and what the hand charged."""
    states = [{**_state(step.game), "n": said(step.game)} for step in steps]
    moves = [[step.move, dict(_changes(*pair))] for step, pair in zip(steps[1:], pairwise(states), strict=True)]
    outcome = steps[-1].game.outcome
    ended: dict[str, Any] = {"points": None, "winner": None}
    if outcome is not None:
        ended = {"points": outcome.hand_points, "winner": outcome.winner}
    return {"dealer": steps[0].game.dealer, "start": states[0], "moves": moves, **ended}


def _changes(before: State, after: State) -> Iterator[tuple[str, Any]]:
    """The values that a move has changed; within a hand no key goes away."""
    return ((key, value) for key, value in after.items() if key not in before or before[key] != value)


def _note(game: Game, words: Words, names: Sequence[str]) -> str:
    """What has to be done, or how the hand ended, in words."""
    if game.outcome is not None:
        return " ".join(words.ending(game.outcome, names))
    on_move = words.say(f"on_move_{game.phase}", name=names[game.turn])
    return " ".join([on_move, *words.owed(this_turn_of(game.state), game.rules)])


def _state(game: Game) -> State:
    """The state of a table, as the module's text describes it, but for what is said of it."""
    scene = scene_of(game)
    hands = {f"h{seat.number}": _coded(seat.cards) for seat in scene.seats}
    known = {f"k{seat.number}": _coded(_known(game, seat.number)) for seat in scene.seats}
    melds = {f"m{meld.number}": _coded(meld.cards) for meld in scene.melds}
    return {**hands, **known, **melds, **_piles(scene), **_standing(scene)}


def _known(game: Game, seat: int) -> list[str]:
    return [format_card(card) for card in known_of(game.state, seat)]


def _piles(scene: Scene) -> State:
    return {
        "p": _coded([scene.pozzo_top] if scene.pozzo_top else []),
        "q": scene.pozzo_size,
        "b": NONE if scene.pozzo_by is None else scene.pozzo_by,
        "s": scene.stock_size,
    }


def _standing(scene: Scene) -> State:
    return {
        "o": "".join("1" if seat.has_opened else "0" for seat in scene.seats),
        "w": [meld.number for meld in scene.melds if meld.is_new],
        "t": next((seat.number for seat in scene.seats if seat.on_move), NONE),
        "c": [seat.score for seat in scene.seats],
        "x": [seat.number for seat in scene.seats if seat.is_out],
    }


def _coded(faces: Iterable[str]) -> str:
    return "".join("*" + LETTERS[face[1:]] if len(face) > 2 else LETTERS[face] for face in faces)


def _jokers_on_the_table(matches: Iterable[dict[str, Any]]) -> set[str]:
    """The faces of all jokers that lie in a meld at some time."""
    cards = {letter: card for card, letter in LETTERS.items()}
    return {f"*{cards[part[0]]}" for coded in _coded_melds(matches) for part in coded.split("*")[1:]}


def _coded_melds(matches: Iterable[dict[str, Any]]) -> Iterator[str]:
    for match in matches:
        for hand in match["hands"]:
            for state in (hand["start"], *(changes for _, changes in hand["moves"])):
                yield from (value for key, value in state.items() if key[0] == "m")
