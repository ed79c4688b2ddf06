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
    n            what has to be done, what this turn has done, or how the hand ended: lines

A card is one letter, its place in `LETTERS`; in a meld a joker is ``*`` and the letter of what it stands for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from itertools import groupby, pairwise
from os import PathLike
from pathlib import Path
from string import Template, ascii_lowercase, ascii_uppercase
from typing import Any

from scala40_env.kernels.state import NONE
from scala40_env.render.cards import BACK, Palette, symbols
from scala40_env.render.scene import Scene, scene_of
from scala40_env.render.svg import xml_text
from scala40_env.rules.cards import format_card
from scala40_env.rules.errors import BadRecord
from scala40_env.rules.game import Game
from scala40_env.rules.reading import known_of
from scala40_env.rules.record import Record, ReplayStep

LETTERS = {format_card(card): letter for card, letter in enumerate(ascii_uppercase + ascii_lowercase + "*")}
"""The letter of every card: `A` to `Z`, `a` to `z` in the order of their numbers, and the joker."""

State = dict[str, Any]

PAGE_PALETTE = Palette("s40", ("var(--spades)", "var(--hearts)", "var(--diamonds)", "var(--clubs)"))
"""For pages, where the style sheet decides on two or four colours."""

CARDS_SCRIPT = "cards.js"
"""The script beside this module's templates that puts a card on a page, for all pages that do."""


def replay_html(records: Record | Iterable[Record], path: str | PathLike[str]) -> int:
    """Write the replay of a match, or of several, to `path`; returns how many bytes that were.

    Nothing is written if one of them does not replay, which raises `BadRecord`, as no records do.
    """
    page = replay_page(records).encode()
    return Path(path).write_bytes(page)


def replay_page(records: Record | Iterable[Record], *, with_seed: bool = True) -> str:
    """The text of that file.

    Args:
        records: the matches.
        with_seed: name the seed of each. Of a match that still goes on it would tell the cards to come.
    """
    matches = [_match(record, with_seed) for record in ([records] if isinstance(records, Record) else records)]
    if not matches:
        raise BadRecord("there is no match to replay")
    data = {"cards": list(LETTERS), "matches": matches}
    return Template(template("replay.html")).substitute(
        title=xml_text(_title(matches)),
        style=template("replay.css"),
        script=template(CARDS_SCRIPT) + template("replay.js"),
        symbols=symbols([BACK, *LETTERS, *_jokers_on_the_table(matches)], PAGE_PALETTE),
        data=_json_in_html(data),
    )


def template(name: str) -> str:
    """The text of one of the files that pages are made of."""
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _title(matches: Sequence[dict[str, Any]]) -> str:
    players = ", ".join(matches[0]["players"])
    more = f" and {len(matches) - 1} more" if len(matches) > 1 else ""
    return f"Scala Quaranta: {players}{more}"


def _json_in_html(data: Any) -> str:
    """JSON that no name in it can break out of: a script ends at ``</script`` wherever that stands."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")


# ---------------------------------------------------------------------------------------------------------------------
# Matches as states and their changes


def _match(record: Record, with_seed: bool) -> dict[str, Any]:
    """A match as the page takes it."""
    hands = [_hand(list(steps)) for _, steps in groupby(record.replay(), key=lambda step: step.hand)]
    # A seed can be larger than the numbers of a browser.
    about = {"rules": f"{record.rules.preset}, {record.rules.num_players} players"}
    about |= {"seed": str(record.seed)} if with_seed else {}
    return {**about, "players": list(record.players), "hands": hands}


def _hand(steps: Sequence[ReplayStep]) -> dict[str, Any]:
    """A hand: its dealer, the state after the deal, every move with what it changed, and what the hand charged."""
    states = [_state(step.game) for step in steps]
    moves = [[step.move, dict(_changes(*pair))] for step, pair in zip(steps[1:], pairwise(states), strict=True)]
    outcome = steps[-1].game.outcome
    ended: dict[str, Any] = {"points": None, "winner": None}
    if outcome is not None:
        ended = {"points": outcome.hand_points, "winner": outcome.winner}
    return {"dealer": steps[0].game.dealer, "start": states[0], "moves": moves, **ended}


def _changes(before: State, after: State) -> Iterator[tuple[str, Any]]:
    """The values that a move has changed; within a hand no key goes away."""
    return ((key, value) for key, value in after.items() if key not in before or before[key] != value)


def _state(game: Game) -> State:
    """The state of a table, as the module's text describes it."""
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
        "n": "\n".join(scene.standing),
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
