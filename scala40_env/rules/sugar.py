"""The small moves that lay a combination of any length, in every order that can matter.

Lowest three cards first is how a combination is meant (`moves.expand_meld`). Another order is needed now and then:
under ``opening_jokers="after_threshold"`` a joker at the low end can only follow the naturals that reach the threshold.
"""

from __future__ import annotations

from collections.abc import Iterator

from scala40_env.rules.cards import TableCard
from scala40_env.rules.config import Rules
from scala40_env.rules.melds import Meld, can_lay, parse_meld
from scala40_env.rules.moves import TRIPLES, expand_meld

_LOW, _HIGH = "low", "high"


def ways_to_lay(move: str, rules: Rules, number: int) -> Iterator[list[str]]:
    """Lists of small moves that all lay the combination of a `meld` move as meld `number`; the usual one first.

    Raises `BadNotation` where the combination is none.
    """
    yield expand_meld(move, rules, number)
    meld = parse_meld(move.strip().partition(" ")[2], rules)
    for base in _bases(meld, rules):
        for first in (_LOW, _HIGH):
            yield [f"meld {base}", *_attaches(base, meld, number, first)]


def _bases(meld: Meld, rules: Rules) -> list[Meld]:
    """The parts of three cards that may be laid, with the fewest jokers first."""
    if meld.is_run:
        masks = [0b111 << low for low in range(meld.low, meld.high - 1)]
    else:
        masks = [mask for mask in (sum(1 << suit for suit in triple) for triple in TRIPLES) if not mask & ~meld.cells]
    parts = [Meld(meld.kind, meld.key, mask, meld.jokers & mask) for mask in masks]
    return sorted((part for part in parts if can_lay(part, rules)), key=lambda part: part.jokers.bit_count())


def _attaches(base: Meld, meld: Meld, number: int, first: str) -> list[str]:
    """The attaches that make `meld` of `base`, beginning at one end of a run."""
    rest = [cell for cell in meld.filled() if not base.cells >> cell & 1]
    if not meld.is_run:
        return [_attach(meld, cell, number, "") for cell in rest]
    low = [_attach(meld, cell, number, f" {_LOW}") for cell in reversed(rest) if cell < base.low]
    high = [_attach(meld, cell, number, f" {_HIGH}") for cell in rest if cell > base.low]
    return low + high if first == _LOW else high + low


def _attach(meld: Meld, cell: int, number: int, end: str) -> str:
    return f"attach {TableCard(meld.card_at(cell), meld.has_joker_at(cell))} {number}{end}"
