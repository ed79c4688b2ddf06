"""What cards are worth to the seat that holds them: what they would cost, and what could still become of them.

Everything here looks only at what a view shows. Sets of cards are the words of four lanes that `kernels.state` of the
game describes; two of them, ``one`` and ``two``, are cards held once and twice.
"""

import numpy as np

from scala40_env.kernels.bits import count_bits, lowest_bit
from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.lanes import (
    ACES,
    POSITION_POINTS,
    bit_of,
    natural_bits,
    run_bases,
    suits_with,
    triples_in_sets,
    with_high_aces,
)
from scala40_env.kernels.state import ACE_ONE, JOKER, MAX_SEATS, PACK

__all__ = ["PER_CARD", "card_cost", "cost_of", "keep_value", "melds_in", "seen_cards", "take_out"]

#: What having one card fewer is worth, beside its points: who has no cards closes.
PER_CARD = 3
#: Value of a card that already makes a meld with others of the hand.
_IN_MELD = 100

_HIGH_ACE = 13
_LOW_RANKS = 0x1FFF_1FFF_1FFF_1FFF


def _worth_to_lay(rank: int, courts: int, low_ace: bool) -> int:
    """What it is worth to lay a card of a rank: its cost, as `_rank_cost` has it, and that there is a card fewer."""
    position = _HIGH_ACE if rank == 0 and not low_ace else rank
    return int(POSITION_POINTS[courts, position]) + PER_CARD


def _plane(bit: int, courts: int, low_ace: bool) -> int:
    """The cards whose worth to lay has a certain binary digit."""
    return sum(ACES << rank for rank in range(13) if _worth_to_lay(rank, courts, low_ace) >> bit & 1)


#: What cards are worth to lay by its binary digits, so that many cards are added up at once: for each digit the cards
#: that have it; by `court_values`, and by whether an ace costs one.
_NUM_PLANES = 5
_PLANES = np.array(
    [[[_plane(b, courts, ace) for b in range(_NUM_PLANES)] for ace in (False, True)] for courts in range(2)], np.int64
)


@kernel
def _rank_cost(g: Record, rank: int) -> int:
    """What a natural card of a rank costs if it is left in the hand."""
    if rank == 0 and int(g["ace_in_hand"]) != ACE_ONE:
        return int(POSITION_POINTS[int(g["court_values"]), _HIGH_ACE])
    return int(POSITION_POINTS[int(g["court_values"]), rank])


@kernel
def card_cost(g: Record, card: int) -> int:
    """What a card costs if it is left in the hand."""
    return int(g["joker_in_hand"]) if card == JOKER else _rank_cost(g, card % 13)


@kernel
def cost_of(g: Record, bits: int) -> int:
    """What it is worth to lay these natural cards: their cost, and that there are fewer cards."""
    planes = _PLANES[int(g["court_values"]), 1 if int(g["ace_in_hand"]) == ACE_ONE else 0]
    total = 0
    for plane in range(_NUM_PLANES):
        total += count_bits(bits & planes[plane]) << plane
    return total


@kernel
def take_out(one: int, two: int, bits: int) -> tuple[int, int]:
    """A hand without one copy of each of these cards."""
    return one & ~(bits & ~two), two & ~bits


@kernel
def _add(one: int, two: int, bits: int) -> tuple[int, int]:
    """Cards with one more copy of each of these."""
    return one | bits, two | (one & bits)


@kernel
def seen_cards(g: Record, seat: int) -> tuple[int, int]:
    """The cards that are surely not in the stock: own ones, the table, the pozzo, and what others took openly."""
    one, two = int(g["one"][seat]), int(g["two"][seat])
    for slot in range(int(g["meld_n"])):
        kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
        one, two = _add(one, two, natural_bits(kind, key, int(g["meld_cells"][slot]), int(g["meld_jokers"][slot])))
    for at in range(PACK - int(g["pozzo_n"]), PACK):
        card = int(g["pile"][at])
        if card != JOKER:
            one, two = _add(one, two, bit_of(card))
    for other in range(MAX_SEATS):
        if other != seat:
            one, two = _add(one, two, int(g["known_one"][other]))
            two |= int(g["known_two"][other])
    return one, two


@kernel
def _copies(one: int, two: int, suit: int, position: int) -> int:
    """How many copies (of two) of the card at a position of a run are not among these; none beyond its ends."""
    if position < 0 or position > _HIGH_ACE:
        return 0
    bit = 1 << ((suit << 4) + (0 if position == _HIGH_ACE else position))
    return 2 - (1 if one & bit else 0) - (1 if two & bit else 0)


@kernel
def _held_at(e: int, position: int) -> bool:
    """Whether a position of a run is held (``e``: the positions of one suit)."""
    return position >= 0 and (e >> position) & 1 != 0


@kernel
def _run_value(one: int, seen_one: int, seen_two: int, suit: int, position: int) -> int:
    """How many cards would make a run of a card and one beside it; `_IN_MELD` if there is a run already."""
    e = (with_high_aces(one) >> (suit << 4)) & 0x3FFF
    below, above = _held_at(e, position - 1), _held_at(e, position + 1)
    far_below, far_above = _held_at(e, position - 2), _held_at(e, position + 2)
    if (below and above) or (below and far_below) or (above and far_above):
        return _IN_MELD
    outs = 0
    if below or far_above:
        outs += _copies(seen_one, seen_two, suit, position + 1)
    if above or far_below:
        outs += _copies(seen_one, seen_two, suit, position - 1)
    if below:
        outs += _copies(seen_one, seen_two, suit, position - 2)
    if above:
        outs += _copies(seen_one, seen_two, suit, position + 2)
    return outs


@kernel
def _set_value(one: int, seen_one: int, seen_two: int, suit: int, rank: int) -> int:
    """How many cards would make a set of a card and one of its rank; `_IN_MELD` if there is a set already."""
    others = suits_with(one, rank) & ~(1 << suit)
    held = count_bits(others)
    if held >= 2:
        return _IN_MELD
    if held == 0:
        return 0
    outs, missing = 0, ~others & ~(1 << suit) & 15
    while missing:
        outs += _copies(seen_one, seen_two, lowest_bit(missing), rank)
        missing &= missing - 1
    return outs


@kernel
def keep_value(one: int, two: int, seen_one: int, seen_two: int, card: int) -> int:
    """How many cards still to come would make a meld with this one, or `_IN_MELD` if the hand has one with it.

    A second copy adds nothing to the first.
    """
    suit, rank = card // 13, card % 13
    if two & bit_of(card):
        return 0
    value = _run_value(one, seen_one, seen_two, suit, rank) + _set_value(one, seen_one, seen_two, suit, rank)
    if rank == 0:
        value += _run_value(one, seen_one, seen_two, suit, _HIGH_ACE)
    return min(value, _IN_MELD)


@kernel
def melds_in(one: int) -> int:
    """The cards that are part of some meld without a joker."""
    runs = run_bases(with_high_aces(one), 0)
    runs |= runs << 1 | runs << 2
    runs = (runs | (runs >> _HIGH_ACE & ACES)) & _LOW_RANKS
    ranks = triples_in_sets(one)
    return runs | (one & (ranks | ranks << 16 | ranks << 32 | ranks << 48))
