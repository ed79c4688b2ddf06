"""Arithmetic on sets of cards: the words of four 16-bit lanes that `state` describes."""

import numpy as np

from scala40_env.kernels.bits import count_bits, lowest_bit
from scala40_env.kernels.jit import kernel
from scala40_env.kernels.state import JOKER, JOKER_BIT, RUN

__all__ = [
    "ACES",
    "BASES",
    "POSITION_POINTS",
    "SUIT_TRIPLES",
    "bit_of",
    "bit_or_joker",
    "card_at",
    "may_be_melded",
    "meld_points",
    "natural_bits",
    "pairs_in_sets",
    "points_of",
    "rank_bit",
    "run_bases",
    "suits_with",
    "triples_in_sets",
    "with_high_aces",
]

#: Bit 0 of every lane, the ace.
ACES = 0x0001_0001_0001_0001
#: Bits 0 to 11 of every lane: the positions where a run of three can begin.
BASES = 0x0FFF_0FFF_0FFF_0FFF
_LANE = 0x1FFF
_HIGH_ACE = 13

#: Points of a card at a position of a run (0 the low ace ... 13 the high ace), by `court_values`.
POSITION_POINTS = np.array(
    [
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11],
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
    ],
    dtype=np.int64,
)
#: The four triples of suits, as bits s h d c: shd, shc, sdc, hdc.
SUIT_TRIPLES = np.array([0b0111, 0b1011, 0b1101, 0b1110], dtype=np.int64)
#: A four-bit set of suits, spread over the lowest bits of the lanes.
_SPREAD = np.array([sum(1 << (16 * s) for s in range(4) if m >> s & 1) for m in range(16)], dtype=np.int64)


@kernel
def bit_of(card: int) -> int:
    """The bit of a natural card."""
    return 1 << (((card // 13) << 4) + card % 13)


@kernel
def bit_or_joker(card: int) -> int:
    """The bit of a card, JOKER_BIT for a joker."""
    return JOKER_BIT if card == JOKER else bit_of(card)


@kernel
def card_at(bit_index: int) -> int:
    """The card of a bit index."""
    return (bit_index >> 4) * 13 + (bit_index & 15)


@kernel
def rank_bit(suit: int, position: int) -> int:
    """The bit of the natural card at a position 0..13 of a run."""
    return 1 << ((suit << 4) + (0 if position == _HIGH_ACE else position))


@kernel
def with_high_aces(one: int) -> int:
    """The cards with every ace also above its king: positions instead of ranks."""
    return one | ((one & ACES) << _HIGH_ACE)


@kernel
def run_bases(e: int, place: int) -> int:
    """Positions where a run of three begins (``e`` from `with_high_aces`); place 1..3 is the joker's, 0 is none."""
    if place == 0:
        return e & (e >> 1) & (e >> 2) & BASES
    if place == 1:
        return (e >> 1) & (e >> 2) & BASES
    if place == 2:
        return e & (e >> 2) & BASES
    return e & (e >> 1) & BASES


@kernel
def triples_in_sets(one: int) -> int:
    """Ranks (13 bits) held in three suits or more."""
    a, b, c, d = one & _LANE, (one >> 16) & _LANE, (one >> 32) & _LANE, one >> 48
    return (a & b & (c | d)) | (c & d & (a | b))


@kernel
def pairs_in_sets(one: int) -> int:
    """Ranks (13 bits) held in two suits or more."""
    a, b, c, d = one & _LANE, (one >> 16) & _LANE, (one >> 32) & _LANE, one >> 48
    return (a & b) | (c & d) | ((a | b) & (c | d))


@kernel
def suits_with(one: int, rank: int) -> int:
    """The suits (bits s h d c) in which a rank is held."""
    at = one >> rank
    return (at & 1) | ((at >> 15) & 2) | ((at >> 30) & 4) | ((at >> 45) & 8)


@kernel
def natural_bits(kind: int, key: int, cells: int, jokers: int) -> int:
    """The natural cards of a meld."""
    naturals = cells & ~jokers
    if kind == RUN:
        return ((naturals & _LANE) | (naturals >> _HIGH_ACE)) << (key << 4)
    return _SPREAD[naturals] << key


@kernel
def meld_points(kind: int, key: int, cells: int, ascending: int) -> int:
    """What a meld is worth on the table: a joker counts as the card it stands for."""
    total = 0
    if kind == RUN:
        while cells:
            total += POSITION_POINTS[ascending, lowest_bit(cells)]
            cells &= cells - 1
        return total
    each = POSITION_POINTS[ascending, _HIGH_ACE if key == 0 else key]
    while cells:
        total += each
        cells &= cells - 1
    return total


@kernel
def points_of(cards: int, ascending: int) -> int:
    """Sum of the highest values that the cards can have in a meld (aces high)."""
    total = 0
    while cards:
        rank = lowest_bit(cards) & 15
        total += POSITION_POINTS[ascending, _HIGH_ACE if rank == 0 else rank]
        cards &= cards - 1
    return total


@kernel
def may_be_melded(one: int, card: int, jokers: int, min_naturals: int) -> bool:
    """Whether a card of the hand might make a meld with others and up to ``jokers`` jokers; False is certain."""
    suit, rank = card // 13, card % 13
    suits = count_bits(suits_with(one, rank))
    if suits >= 3 or (suits == 2 and jokers) or (jokers >= 2 and min_naturals == 1):
        return True
    e = with_high_aces(one) >> (suit << 4) & 0x3FFF
    for position in range(rank, 14, 13):
        if jokers:  # the next natural card, with all jokers in between
            reach = max(jokers + 1, 2)
            near = (e >> max(position - reach, 0)) & ((1 << (min(reach, position) + reach + 1)) - 1)
            if near & ~(1 << min(reach, position)):
                return True
            continue
        near = (e << 2) >> position & 0b11111  # positions - 2 ... + 2, the card itself in the middle
        if near & 0b00111 == 0b00111 or near & 0b01110 == 0b01110 or near & 0b11100 == 0b11100:
            return True
    return False
