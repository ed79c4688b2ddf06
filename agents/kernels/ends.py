"""All ends of a turn, each a state and the discard there, and what the expert thinks of them.

Ends are rows of an int64 array of [MOST_ENDS, 3]: the number of the state, the discard and the value.
"""

import numpy as np

from agents.kernels.expert import MOST_DISCARDS, SUMS, Desk, ends_of, set_up, table_of, value_of, write_end
from agents.kernels.outlook import AROUND, ROW, look_again, look_around
from agents.kernels.planning import MOST_STATES
from scala40_env.kernels.bits import scratch
from scala40_env.kernels.islands import address_of
from scala40_env.kernels.jit import Record, Records, kernel

__all__ = ["ACTION", "MOST_ENDS", "STATE", "VALUE", "bring_best", "gather_ends", "swap_rows", "value_ends"]

MOST_ENDS = MOST_STATES * 14
STATE, ACTION, VALUE = range(3)


@kernel
def gather_ends(states: Records, n: int, ends: np.ndarray, discards: np.ndarray) -> int:
    """Write all ends of the turn but closing; returns how many, 0 if the hand can be closed."""
    found = 0
    for at in range(n):
        count = ends_of(states[at], discards)
        if count < 0 or (count > 0 and int(states[at]["hand_n"][int(states[at]["turn"])]) == 1):
            return 0
        for k in range(count):
            if found < MOST_ENDS:
                ends[found, STATE], ends[found, ACTION] = at, discards[k]
                found += 1
    return found


@kernel
def value_ends(g: Record, states: Records, ends: np.ndarray, n: int, weights: np.ndarray) -> None:
    """Write what the expert with these weights thinks of the ends."""
    sums, around, rows = scratch(1, SUMS)[0], scratch(1, AROUND)[0], scratch(MOST_DISCARDS, ROW)
    desk = Desk(address_of(table_of(g, weights)), sums, around, rows)
    set_up(desk, g, weights)
    for at in range(n):
        state = states[ends[at, STATE]]
        if at == 0:
            look_around(state, desk.around)  # ``g`` may be from before the draw
        elif ends[at, STATE] != ends[at - 1, STATE]:
            look_again(state, desk.around)
        write_end(state, int(ends[at, ACTION]), desk, 0)
        ends[at, VALUE] = value_of(desk, 0)


@kernel
def swap_rows(rows: np.ndarray, one: int, other: int) -> None:
    """Let two rows change places."""
    for column in range(rows.shape[1]):
        kept = rows[one, column]
        rows[one, column] = rows[other, column]
        rows[other, column] = kept


@kernel
def bring_best(ends: np.ndarray, n: int, at: int) -> None:
    """Bring the best of the ends from row ``at`` on to this row."""
    best = at
    for other in range(at + 1, n):
        best = other if ends[other, VALUE] > ends[best, VALUE] else best
    swap_rows(ends, at, best)
