"""No dead ends: can the turn still be ended legally, and so which moves are legal.

Brute force, nothing is cut off: `Finisher.can_finish` tries every move to the table, recursively, and only remembers
the states it has seen. The order of trying makes a yes quick; a no has tried everything.
"""

from __future__ import annotations

from .cards import JOKER, NAMES
from .turn import (
    Entry,
    Lay,
    Move,
    Swap,
    Turn,
    TurnRules,
    apply,
    candidates,
    closes_at_once,
    discards,
    move_text,
    table_moves,
)

LEVELS = (0, 1, 2)  # bans lifted: none; that on attaching cards; also that on the joker of who has not opened

Key = tuple[int | bool | tuple[Entry, ...], ...]


class Finisher:
    """The search for one decision; states seen are remembered as long as it lives."""

    def __init__(self, law: TurnRules) -> None:
        self.law = law
        self.known: dict[Key, bool] = {}

    def legal(self, turn: Turn) -> list[str]:
        """The moves of the play phase: those of the lowest level at which the turn can be ended at all."""
        for level in LEVELS:
            moves = self._legal_at(turn, level)
            if moves:
                return moves
        return []

    def _legal_at(self, turn: Turn, level: int) -> list[str]:
        """The discards of a level, and the moves to the table after which the turn can be ended at that level."""
        moves = [f"discard {NAMES[card]}" for card in discards(self.law, turn, level)]
        return moves + [move_text(move) for move, after in table_moves(self.law, turn) if self._good(after, level)]

    def can_finish(self, turn: Turn, level: int) -> bool:
        """Can this turn be ended from here with the bans of that level?"""
        key = _key(turn, level)
        answer = self.known.get(key)
        if answer is None:
            answer = self.known[key] = bool(discards(self.law, turn, level)) or self._can_go_on(turn, level)
        return answer

    def _can_go_on(self, turn: Turn, level: int) -> bool:
        """Does some move to the table lead to a turn that can be ended? Promising moves come first."""
        for move in sorted(candidates(self.law, turn), key=lambda move: -_promise(turn, move)):
            after = apply(self.law, turn, move)
            if after is not None and self._good(after, level):
                return True
        return False

    def _good(self, after: Turn, level: int) -> bool:
        """Is the turn ended, or can it be ended, after a move to the table?"""
        return self.can_finish(after, level) if after.size else closes_at_once(self.law, after)


def _key(turn: Turn, level: int) -> Key:
    """What the answer depends on: not the numbers of the melds, and points only where they still count."""
    points = turn.points > 0 if turn.opened else turn.points
    debts = (turn.owed, turn.barred, turn.recovered)
    return (turn.ones, turn.twos, turn.jokers, tuple(sorted(turn.table)), turn.opened, points, *debts, level)


def _promise(turn: Turn, move: Move) -> int:
    """Dear moves first (they reach the threshold), before them those that pay a debt."""
    if isinstance(move, Swap):
        return 1000 * (move.replacement.card == turn.owed)
    joker_owed = turn.recovered > 0 or turn.owed == JOKER
    if isinstance(move, Lay):
        three = move.three
        pays = (joker_owed and three.jokers > 0) or (turn.owed >= 0 and bool(three.mask >> turn.owed & 1))
        return 1000 * pays + three.value
    pays = joker_owed if move.joker else move.spot.card == turn.owed
    return 1000 * pays + move.spot.value
