"""Positions: the JSON objects of notation.md read into a board, written back, and short ones completed."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .cards import JOKER, NAMES, NONE, cards_of, code, codes, masks, names
from .melds import Meld, meld_cards, meld_text, parse_meld
from .options import Options, options
from .turn import Entry, Turn, TurnRules

Position = dict[str, Any]

NOTHING_DONE = {
    "opening_points": 0,
    "natural_points": 0,
    "new_melds": [],
    "touched_table": False,
    "pozzo_card": None,
    "barred_card": None,
    "recovered_jokers": 0,
    "swapped_melds": [],
}

# What the tie-breaks, re-entries and `dead_hand_reshuffles` need to remember; zeros when a position does not say.
SEAT_TALLIES = ("unopened_hands", "hands_won", "reentries_used")
TALLIES = (*SEAT_TALLIES, "hands_played", "reshuffles")


@dataclass
class Board:
    """A position with its cards as numbers; `this_turn` is that of the seat on move."""

    rules: dict[str, Any]
    dealer: int
    turn: int
    phase: str
    turns_played: int
    hands: list[list[int]]
    opened: list[bool]
    table: list[Meld]
    pozzo: list[int]
    stock: list[int]
    this_turn: dict[str, Any]
    scores: list[int]
    mover: int | None = None
    out: list[int] | None = None
    tallies: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> Options:
        """The options of the match."""
        return options(self.rules)

    @property
    def seats(self) -> list[int]:
        """The seats that play this hand."""
        out = seats_out(self.options, self.scores, self.out)
        return [seat for seat in range(self.options.num_players) if seat not in out]

    @property
    def law(self) -> TurnRules:
        """What the moves of a turn depend on."""
        return TurnRules(self.options, len(self.seats), self.turns_played)

    def seats_after(self, seat: int) -> list[int]:
        """The other seats of the hand in order of play."""
        count = self.options.num_players
        order = [(seat + step) % count for step in range(1, count)]
        return [other for other in order if other in self.seats]

    def tally(self, name: str) -> Any:
        """A tally, zero(s) if the position did not give it."""
        zero = [0] * self.options.num_players if name in SEAT_TALLIES else 0
        return self.tallies.get(name, zero)

    def take_turn(self) -> Turn:
        """The turn, as far as it has got, of the seat on move."""
        this = self.this_turn
        table = [
            Entry(meld, number in this["new_melds"], number in this["swapped_melds"])
            for number, meld in enumerate(self.table, start=1)
        ]
        return Turn(
            *masks(self.hands[self.turn]),
            tuple(table),
            self.opened[self.turn],
            this["opening_points"],
            this["natural_points"],
            this["touched_table"],
            NONE if this["pozzo_card"] is None else code(this["pozzo_card"]),
            NONE if this["barred_card"] is None else code(this["barred_card"]),
            this["recovered_jokers"],
        )

    def put_turn(self, turn: Turn) -> None:
        """Write a turn back."""
        self.hands[self.turn] = cards_of(turn.ones, turn.twos, turn.jokers)
        self.opened[self.turn] = turn.opened
        self.table = [entry.meld for entry in turn.table]
        self.this_turn = {
            "opening_points": turn.points,
            "natural_points": turn.natural_points,
            "new_melds": [number for number, entry in enumerate(turn.table, start=1) if entry.new],
            "touched_table": turn.touched,
            "pozzo_card": None if turn.owed == NONE else NAMES[turn.owed],
            "barred_card": None if turn.barred == NONE else NAMES[turn.barred],
            "recovered_jokers": turn.recovered,
            "swapped_melds": [number for number, entry in enumerate(turn.table, start=1) if entry.swapped],
        }

    def new_turn(self) -> None:
        """Nothing done yet."""
        self.this_turn = nothing_done()


def nothing_done() -> dict[str, Any]:
    """`this_turn` of a turn that begins."""
    return {key: list(value) if isinstance(value, list) else value for key, value in NOTHING_DONE.items()}


def seats_out(rules: Options, scores: list[int], out: list[int] | None) -> list[int]:
    """The seats out of the match: as the position says, or who reached the limit of an elimination."""
    if out is not None:
        return list(out)
    if rules.match != "elimination":
        return []
    return [seat for seat, score in enumerate(scores) if score >= rules.limit]


def read(position: Position) -> Board:
    """A complete position as a board."""
    return Board(
        rules=dict(position["rules"]),
        dealer=position["dealer"],
        turn=position["turn"],
        phase=position["phase"],
        turns_played=position["turns_played"],
        hands=[codes(hand) for hand in position["hands"]],
        opened=list(position["opened"]),
        table=[parse_meld(meld) for meld in position["table"]],
        pozzo=codes(position["pozzo"]),
        stock=codes(position["stock"]),
        this_turn={**nothing_done(), **position["this_turn"]},
        scores=list(position["scores"]),
        mover=position.get("mover"),
        out=None if position.get("out") is None else list(position["out"]),
        tallies={
            key: list(position[key]) if key in SEAT_TALLIES else position[key] for key in TALLIES if key in position
        },
    )


def write(board: Board) -> Position:
    """A board as a complete position, hands in the order of the notation."""
    position: Position = {
        "rules": board.rules,
        "dealer": board.dealer,
        "turn": board.turn,
        "phase": board.phase,
        "turns_played": board.turns_played,
        "hands": [names(sorted(hand)) for hand in board.hands],
        "opened": board.opened,
        "table": [meld_text(meld) for meld in board.table],
        "pozzo": names(board.pozzo),
        "stock": names(board.stock),
        "this_turn": board.this_turn,
        "scores": board.scores,
    }
    if board.phase == "buy":
        position["mover"] = board.mover
    if board.out is not None:
        position["out"] = board.out
    return {**position, **board.tallies, **board.result}


# --- short positions ---------------------------------------------------------------------------------------------


def complete(position: Position) -> Position:
    """A short position with everything that it leaves out: the defaults of notation.md, unknown cards dealt.

    Unknown cards and a left-out stock are filled from the cards not seen, shuffled by `seed` (default 0).
    """
    rules = options(position["rules"])
    count = rules.num_players
    full: Position = {
        "dealer": count - 1,
        "turn": 0,
        "phase": "play",
        "opened": [False] * count,
        "table": [],
        "pozzo": "",
        "scores": [0] * count,
        **{key: value for key, value in position.items() if key != "seed"},
    }
    full["this_turn"] = {**nothing_done(), **position.get("this_turn", {})}
    playing = count - len(seats_out(rules, full["scores"], full.get("out")))
    full.setdefault("turns_played", 10 * playing)
    unseen = _unseen(rules, full)
    random.Random(position.get("seed", 0)).shuffle(unseen)
    full["hands"] = [_filled(hand, unseen) for hand in full["hands"]]
    full.setdefault("stock", names(unseen))
    board = read(full)
    if board.phase == "buy" and board.mover is None:
        board.mover = board.seats_after(board.turn)[-1]
    return write(board)


def _unseen(rules: Options, position: Position) -> list[int]:
    """The cards of the pack that occur nowhere in a position."""
    pack = Counter(dict.fromkeys(range(52), 2))
    pack[JOKER] = rules.num_jokers
    seen = codes(position["pozzo"]) + codes(position.get("stock", ""))
    seen += [code(word) for hand in position["hands"] for word in hand.split() if not word.startswith("?")]
    for text in position["table"]:
        seen += [JOKER if joker else card for card, joker in meld_cards(parse_meld(text))]
    pack.subtract(seen)
    wrong = [NAMES[card] for card, left in pack.items() if left < 0]
    if wrong:
        raise ValueError(f"too many of {wrong}")
    return list(pack.elements())


def _filled(hand: str, unseen: list[int]) -> str:
    """A hand with its `?13` replaced by cards taken off the end of `unseen`."""
    known = [code(word) for word in hand.split() if not word.startswith("?")]
    for word in hand.split():
        if word.startswith("?"):
            known += [unseen.pop() for _ in range(int(word[1:]))]
    return names(sorted(known))
