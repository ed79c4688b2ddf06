"""Reading positions that people wrote: every field checked, defaults filled in, unknown cards dealt.

The door is `read_position`. Each ``_read_...`` takes the raw value of one field and gives a checked plain one, or
raises `BadPosition` with the name of the field, what was given, and what is allowed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np

from scala40_env.kernels.state import (
    BUY,
    CLOSED_NONE,
    CLOSINGS,
    DRAW,
    HAND_OVER,
    MATCH_OVER,
    MAX_SEATS,
    NONE,
    PACK,
    PHASES,
    PLAY,
    RUN,
    SET,
)
from scala40_env.kernels.view import can_buy, shuffle_unseen
from scala40_env.rules.cards import COPIES, JOKER, NUM_NATURALS, format_card, parse_card
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import BadNotation, BadPosition, shown, suggestion
from scala40_env.rules.melds import Meld, parse_meld
from scala40_env.rules.moves import MAX_MELDS, expand_meld
from scala40_env.rules.reading import Games, legal_ids, new_games, word_in, words_in

DEFAULT_LAPS = 10
"""Laps that a position is taken to be in where it does not say: long past the first."""
MAX_POINTS = 10**9
"""Bound of scores and charges, so that adding to them never leaves 32 bits."""
MAX_COUNT = 10**9
MAX_TALLY = 32_000
"""Bounds of counters: of 32 bits, and of 16 bits, with room to count on."""
MAX_SEED = 2**64 - 1

TURN_DEFAULTS: dict[str, Any] = {
    "opening_points": 0,
    "natural_points": 0,
    "new_melds": [],
    "touched_table": False,
    "pozzo_card": None,
    "barred_card": None,
    "recovered_jokers": 0,
    "swapped_melds": [],
}
REQUIRED = ("turn", "phase", "hands")
TALLIES = ("hands_won", "unopened_hands", "reentries_used")
RESULT_KEYS = ("hand_points", "winner", "closing", "champions")
KEYS = (
    *("rules", "dealer", *REQUIRED, "turns_played", "opened", "table", "pozzo", "stock", "this_turn", "scores"),
    *(
        "mover",
        "out",
        "known",
        "discarded_by",
        "threw",
        "took",
        *TALLIES,
        "hands_played",
        "reshuffles",
        "seed",
        *RESULT_KEYS,
    ),
)


class Places(NamedTuple):
    """Who sits where: number of seats, the seats out, and the seat whose turn it is."""

    num_players: int
    out: tuple[int, ...]
    mover: int


@dataclass
class Draft:
    """A position read so far; `games` gets everything at the end."""

    rules: Rules
    phase: int
    turn: int = 0
    mover: int = 0
    dealer: int = 0
    turns_played: int = 0
    reshuffles: int = 0
    seed: int = 0
    scores: list[int] = field(default_factory=list)
    out: list[int] = field(default_factory=list)
    opened: list[bool] = field(default_factory=list)
    hands: list[list[int]] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    known: list[list[int]] = field(default_factory=list)
    threw: list[set[int]] = field(default_factory=list)
    took: list[set[int]] = field(default_factory=list)
    table: list[Meld] = field(default_factory=list)
    pozzo: list[int] = field(default_factory=list)
    stock: list[int] = field(default_factory=list)
    discarded_by: list[int | None] = field(default_factory=list)
    this_turn: dict[str, Any] = field(default_factory=dict)
    tallies: dict[str, list[int]] = field(default_factory=dict)
    hand_no: int = 0
    result: dict[str, Any] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """Is the hand over?"""
        return self.phase in (HAND_OVER, MATCH_OVER)

    @property
    def seats_in(self) -> list[int]:
        """The seats in the match."""
        return [seat for seat in range(self.rules.num_players) if seat not in self.out]


# ---------------------------------------------------------------------------------------------------------------------
# Defaults


def default_out(rules: Rules, scores: Sequence[int]) -> list[int]:
    """The seats out of the match if nothing else is said: in an elimination who has reached the limit."""
    if rules.match != "elimination":
        return []
    return [seat for seat, score in enumerate(scores) if score >= rules.limit]


def players_before(seat: int, num_players: int, out: Sequence[int]) -> list[int]:
    """The seats in the match in reverse order of play, from the one before `seat` (which comes last)."""
    order = [(seat - step) % num_players for step in range(1, num_players + 1)]
    return [other for other in order if other not in out] or [seat]


def default_discarders(places: Places, pozzo_n: int, turns_played: int, reshuffles: int) -> list[int | None]:
    """Who discarded each card of the pozzo if every turn drew from the stock; None for the upcard."""
    order = players_before(places.mover, places.num_players, places.out)
    seats: list[int | None] = [order[at % len(order)] for at in reversed(range(pozzo_n))]
    if seats and pozzo_n == turns_played + 1 and not reshuffles:
        seats[0] = None
    return seats


def default_threw(seats: Iterable[int], pozzo: Sequence[int], discarded_by: Sequence[int | None]) -> list[set[int]]:
    """What each seat has discarded if nothing else is said: its cards in the pozzo."""
    return [{card for card, by in zip(pozzo, discarded_by, strict=True) if by == seat} for seat in seats]


def default_took(known: Iterable[Iterable[int]]) -> list[set[int]]:
    """What each seat has taken from the pozzo if nothing else is said: its known cards.

    No jokers: a known joker was most likely taken from the table.
    """
    return [set(cards) - {JOKER} for cards in known]


def _fill_unknown(draft: Draft, given: Mapping[str, Any]) -> None:
    """Deal the cards not seen anywhere, shuffled by the seed, into the unknown places, and the rest into the stock."""
    unseen = _shuffled(_unseen(draft), draft.seed)
    for seat, count in enumerate(draft.unknown):
        if count > len(unseen):
            raise BadPosition(f"hands[{seat}]: ?{count} unknown cards, but only {len(unseen)} are not seen elsewhere")
        draft.hands[seat] += [unseen.pop() for _ in range(count)]
    if "stock" not in given:
        draft.stock = unseen


def _unseen(draft: Draft) -> list[int]:
    """The cards of the pack that the position does not show, in ascending order."""
    left = _pack(draft.rules)
    for _, cards in _cards_by_place(draft):
        left.subtract(cards)
    return sorted(left.elements())


def _pack(rules: Rules) -> Counter[int]:
    return Counter({**dict.fromkeys(range(NUM_NATURALS), COPIES), JOKER: rules.num_jokers})


def _shuffled(cards: list[int], seed: int) -> list[int]:
    shuffled = np.array(cards, np.int8)
    shuffle_unseen(shuffled, cast(int, np.uint64(seed)))
    order: list[int] = shuffled.tolist()
    return order


# ---------------------------------------------------------------------------------------------------------------------
# Values of one kind


def _integer(value: object, name: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadPosition(f"{name} = {shown(value)}: allowed is an integer from {low} to {high}")
    return int(value)


def _boolean(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise BadPosition(f"{name} = {shown(value)}: allowed is true or false")
    return value


def _list(value: object, name: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise BadPosition(f"{name} = {shown(value)}: it is a list")
    return list(value)


def _seat_list(value: object, name: str, rules: Rules) -> list[Any]:
    """A list with an entry for every seat."""
    entries = _list(value, name)
    if len(entries) != rules.num_players:
        raise BadPosition(
            f"{name} has {len(entries)} entries; it has one for each seat, and num_players is {rules.num_players}"
        )
    return entries


def _integers(value: object, name: str, rules: Rules, low: int, high: int) -> list[int]:
    entries = enumerate(_seat_list(value, name, rules))
    return [_integer(entry, f"{name}[{seat}]", low, high) for seat, entry in entries]


def _seat(value: object, name: str, rules: Rules) -> int:
    return _integer(value, name, 0, rules.num_players - 1)


def _seats(value: object, name: str, rules: Rules) -> list[int]:
    """Some different seats, ascending."""
    seats = [_seat(entry, f"{name}[{at}]", rules) for at, entry in enumerate(_list(value, name))]
    if len(set(seats)) < len(seats):
        raise BadPosition(f"{name} = {shown(value)}: a seat is there twice")
    return sorted(seats)


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise BadPosition(f"{name} = {shown(value)}: it is a string of cards separated by spaces")
    return value


def _card(word: str, name: str) -> int:
    try:
        return parse_card(word)
    except BadNotation as error:
        raise BadPosition(f"{name}: {error}") from None


def _cards(value: object, name: str) -> list[int]:
    return [_card(word, name) for word in _text(value, name).split()]


def _choice(value: object, name: str, choices: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in choices:
        return value
    close = suggestion(value, choices) if isinstance(value, str) else ""
    raise BadPosition(f"{name} = {shown(value)}: allowed is {', '.join(choices)}{close}")


def _known_keys(given: object, name: str, keys: tuple[str, ...]) -> dict[str, Any]:
    """An object with no key that is not known."""
    if not isinstance(given, Mapping):
        raise BadPosition(f"{name} is an object of keys and values, not {shown(given)}")
    for key in given:
        if key not in keys:
            close = suggestion(key, keys) if isinstance(key, str) else ""
            raise BadPosition(f"{name} has no key {shown(key)}{close}; keys are {', '.join(keys)}")
    return dict(given)


# ---------------------------------------------------------------------------------------------------------------------
# Fields


def read_position(position: object) -> Games:
    """The record, shape (1,) of dtype `GAME`, of a position. Raises `BadPosition` or `BadRules`."""
    given = _known_keys(position, "a position", KEYS)
    for key in REQUIRED:
        if key not in given:
            raise BadPosition(f"{key} is missing; a position has at least {', '.join(REQUIRED)}")
    rules = Rules.from_dict(given.get("rules", {}))
    draft = Draft(rules, PHASES.index(_choice(given["phase"], "phase", PHASES)))
    for read in _READERS:
        read(draft, given)
    for check in _CHECKS:
        check(draft)
    return _finished(draft)


def _read_match(draft: Draft, given: Mapping[str, Any]) -> None:
    """Scores, who is out, and the tallies of the match."""
    rules = draft.rules
    zeros = [0] * rules.num_players
    draft.scores = _integers(given.get("scores", zeros), "scores", rules, -MAX_POINTS, MAX_POINTS)
    draft.out = _seats(given.get("out", default_out(rules, draft.scores)), "out", rules)
    for name in TALLIES:
        draft.tallies[name] = _integers(given.get(name, zeros), name, rules, 0, MAX_TALLY)
    played = _integer(given.get("hands_played", int(draft.over)), "hands_played", int(draft.over), MAX_COUNT)
    draft.hand_no = played - draft.over
    draft.seed = _integer(given.get("seed", 0), "seed", 0, MAX_SEED)


def _read_seats(draft: Draft, given: Mapping[str, Any]) -> None:
    """Whose turn it is, and who dealt."""
    rules = draft.rules
    draft.turn = _seat(given["turn"], "turn", rules)
    draft.dealer = _seat(given.get("dealer", max(draft.seats_in, default=0)), "dealer", rules)
    before = players_before(draft.turn, rules.num_players, draft.out)
    draft.mover = _seat(given.get("mover", before[0] if draft.phase == BUY else draft.turn), "mover", rules)
    laps = DEFAULT_LAPS * len(draft.seats_in)
    draft.turns_played = _integer(given.get("turns_played", laps), "turns_played", 0, MAX_COUNT)
    draft.reshuffles = _integer(given.get("reshuffles", 0), "reshuffles", 0, MAX_TALLY)
    flags = _seat_list(given.get("opened", [False] * rules.num_players), "opened", rules)
    draft.opened = [_boolean(flag, f"opened[{seat}]") for seat, flag in enumerate(flags)]


def _read_cards(draft: Draft, given: Mapping[str, Any]) -> None:
    """Hands, table, pozzo and stock; the unknown cards are filled in."""
    for seat, hand in enumerate(_seat_list(given["hands"], "hands", draft.rules)):
        cards, unknown = _read_hand(hand, f"hands[{seat}]")
        draft.hands.append(cards)
        draft.unknown.append(unknown)
    draft.table = _read_table(given.get("table", []), draft.rules)
    draft.pozzo = _cards(given.get("pozzo", ""), "pozzo")
    draft.stock = _cards(given.get("stock", ""), "stock")
    _check_copies(draft)
    _fill_unknown(draft, given)


def _read_hand(value: object, name: str) -> tuple[list[int], int]:
    """The cards of a hand, and how many more there are that nobody knows."""
    words = _text(value, name).split()
    unknown = sum(_count_unknown(word, name) for word in words if word.startswith("?"))
    return [_card(word, name) for word in words if not word.startswith("?")], unknown


def _count_unknown(word: str, name: str) -> int:
    digits = word[1:]
    if not (digits.isascii() and digits.isdigit() and len(digits) <= len(str(PACK))):
        raise BadPosition(f"{name}: {shown(word)} is no number of unknown cards; write it as ?13")
    return int(digits)


def _read_table(value: object, rules: Rules) -> list[Meld]:
    melds = _list(value, "table")
    if len(melds) > MAX_MELDS:
        raise BadPosition(f"table has {len(melds)} melds; {PACK} cards make at most {MAX_MELDS}")
    return [_read_meld(text, f"table[{at}]", rules) for at, text in enumerate(melds)]


def _read_meld(value: object, name: str, rules: Rules) -> Meld:
    text = _text(value, name)
    try:
        meld = parse_meld(text, rules)
        expand_meld(f"meld {text}", rules, 1)  # it was laid as three cards once: enough of them have to be natural
    except BadNotation as error:
        raise BadPosition(f"{name}: {error}") from None
    return meld


def _cards_by_place(draft: Draft) -> Iterator[tuple[str, list[int]]]:
    """The cards that a position shows, with the field that shows them."""
    for seat, hand in enumerate(draft.hands):
        yield f"hands[{seat}]", hand
    for at, meld in enumerate(draft.table):
        yield f"table[{at}]", [JOKER if card.is_joker else card.card for card in meld.cards()]
    yield "pozzo", draft.pozzo
    yield "stock", draft.stock


def _check_copies(draft: Draft) -> None:
    """No card occurs more often than the pack has it."""
    pack, seen = _pack(draft.rules), Counter[int]()
    for place, cards in _cards_by_place(draft):
        for card in cards:
            seen[card] += 1
            if seen[card] > pack[card]:
                limit = f"{pack[card]} (num_jokers)" if card == JOKER else str(pack[card])
                raise BadPosition(f"{place}: {format_card(card)} occurs too often; the pack has {limit}")


def _read_known(draft: Draft, given: Mapping[str, Any]) -> None:
    """What everybody saw go into the hands, and who discarded what."""
    rules = draft.rules
    texts = _seat_list(given.get("known", [""] * rules.num_players), "known", rules)
    for seat, text in enumerate(texts):
        cards = _cards(text, f"known[{seat}]")
        for card in Counter(cards) - Counter(draft.hands[seat]):
            raise BadPosition(f"known[{seat}]: {format_card(card)} is not so often in that hand")
        draft.known.append(cards)
    draft.discarded_by = _read_discarders(draft, given)
    draft.threw = default_threw(range(rules.num_players), draft.pozzo, draft.discarded_by)
    draft.took = default_took(draft.known)
    for name, sets in (("threw", draft.threw), ("took", draft.took)):
        if name in given:
            _add_history(sets, given[name], name, rules)


def _add_history(sets: list[set[int]], value: object, name: str, rules: Rules) -> None:
    """Add to the sets of the seats the cards that a position says they threw, or took."""
    for seat, text in enumerate(_seat_list(value, name, rules)):
        cards = _cards(text, f"{name}[{seat}]")
        if JOKER in cards and not rules.num_jokers:
            raise BadPosition(f"{name}[{seat}]: {format_card(JOKER)} is not in the pack (num_jokers)")
        sets[seat].update(cards)


def _read_discarders(draft: Draft, given: Mapping[str, Any]) -> list[int | None]:
    places = Places(draft.rules.num_players, tuple(draft.out), draft.mover)
    default = default_discarders(places, len(draft.pozzo), draft.turns_played, draft.reshuffles)
    seats = _list(given.get("discarded_by", default), "discarded_by")
    if len(seats) != len(draft.pozzo):
        raise BadPosition(f"discarded_by has {len(seats)} entries, but the pozzo has {len(draft.pozzo)} cards")
    return [None if seat is None else _seat(seat, f"discarded_by[{at}]", draft.rules) for at, seat in enumerate(seats)]


def _read_this_turn(draft: Draft, given: Mapping[str, Any]) -> None:
    keys = _known_keys(given.get("this_turn", {}), "this_turn", tuple(TURN_DEFAULTS))
    melds = {name: _read_melds(keys.get(name, []), f"this_turn.{name}", len(draft.table)) for name in _MELD_LISTS}
    done = {**TURN_DEFAULTS, **_points_laid(draft, melds["new_melds"]), **keys}
    draft.this_turn = {
        **{name: _integer(done[name], f"this_turn.{name}", 0, MAX_TALLY) for name in _POINTS},
        **melds,
        **{name: _read_held(draft, done[name], f"this_turn.{name}") for name in _CARDS},
        "touched_table": _boolean(done["touched_table"], "this_turn.touched_table"),
    }
    if draft.this_turn["recovered_jokers"] == 0:
        draft.this_turn["swapped_melds"] = []  # where jokers came from that are not owed any more bars nothing
    if draft.opened[draft.turn] and draft.this_turn["opening_points"] < draft.rules.opening_points:
        draft.this_turn |= {"opening_points": 0, "natural_points": 0}  # it had opened before this turn


def _points_laid(draft: Draft, new_melds: list[int]) -> dict[str, int]:
    """The points that the new melds make, which are the default for a player who has not opened yet."""
    if draft.opened[draft.turn]:
        return {}
    melds = [draft.table[meld - 1] for meld in new_melds]
    return {
        "opening_points": sum(meld.points(draft.rules) for meld in melds),
        "natural_points": sum(meld.points(draft.rules) for meld in melds if not meld.jokers),
    }


_POINTS = ("opening_points", "natural_points", "recovered_jokers")
_MELD_LISTS = ("new_melds", "swapped_melds")
_CARDS = ("pozzo_card", "barred_card")


def _read_melds(value: object, name: str, count: int) -> list[int]:
    """Numbers of melds on the table."""
    numbers = _list(value, name)
    for at, entry in enumerate(numbers):
        if isinstance(entry, bool) or not isinstance(entry, int) or not 1 <= entry <= count:
            there = f"the table has melds 1 to {count}" if count else "the table has no meld"
            raise BadPosition(f"{name}[{at}] = {shown(entry)}: there is no such meld; {there}")
    if len(set(numbers)) < len(numbers):
        raise BadPosition(f"{name} = {shown(value)}: a meld is there twice")
    return sorted(numbers)


def _read_held(draft: Draft, value: object, name: str) -> int:
    """A card in the hand of the seat on move, or NONE."""
    if value is None:
        return NONE
    if not isinstance(value, str):
        raise BadPosition(f"{name} = {shown(value)}: it is a card or null")
    card = _card(value, name)
    if card not in draft.hands[draft.turn]:
        raise BadPosition(f"{name}: {format_card(card)} is not in hands[{draft.turn}], the hand on move")
    return card


def _read_result(draft: Draft, given: Mapping[str, Any]) -> None:
    """The keys of a hand that is over."""
    rules = draft.rules
    _refuse_early_result(draft, given)
    points = given.get("hand_points", [0] * rules.num_players)
    winner = given.get("winner")
    champions = given.get("champions", _default_champions(draft) if draft.phase == MATCH_OVER else [])
    draft.result = {
        "hand_points": _integers(points, "hand_points", rules, -MAX_POINTS, MAX_POINTS),
        "winner": NONE if winner is None else _seat(winner, "winner", rules),
        "closing": CLOSINGS.index(_choice(given.get("closing", CLOSINGS[CLOSED_NONE]), "closing", CLOSINGS)),
        "champions": _seats(champions, "champions", rules),
    }


def _refuse_early_result(draft: Draft, given: Mapping[str, Any]) -> None:
    for key in RESULT_KEYS:
        phases = ("match_over",) if key == "champions" else ("hand_over", "match_over")
        if key in given and PHASES[draft.phase] not in phases:
            raise BadPosition(f"{key} belongs to the phase {' or '.join(phases)}, not to {PHASES[draft.phase]}")


def _default_champions(draft: Draft) -> list[int]:
    """Who has won the match if it is not said: the lowest total among those in."""
    lowest = min((draft.scores[seat] for seat in draft.seats_in), default=0)
    return [seat for seat in draft.seats_in if draft.scores[seat] == lowest]


_READERS = (_read_match, _read_seats, _read_cards, _read_known, _read_this_turn, _read_result)


# ---------------------------------------------------------------------------------------------------------------------
# Do the fields go together?


def _check_match(draft: Draft) -> None:
    """A match that goes on has two sides or more, and teams go out together."""
    rules, units = draft.rules, draft.rules.num_players // draft.rules.team_size
    for seat in range(rules.num_players):
        if (seat in draft.out) != (seat % units in draft.out):
            raise BadPosition(f"out = {draft.out}: seats {seat} and {seat % units} are a team, which goes out together")
        if draft.scores[seat] != draft.scores[seat % units]:
            raise BadPosition(f"scores[{seat}] = {draft.scores[seat]}: every seat shows the total of its team")
    if draft.phase != MATCH_OVER and len({seat % units for seat in draft.seats_in}) < 2:
        raise BadPosition(f"scores or out: seats {draft.out} are out, so the match is over, not in {_phase(draft)}")


def _phase(draft: Draft) -> str:
    return f"phase {PHASES[draft.phase]}"


def _check_seats(draft: Draft) -> None:
    """While a hand runs, who is named in it is in the match."""
    if draft.over:
        return
    for name in ("turn", "mover", "dealer"):
        seat = getattr(draft, name)
        if seat in draft.out:
            raise BadPosition(f"{name} = {seat}: that seat is out of the match")
    if draft.phase != BUY and draft.mover != draft.turn:
        raise BadPosition(f"mover = {draft.mover}: outside the phase buy it is the seat on move, turn = {draft.turn}")
    for seat in draft.out:
        if draft.opened[seat]:
            raise BadPosition(f"opened[{seat}]: that seat is out of the match")


def _check_hands(draft: Draft) -> None:
    """Who plays has cards, who is out has none. How many is free: positions are for teaching and for tests too."""
    for seat, hand in enumerate(draft.hands):
        name = f"hands[{seat}]"
        if not draft.over and seat in draft.out and hand:
            raise BadPosition(f"{name}: seat {seat} is out of the match and has no cards; write an empty string")
        if not draft.over and seat not in draft.out and not hand:
            raise BadPosition(f"{name} is empty; who has no cards left has closed, and the hand is over")
    if draft.over and draft.result["winner"] != NONE and draft.hands[draft.result["winner"]]:
        raise BadPosition(f"hands[{draft.result['winner']}]: the winner has closed and has no cards left")


def _check_turn(draft: Draft) -> None:
    """What was done in this turn can have been done."""
    done, begun = draft.this_turn, draft.phase != DRAW
    if not begun and done != _NOTHING_DONE:
        raise BadPosition("this_turn: in the phase draw nothing has been done yet; leave it out")
    if draft.phase == BUY and {**done, "pozzo_card": NONE} != _NOTHING_DONE:
        raise BadPosition("this_turn: in the phase buy only pozzo_card is of the seat asked; leave out the rest")
    if done["pozzo_card"] != NONE and done["barred_card"] != NONE:
        raise BadPosition("this_turn: pozzo_card and barred_card exclude each other; a turn draws one card")
    _check_touched(draft)
    _check_recovered(draft)
    _check_points(draft)


_NOTHING_DONE = {**TURN_DEFAULTS, "pozzo_card": NONE, "barred_card": NONE}


def _check_touched(draft: Draft) -> None:
    """Only who has opened touches the table, and only older melds count as it."""
    done = draft.this_turn
    if not done["touched_table"]:
        return
    if not draft.opened[draft.turn]:
        raise BadPosition(f"this_turn.touched_table: seat {draft.turn} has not opened, so it touches no older meld")
    if len(done["new_melds"]) == len(draft.table):
        raise BadPosition("this_turn.touched_table: there is no meld on the table that is older than this turn")


def _check_recovered(draft: Draft) -> None:
    """Jokers taken from the table are in the hand of who has opened."""
    jokers = draft.this_turn["recovered_jokers"]
    if not jokers:
        return
    held = draft.hands[draft.turn].count(JOKER)
    from_pozzo = draft.this_turn["pozzo_card"] == JOKER
    if jokers + from_pozzo > held:
        also = ", and one more is owed as pozzo_card" if from_pozzo else ""
        raise BadPosition(f"this_turn.recovered_jokers = {jokers}: hands[{draft.turn}] holds {held} jokers *{also}")
    if not draft.opened[draft.turn]:
        raise BadPosition(f"this_turn.recovered_jokers: seat {draft.turn} has not opened, so it takes no joker")
    if draft.rules.recovered_joker == "keep":
        raise BadPosition("this_turn.recovered_jokers: by recovered_joker = 'keep' none is ever owed")


def _check_points(draft: Draft) -> None:
    """Who has laid the threshold in this turn has opened; points without a joker are part of all points."""
    laid, natural = draft.this_turn["opening_points"], draft.this_turn["natural_points"]
    if natural > laid:
        raise BadPosition(f"this_turn.natural_points = {natural}: they are part of opening_points = {laid}")
    if not draft.opened[draft.turn] and laid >= max(draft.rules.opening_points, 1):
        raise BadPosition(
            f"this_turn.opening_points = {laid}: they reach the {draft.rules.opening_points} of an opening, "
            f"but opened[{draft.turn}] is false"
        )


def _check_result(draft: Draft) -> None:
    """Who closed, and how the hand ended, agree."""
    closing, winner = CLOSINGS[draft.result["closing"]], draft.result["winner"]
    if (closing == CLOSINGS[CLOSED_NONE]) != (winner == NONE):
        raise BadPosition(f"closing = {closing!r} with winner = {None if winner == NONE else winner}: who closed?")


_CHECKS = (_check_match, _check_seats, _check_hands, _check_turn, _check_result)


# ---------------------------------------------------------------------------------------------------------------------
# The record


def _finished(draft: Draft) -> Games:
    """The record; it is asked whether the game can go on from here."""
    games = new_games(draft.rules, draft.seed)
    for write in (_write_match, _write_hands, _write_table, _write_piles, _write_turn):
        write(games, draft)
    if draft.phase == BUY and draft.this_turn["pozzo_card"] == NONE and not can_buy(games, 0, draft.turn):
        raise BadPosition(f"turn = {draft.turn}: in the phase buy that seat can't buy the top of the pozzo")
    if not draft.over and not legal_ids(games):
        raise BadPosition(f"{_phase(draft)}: {_DEAD_ENDS[draft.phase]}")
    return games


_DEAD_ENDS = {
    DRAW: "the seat on move has nothing to draw: no stock, and no pozzo that makes one or can be used",
    PLAY: "the turn of the hand on move can't be ended, by no move at all",
    BUY: "the card bought can't be used with one meld or attach",
}


def _write_match(games: Games, draft: Draft) -> None:
    n = draft.rules.num_players
    for name, values in {"scores": draft.scores, "hand_points": draft.result["hand_points"], **draft.tallies}.items():
        games[name][0, :n] = values
    games["out"][0, :] = [seat >= n or seat in draft.out for seat in range(MAX_SEATS)]
    games["champion"][0, draft.result["champions"]] = 1
    for name in ("winner", "closing"):
        games[name] = draft.result[name]
    games["hand_no"] = draft.hand_no
    games["seats_in"] = len(draft.seats_in)


def _write_hands(games: Games, draft: Draft) -> None:
    for seat, (hand, known) in enumerate(zip(draft.hands, draft.known, strict=True)):
        for prefix, cards in (("", hand), ("known_", known)):
            for name, word in zip(("one", "two", "jokers"), words_in(cards), strict=True):
                games[prefix + name][0, seat] = word
        games["hand_n"][0, seat] = len(hand)
        games["opened"][0, seat] = draft.opened[seat]
        games["threw"][0, seat], games["took"][0, seat] = word_in(draft.threw[seat]), word_in(draft.took[seat])


def _write_table(games: Games, draft: Draft) -> None:
    games["meld_n"] = len(draft.table)
    for slot, meld in enumerate(draft.table):
        games["meld_kind"][0, slot] = RUN if meld.is_run else SET
        games["meld_key"][0, slot] = meld.key
        games["meld_cells"][0, slot] = meld.cells
        games["meld_jokers"][0, slot] = meld.jokers


def _write_piles(games: Games, draft: Draft) -> None:
    stock_n, pozzo_n = len(draft.stock), len(draft.pozzo)
    games["stock_n"], games["pozzo_n"] = stock_n, pozzo_n
    games["pile"][0, :stock_n] = draft.stock
    games["pile"][0, PACK - pozzo_n :] = draft.pozzo[::-1]
    seats = [NONE if seat is None else seat for seat in draft.discarded_by]
    games["discarded_by"][0, PACK - pozzo_n :] = seats[::-1]


def _write_turn(games: Games, draft: Draft) -> None:
    for name in ("phase", "turn", "mover", "dealer", "turns_played"):
        games[name] = getattr(draft, name)
    games["shuffles"] = draft.reshuffles
    done = draft.this_turn
    games["laid_points"], games["laid_natural_points"] = done["opening_points"], done["natural_points"]
    games["touched_table"], games["recovered_jokers"] = done["touched_table"], done["recovered_jokers"]
    games["owed_card"], games["barred_card"] = done["pozzo_card"], done["barred_card"]
    for name in _MELD_LISTS:
        games[name] = sum(1 << meld - 1 for meld in done[name])
