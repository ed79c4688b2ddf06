"""The turn of one player: its state, the moves to the table, and the discard.

A move here is *basic-rule-conform*: the cards are there, the melds are right, debts are paid the way the rules say.
Whether the turn can still be ended afterwards is asked in `finish.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .cards import JOKER, NAMES, NONE, bits, without
from .melds import Meld, MeldBook, Replacement, Spot, Three, meld_book, meld_text
from .options import Options


class Entry(NamedTuple):
    """A meld on the table: was it laid in this turn, and does a joker still to be used come from it?"""

    meld: Meld
    new: bool = False
    swapped: bool = False


class Turn(NamedTuple):
    """All that the rest of a turn depends on."""

    ones: int
    twos: int
    jokers: int
    table: tuple[Entry, ...]
    opened: bool
    points: int = 0  # laid so far towards the opening; stays 0 for who had opened before
    natural_points: int = 0
    touched: bool = False  # attached to, or swapped on, a meld not laid in this turn
    owed: int = NONE  # the card taken from the pozzo that has to go to the table
    barred: int = NONE  # the card taken that may not be discarded
    recovered: int = 0  # jokers taken from the table that have to be used

    @property
    def size(self) -> int:
        """How many cards the player holds."""
        return self.ones.bit_count() + self.twos.bit_count() + self.jokers

    @property
    def began_unopened(self) -> bool:
        """Had the player not opened when this turn began?"""
        return not self.opened or self.points > 0

    def holds(self, card: int) -> int:
        """How many copies of a card the player holds."""
        if card == JOKER:
            return self.jokers
        return (self.ones >> card & 1) + (self.twos >> card & 1)


class Lay(NamedTuple):
    """Lay three cards as a new meld."""

    three: Three


class Attach(NamedTuple):
    """Add a card, or a joker standing for it, to a meld (`at` counts from 0)."""

    at: int
    spot: Spot
    joker: bool


class Swap(NamedTuple):
    """Put a natural card in the place of the joker that stands for it, and take the joker."""

    at: int
    replacement: Replacement


Move = Lay | Attach | Swap


def move_text(move: Move) -> str:
    """A move to the table in notation."""
    if isinstance(move, Lay):
        return f"meld {meld_text(move.three.meld)}"
    if isinstance(move, Attach):
        card = "*" * move.joker + NAMES[move.spot.card]
        return f"attach {card} {move.at + 1} {move.spot.end}".rstrip()
    return f"swap {NAMES[move.replacement.card]} {move.at + 1} {move.replacement.which}".rstrip()


@dataclass(frozen=True)
class TurnRules:
    """The options, and what of the hand played does not change during a turn."""

    rules: Options
    seats: int  # seats that play this hand
    turns_played: int

    @property
    def book(self) -> MeldBook:
        """Melds under these options."""
        return meld_book(self.rules)

    @property
    def closing_allowed(self) -> bool:
        """Nobody closes before every player of the hand has had a turn."""
        return self.rules.first_lap_closing or self.turns_played >= self.seats

    def ban_applies(self, opened: bool) -> bool:
        """Is this player forbidden to discard cards that attach? (`federal`: by the number of players)"""
        kind = self.rules.attaching_discard
        if kind == "federal":
            kind = "forbidden" if self.seats >= 3 else "unopened_forbidden"
        return kind == "forbidden" or (kind == "unopened_forbidden" and not opened)


# --- moves to the table ------------------------------------------------------------------------------------------


def table_moves(law: TurnRules, turn: Turn) -> Iterator[tuple[Move, Turn]]:
    """Every move to the table that the basic rules allow, with the turn after it."""
    for move in candidates(law, turn):
        after = apply(law, turn, move)
        if after is not None:
            yield move, after


def candidates(law: TurnRules, turn: Turn) -> list[Move]:
    """The moves for which the cards are there; `apply` decides about those that move jokers or the pozzo card."""
    return [*_lays(law, turn), *_attaches(law, turn), *_swaps(law, turn)]


def jokers_usable(law: TurnRules, turn: Turn) -> int:
    """The jokers that may go down now: none before the threshold in the opening without jokers."""
    if law.rules.opening_jokers == "after_threshold" and not turn.opened:
        return 0
    return turn.jokers


def _lays(law: TurnRules, turn: Turn) -> list[Move]:
    """New melds from the own hand, allowed before the opening as after it."""
    ones = turn.ones
    most = min(jokers_usable(law, turn), 2)
    return [Lay(three) for threes in law.book.threes[: most + 1] for three in threes if three.mask & ones == three.mask]


def _attaches(law: TurnRules, turn: Turn) -> list[Move]:
    """Attach to any meld after the opening, before it only to the melds laid in this turn."""
    moves: list[Move] = []
    jokers = jokers_usable(law, turn)
    for index, entry in enumerate(turn.table):
        if not (turn.opened or entry.new):
            continue
        for spot in law.book.spots(entry.meld):
            if spot.natural is not None and turn.ones >> spot.card & 1:
                moves.append(Attach(index, spot, False))
            if spot.joker is not None and jokers:
                moves.append(Attach(index, spot, True))
    return moves


def _swaps(law: TurnRules, turn: Turn) -> list[Move]:
    """Who has opened may take a joker from any meld for the card that it stands for."""
    if not turn.opened:
        return []
    return [
        Swap(index, replacement)
        for index, entry in enumerate(turn.table)
        if entry.meld.jokers
        for replacement in law.book.replacements(entry.meld)
        if turn.ones >> replacement.card & 1
    ]


def apply(law: TurnRules, turn: Turn, move: Move) -> Turn | None:
    """The turn after a move to the table, or None where a debt (a joker, the pozzo card) forbids it."""
    if isinstance(move, Lay):
        return _apply_lay(law, turn, move)
    if isinstance(move, Swap):
        return _apply_swap(law, turn, move)
    if move.joker:
        return _apply_joker_attach(law, turn, move)
    return _apply_natural_attach(law, turn, move)


def _apply_lay(law: TurnRules, turn: Turn, move: Lay) -> Turn:
    """A new meld settles the pozzo card if it holds it; its jokers are recovered ones first."""
    three = move.three
    ones, twos = without(turn.ones, turn.twos, three.mask)
    paid = min(three.jokers, turn.recovered)
    owed, barred = turn.owed, turn.barred
    if (owed == JOKER and three.jokers > paid) or (owed >= 0 and three.mask >> owed & 1):
        owed = NONE
    if (barred == JOKER and three.jokers) or (barred >= 0 and three.mask >> barred & 1):
        barred = NONE
    table, recovered = turn.table, turn.recovered - paid
    if paid and not recovered:
        table = _forget_sources(table)
    points, natural, opened = _counted(law, turn, three.value, 0 if three.jokers else three.value)
    return Turn(
        ones, twos, turn.jokers - three.jokers, (*table, Entry(three.meld, True)),
        opened, points, natural, turn.touched, owed, barred, recovered,
    )  # fmt: skip


def _apply_natural_attach(law: TurnRules, turn: Turn, move: Attach) -> Turn | None:
    """A natural card from the hand lengthens a meld."""
    entry = turn.table[move.at]
    owed = _natural_settles(turn, move.spot.card, entry)
    if owed is None:
        return None
    ones, twos = without(turn.ones, turn.twos, 1 << move.spot.card)
    natural = 0 if entry.meld.jokers else move.spot.value
    points, natural, opened = _counted(law, turn, move.spot.value, natural)
    return Turn(
        ones, twos, turn.jokers, _put(turn.table, move.at, move.spot.natural),
        opened, points, natural, turn.touched or not entry.new,
        owed, NONE if turn.barred == move.spot.card else turn.barred, turn.recovered,
    )  # fmt: skip


def _apply_joker_attach(law: TurnRules, turn: Turn, move: Attach) -> Turn | None:
    """A joker lengthens a meld; whose joker it is decides whether it may, and which debt it pays."""
    entry = turn.table[move.at]
    use = _joker_use(law.rules.recovered_joker, turn, move.at)
    if use is None:
        return None
    owed, recovered, table = use
    lost = 0 if entry.meld.jokers else -law.book.value(entry.meld)  # the meld is no longer without a joker
    points, natural, opened = _counted(law, turn, move.spot.value, lost)
    return Turn(
        turn.ones, turn.twos, turn.jokers - 1, _put(table, move.at, move.spot.joker),
        opened, points, natural, turn.touched or not entry.new,
        owed, NONE if turn.barred == JOKER else turn.barred, recovered,
    )  # fmt: skip


def _apply_swap(law: TurnRules, turn: Turn, move: Swap) -> Turn | None:
    """The natural goes down, the joker comes to the hand and (unless it may be kept) has to be used."""
    entry, card = turn.table[move.at], move.replacement.card
    owed = _natural_settles(turn, card, entry)
    if owed is None:
        return None
    ones, twos = without(turn.ones, turn.twos, 1 << card)
    to_use = law.rules.recovered_joker != "keep"
    swapped = Entry(move.replacement.meld, entry.new, entry.swapped or to_use)
    table = (*turn.table[: move.at], swapped, *turn.table[move.at + 1 :])
    return turn._replace(
        ones=ones, twos=twos, jokers=turn.jokers + 1, table=table, touched=turn.touched or not entry.new,
        owed=owed, barred=NONE if turn.barred == card else turn.barred, recovered=turn.recovered + to_use,
    )  # fmt: skip


def _counted(law: TurnRules, turn: Turn, value: int, natural: int) -> tuple[int, int, bool]:
    """Points, joker-free points and opened after `value` more was laid; who has opened counts nothing any more."""
    if turn.opened:
        return turn.points, turn.natural_points, True
    points = turn.points + value
    return points, turn.natural_points + natural, points >= law.rules.opening_points


def _put(table: tuple[Entry, ...], index: int, meld: Meld | None) -> tuple[Entry, ...]:
    assert meld is not None
    return (*table[:index], table[index]._replace(meld=meld), *table[index + 1 :])


def _forget_sources(table: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """No joker is left to be used, so it no longer matters where they came from."""
    return tuple(entry._replace(swapped=False) if entry.swapped else entry for entry in table)


# --- debts -------------------------------------------------------------------------------------------------------


def _natural_settles(turn: Turn, card: int, entry: Entry) -> int | None:
    """The pozzo card owed after `card` went to a meld that lies already; None: the card may not go there.

    Who had not opened before this turn owes the card to its new melds: an older meld can only have a second copy.
    """
    if turn.owed != card:
        return turn.owed
    if entry.new or not turn.began_unopened:
        return NONE
    return card if turn.holds(card) >= 2 else None


def _joker_use(mode: str, turn: Turn, index: int) -> tuple[int, int, tuple[Entry, ...]] | None:
    """Owed card, recovered jokers and table once a joker is used on meld `index`; None: no joker may go there.

    A recovered joker goes first where one may go, then one owed as pozzo card, then one of the player's own.
    """
    entry = turn.table[index]
    own = turn.jokers - turn.recovered
    if turn.recovered and _takes_recovered(mode, turn, index):
        return turn.owed, turn.recovered - 1, _pay_sources(mode, turn, index)
    if own < 1:
        return None
    if turn.owed != JOKER:
        return turn.owed, turn.recovered, turn.table
    if entry.new or not turn.began_unopened:
        return NONE, turn.recovered, turn.table
    return (JOKER, turn.recovered, turn.table) if own >= 2 else None


def _takes_recovered(mode: str, turn: Turn, index: int) -> bool:
    """May a joker that was taken from the table go to meld `index`?"""
    entry = turn.table[index]
    if mode == "new_meld":
        return entry.new
    if mode == "new_or_other_meld" and entry.swapped:
        return any(other.swapped for i, other in enumerate(turn.table) if i != index)
    return True


def _pay_sources(mode: str, turn: Turn, index: int) -> tuple[Entry, ...]:
    """Where the jokers still to be used came from, after one of them went to meld `index`."""
    if turn.recovered == 1:
        return _forget_sources(turn.table)
    table = turn.table
    if mode == "new_or_other_meld" and table[index].swapped and sum(entry.swapped for entry in table) == 2:
        # The joker of the other source went down, so what is left came from this meld.
        return tuple(e._replace(swapped=False) if e.swapped and i != index else e for i, e in enumerate(table))
    return table


# --- the end of the turn -----------------------------------------------------------------------------------------


def may_close(law: TurnRules, turn: Turn) -> bool:
    """Could this player close now, as far as the lap, its opening and its debts go?"""
    if not law.closing_allowed or turn.owed != NONE or turn.recovered:
        return False
    return turn.opened or not (turn.points and law.rules.in_hand_needs_opening_points)


def closes_at_once(law: TurnRules, turn: Turn) -> bool:
    """A move to the table took the last card: only where the discard is optional, and only as a closing."""
    return law.rules.closing_discard == "optional" and may_close(law, turn)


def discards(law: TurnRules, turn: Turn, level: int) -> list[int]:
    """The cards that may be discarded; `level` says which bans are lifted (1: attaching, 2: also the joker's)."""
    if turn.size == 1:
        return _closing_discards(law, turn)
    if turn.owed != NONE or turn.recovered or (not turn.opened and any(entry.new for entry in turn.table)):
        return []
    ones, joker = turn.ones, turn.jokers > 0
    if not turn.opened and not law.rules.unopened_joker_discard and level < 2:
        joker = False
    if level < 1 and law.ban_applies(turn.opened):
        attach, takes_joker = attaching(law, turn.table)
        ones &= ~attach
        joker = joker and not takes_joker
    cards = [*bits(ones), *[JOKER] * joker]
    return [card for card in cards if card != turn.barred or turn.holds(card) >= 2]


def _closing_discards(law: TurnRules, turn: Turn) -> list[int]:
    """The last card: it may attach, but the very card that was taken and kept stays barred."""
    card = JOKER if turn.jokers else turn.ones.bit_length() - 1
    if not may_close(law, turn) or card == turn.barred:
        return []
    return [] if card == JOKER and not law.rules.closing_joker_discard else [card]


def attaching(law: TurnRules, table: tuple[Entry, ...]) -> tuple[int, bool]:
    """The natural cards that count as attaching to the table as it lies, and whether a joker does."""
    mask, joker = 0, False
    for entry in table:
        attach, replace, takes_joker = law.book.taken(entry.meld)
        mask |= attach
        joker = joker or takes_joker
        if law.rules.replacing_attaches:
            mask |= replace
    return mask, joker


def closing_kind(turn: Turn) -> str:
    """Who had not opened before this turn and laid nothing but new melds closes in hand."""
    return "in_hand" if turn.began_unopened and not turn.touched else "normal"
