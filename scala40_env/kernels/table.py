"""What the melds on the table accept: ends of runs, missing suits, cards that could take a joker's place."""

from scala40_env.kernels.bits import count_bits, highest_bit, lowest_bit
from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.lanes import rank_bit
from scala40_env.kernels.state import NONE, RUN

__all__ = [
    "accepted_bits",
    "accepts_joker",
    "ban_of_table",
    "joker_card_bit",
    "missing_suit",
    "natural_fits",
    "next_high",
    "next_low",
    "nth_bit",
    "replaceable_bits",
]

_LOW_ACE, _HIGH_ACE = 0, 13


@kernel
def next_low(cells: int, max_run: int) -> int:
    """Position below a run, where it could grow; NONE if it can't."""
    low = lowest_bit(cells)
    if low == 0 or count_bits(cells) >= max_run:
        return NONE
    return low - 1


@kernel
def next_high(cells: int, max_run: int) -> int:
    """Position above a run, where it could grow; NONE if it can't."""
    high = highest_bit(cells)
    if high == _HIGH_ACE or count_bits(cells) >= max_run:
        return NONE
    return high + 1


@kernel
def natural_fits(cells: int, jokers: int, position: int) -> bool:
    """Whether a natural card may stand at a position of a run: it never holds two natural aces."""
    naturals = cells & ~jokers
    if position == _LOW_ACE:
        return (naturals >> _HIGH_ACE) & 1 == 0
    if position == _HIGH_ACE:
        return naturals & 1 == 0
    return True


@kernel
def missing_suit(cells: int) -> int:
    """The suit that a set of three lacks; NONE for a set of four."""
    free = ~cells & 15
    if free == 0:
        return NONE
    return lowest_bit(free)


@kernel
def accepted_bits(kind: int, key: int, cells: int, jokers: int, max_run: int) -> int:
    """The natural cards that can be attached to a meld."""
    if kind != RUN:
        suit = missing_suit(cells)
        return 0 if suit == NONE else 1 << ((suit << 4) + key)
    bits = 0
    low = next_low(cells, max_run)
    if low != NONE and natural_fits(cells, jokers, low):
        bits |= rank_bit(key, low)
    high = next_high(cells, max_run)
    if high != NONE and natural_fits(cells, jokers, high):
        bits |= rank_bit(key, high)
    return bits


@kernel
def nth_bit(word: int, n: int) -> int:
    """Index of the n-th lowest bit set, counted from 0; NONE if there are fewer."""
    for _ in range(n):
        word &= word - 1
    return NONE if word == 0 else lowest_bit(word)


@kernel
def joker_card_bit(kind: int, key: int, cells: int, jokers: int, cell: int) -> int:
    """The bit of the card that the joker in a cell stands for, 0 if the natural card could not lie there."""
    if kind != RUN:
        return 1 << ((cell << 4) + key)
    return rank_bit(key, cell) if natural_fits(cells, jokers, cell) else 0


@kernel
def replaceable_bits(kind: int, key: int, cells: int, jokers: int) -> int:
    """The natural cards that could take the place of a joker of a meld."""
    bits, left = 0, jokers
    while left:
        bits |= joker_card_bit(kind, key, cells, jokers, lowest_bit(left))
        left &= left - 1
    return bits


@kernel
def accepts_joker(kind: int, cells: int, jokers: int, max_run: int, max_jokers: int) -> bool:
    """Whether a joker can be attached to a meld."""
    if count_bits(jokers) >= max_jokers:
        return False
    if kind != RUN:
        return missing_suit(cells) != NONE
    return next_low(cells, max_run) != NONE or next_high(cells, max_run) != NONE


@kernel
def ban_of_table(g: Record) -> tuple[int, bool]:
    """The cards that attach to the table as it lies (rules.md, *The turn*, 3), and whether a joker does."""
    bits, joker = 0, False
    max_run, max_jokers = int(g["max_run_length"]), int(g["max_jokers_per_meld"])
    replacing = int(g["replacing_attaches"]) != 0
    for slot in range(int(g["meld_n"])):
        kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
        cells, jokers = int(g["meld_cells"][slot]), int(g["meld_jokers"][slot])
        bits |= accepted_bits(kind, key, cells, jokers, max_run)
        if replacing and jokers:
            bits |= replaceable_bits(kind, key, cells, jokers)
        joker = joker or accepts_joker(kind, cells, jokers, max_run, max_jokers)
    return bits, joker
