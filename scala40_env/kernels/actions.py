"""Reading the numbers of the action table (`scala40_env.rules.moves`) inside kernels."""

from scala40_env.kernels.bits import count_bits
from scala40_env.kernels.jit import kernel
from scala40_env.kernels.lanes import SUIT_TRIPLES
from scala40_env.kernels.state import RUN, SET
from scala40_env.kernels.table import nth_bit
from scala40_env.rules.moves import (
    BUY,
    DISCARD,
    PASS,
    POZZO,
    RUNS,
    SETS,
    SLOTS,
    STOCK,
    SWAPS,
    TWO_JOKER_RUNS,
    TWO_JOKER_SETS,
)

__all__ = [
    "BUY",
    "DISCARD",
    "PASS",
    "POZZO",
    "RUNS",
    "SETS",
    "SLOTS",
    "STOCK",
    "SWAPS",
    "TWO_JOKER_RUNS",
    "TWO_JOKER_SETS",
    "is_attach",
    "is_meld",
    "is_swap",
    "meld_of",
    "slot_of",
    "swapped_joker",
]

#: Actions of one meld on the table.
PER_SLOT = 5
SWAP = 4


@kernel
def is_meld(action: int) -> bool:
    """Whether an action lays three cards."""
    return RUNS <= action < SWAPS


@kernel
def is_attach(action: int) -> bool:
    """Whether an action attaches a card or a joker."""
    return SLOTS <= action < RUNS and (action - SLOTS) % PER_SLOT != SWAP


@kernel
def is_swap(action: int) -> bool:
    """Whether an action takes a joker from the table."""
    if SWAPS <= action < BUY:
        return True
    return SLOTS <= action < RUNS and (action - SLOTS) % PER_SLOT == SWAP


@kernel
def slot_of(action: int) -> int:
    """The meld that an attach or a swap goes to."""
    return (action - SWAPS) // 3 if action >= SWAPS else (action - SLOTS) // PER_SLOT


@kernel
def swapped_joker(action: int) -> int:
    """Which joker of the meld a swap takes, counted from 0 at the lowest."""
    return (action - SWAPS) % 3 + 1 if action >= SWAPS else 0


@kernel
def meld_of(action: int) -> tuple[int, int, int, int]:
    """Kind, key, cells and joker cells of the three cards that an action lays."""
    if action < SETS:
        at = action - RUNS
        base, place = at >> 2, at & 3
        low = base % 12
        return RUN, base // 12, 7 << low, (1 << (low + place - 1)) if place else 0
    if action < TWO_JOKER_RUNS:
        at = action - SETS
        base, place = at >> 2, at & 3
        suits = int(SUIT_TRIPLES[base & 3])
        return SET, base >> 2, suits, (1 << nth_bit(suits, place - 1)) if place else 0
    if action < TWO_JOKER_SETS:
        at = action - TWO_JOKER_RUNS
        base, place = at // 3, at % 3
        low = base % 12
        return RUN, base // 12, 7 << low, (7 << low) & ~(1 << (low + place))
    at = action - TWO_JOKER_SETS
    base, place = at // 3, at % 3
    suits = int(SUIT_TRIPLES[base & 3])
    return SET, base >> 2, suits, suits & ~(1 << nth_bit(suits, place))


@kernel
def jokers_of(action: int) -> int:
    """How many jokers a lay or an attach uses."""
    if is_meld(action):
        return count_bits(meld_of(action)[3])
    return 1 if is_attach(action) and (action - SLOTS) % PER_SLOT >= 2 else 0
