"""Melds on the table: runs and sets as two bit masks, and as text.

A run is a suit and a mask over 14 positions, so that the ace has a place at both ends; a set is a rank and a mask over
the four suits. A second mask says which of these cells hold a joker::

    run, key = suit   bit   0    1   2   ...   11   12    13
                      card  A    2   3   ...    Q    K     A
    set, key = rank   bit   0    1   2    3
                      suit  s    h   d    c

``5s *6s 7s`` is ``Meld("run", 0, 0b111_0000, 0b010_0000)``. What a meld may be is in rules.md, *Melds*: at most one
joker (F) unless `Rules.max_jokers_per_meld` says more, never jokers only, never two natural aces in a run, never two
cards of a suit in a set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from scala40_env.rules.cards import (
    NUM_RANKS,
    NUM_SUITS,
    RANKS,
    TableCard,
    card_id,
    format_card,
    parse_table_card,
    rank_of,
    suit_of,
    words_of,
)
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import BadNotation

ACE_LOW = 0
ACE_HIGH = 13
"""Positions of the ace in a run, before the 2 and after the king."""
NUM_POSITIONS = 14
MIN_SIZE = 3
ALL_SUITS = (1 << NUM_SUITS) - 1

POSITION_POINTS = {
    "ten": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11),
    "ascending": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14),
}
"""What a card is worth at each position of a run, by `Rules.court_values`; an ace in a set is a high one."""


@dataclass(frozen=True, slots=True)
class Meld:
    """A meld on the table; its numbers are trusted, text is checked by `parse_meld`.

    Attributes: `kind`; `key`, a run's suit 0 to 3 or a set's rank 0 to 12; `cells`, the mask of the cells that it
    fills (three or more, a run's in one piece); `jokers`, which of them hold a joker.
    """

    kind: Literal["run", "set"]
    key: int
    cells: int
    jokers: int = 0

    @property
    def is_run(self) -> bool:
        """True for a run, False for a set."""
        return self.kind == "run"

    @property
    def size(self) -> int:
        """How many cards it has: 3 to 14."""
        return self.cells.bit_count()

    @property
    def low(self) -> int:
        """Its lowest cell; for a run the position 0 to 11 of the first card."""
        return (self.cells & -self.cells).bit_length() - 1

    @property
    def high(self) -> int:
        """Its highest cell; for a run the position 2 to 13 of the last card."""
        return self.cells.bit_length() - 1

    def filled(self) -> list[int]:
        """The cells that it fills, in ascending order."""
        return _bits(self.cells)

    def card_at(self, cell: int) -> int:
        """The card, 0 to 51, that belongs in a cell, whether it is filled or not."""
        return card_id(self.key, cell % NUM_RANKS) if self.is_run else card_id(cell, self.key)

    def has_joker_at(self, cell: int) -> bool:
        """Does a joker lie in the cell?"""
        return bool(self.jokers >> cell & 1)

    def cards(self) -> list[TableCard]:
        """Its cards as written: a run from low to high, a set in suit order s h d c."""
        return [TableCard(self.card_at(cell), self.has_joker_at(cell)) for cell in self.filled()]

    def points(self, rules: Rules) -> int:
        """What it counts on the table; a joker counts as the card that it stands for."""
        values = POSITION_POINTS[rules.court_values]
        if self.is_run:
            return sum(values[cell] for cell in self.filled())
        return self.size * values[self.key or ACE_HIGH]

    def open_ends(self) -> tuple[int | None, int | None]:
        """The cells where a card could be attached: below and above a run, of a set of three the missing suit twice.

        None where nothing more goes. `Rules.max_run_length` may close the ends of a run earlier.
        """
        if not self.is_run:
            missing = ALL_SUITS & ~self.cells
            cell = missing.bit_length() - 1 if missing else None
            return cell, cell
        return self.low - 1 if self.low > ACE_LOW else None, self.high + 1 if self.high < ACE_HIGH else None

    def would_be_second_ace(self, cell: int) -> bool:
        """Would a natural card in that cell of a run be its second natural ace, which no run may hold?"""
        if not self.is_run or cell not in (ACE_LOW, ACE_HIGH):
            return False
        other = ACE_LOW + ACE_HIGH - cell
        return bool(self.cells & ~self.jokers & 1 << other)

    def __str__(self) -> str:
        return format_meld(self)


def _bits(mask: int) -> list[int]:
    """The numbers of the bits that are set, in ascending order."""
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def format_meld(meld: Meld) -> str:
    """A meld in notation: ``"5s *6s 7s"``, ``"7s 7h *7d"``."""
    cells = meld.filled()
    return " ".join(("*" if meld.jokers >> cell & 1 else "") + format_card(meld.card_at(cell)) for cell in cells)


def parse_meld(text: str, rules: Rules) -> Meld:
    """Read a meld of any length and hold it against the rules of melds.

    The text of a run goes from low to high; a set may come in any order of suits. How many of the cards have to be
    natural when three are first laid (`Rules.min_naturals_per_meld`) is no matter here: see `can_lay`.

    Raises `BadNotation` with the rule that the meld breaks.
    """
    meld = read_meld(text)
    _check_limits(meld, rules)
    return meld


def read_meld(text: str) -> Meld:
    """Read a meld under the rules that no option changes, with any number of jokers. Raises `BadNotation`."""
    return meld_of([parse_table_card(word) for word in words_of(text, "a meld").split()])


def meld_of(cards: Sequence[TableCard]) -> Meld:
    """The meld that these cards make, in the order of `read_meld`. Raises `BadNotation`."""
    if len(cards) < MIN_SIZE:
        raise _no_meld(cards, f"a meld has {MIN_SIZE} cards or more, not {len(cards)}")
    if all(card.is_joker for card in cards):
        raise _no_meld(cards, "it is made of jokers only")
    if len({rank_of(card.card) for card in cards}) == 1:
        return _set_of(cards)
    if len({suit_of(card.card) for card in cards}) == 1:
        return _run_of(cards)
    raise _no_meld(cards, f"{_odd_one_out(cards)}; a run is of one suit, a set of one rank")


def _odd_one_out(cards: Sequence[TableCard]) -> str:
    """The first card that makes neither a run nor a set with those before it, in words; there has to be one."""
    at = next(at for at in range(1, len(cards)) if _is_mixed(cards[: at + 1]))
    return f"{cards[at]} fits neither a run nor a set with {' '.join(map(str, cards[:at]))}"


def _is_mixed(cards: Sequence[TableCard]) -> bool:
    """Are these cards of several suits and of several ranks?"""
    return len({suit_of(card.card) for card in cards}) > 1 and len({rank_of(card.card) for card in cards}) > 1


def _no_meld(cards: Sequence[TableCard], why: str) -> BadNotation:
    return BadNotation(f"{' '.join(map(str, cards)) or 'nothing'} is not a meld: {why}")


def _set_of(cards: Sequence[TableCard]) -> Meld:
    """The set of some cards of one rank. Raises `BadNotation` where two are of one suit."""
    filled = jokers = 0
    for card in cards:
        bit = 1 << suit_of(card.card)
        if filled & bit:
            why = f"{format_card(card.card)} is in it twice; a set holds each suit once, so four cards at most"
            raise _no_meld(cards, why)
        filled |= bit
        jokers |= bit * card.is_joker
    return Meld("set", rank_of(cards[0].card), filled, jokers)


def _run_of(cards: Sequence[TableCard]) -> Meld:
    """The run of some cards of one suit, low to high. Raises `BadNotation`."""
    low = rank_of(cards[0].card)
    for position, (before, card) in enumerate(pairwise(cards), low + 1):
        if position > ACE_HIGH:
            raise _no_meld(cards, f"{card} after {before}: the ace is low (A 2 3) or high (Q K A), and ends the run")
        if rank_of(card.card) != position % NUM_RANKS:
            expected = RANKS[position % NUM_RANKS]
            raise _no_meld(cards, f"{card} after {before}, where {expected} belongs; a run goes from low to high")
    jokers = sum(1 << low + at for at, card in enumerate(cards) if card.is_joker)
    meld = Meld("run", suit_of(cards[0].card), (1 << len(cards)) - 1 << low, jokers)
    if meld.size == NUM_POSITIONS and not jokers & (1 << ACE_LOW | 1 << ACE_HIGH):
        raise _no_meld(cards, f"{cards[0]} is in it twice; one of a run's two aces has to be a joker")
    return meld


def _check_limits(meld: Meld, rules: Rules) -> None:
    """Raise `BadNotation` where a meld breaks one of the limits that are options."""
    jokers = meld.jokers.bit_count()
    if jokers > rules.max_jokers_per_meld:
        why = f"it holds {jokers} jokers; at most {rules.max_jokers_per_meld} (max_jokers_per_meld)"
        raise _no_meld(meld.cards(), why)
    if meld.is_run and meld.size > rules.max_run_length:
        why = f"it has {meld.size} cards; a run has at most {rules.max_run_length} (max_run_length)"
        raise _no_meld(meld.cards(), why)


def can_lay(meld: Meld, rules: Rules) -> bool:
    """May these three cards be laid as a new meld, as to the numbers of jokers and of natural cards?"""
    jokers = meld.jokers.bit_count()
    return jokers <= rules.max_jokers_per_meld and meld.size - jokers >= rules.min_naturals_per_meld
