"""All ways to go on with a turn: the states that moves to the table lead to, each of them once.

A way that ends in a legal discard is legal from its first move on, so no move needs to be asked for its legality on
the way; ways that strand the player just have no discard at their end.
"""

import numpy as np

from scala40_env.kernels.bits import borrow, copy_record, scratch
from scala40_env.kernels.islands import MOST_MOVES
from scala40_env.kernels.jit import Record, Records, kernel
from scala40_env.kernels.legality import fingerprint
from scala40_env.kernels.moves import emit_table_moves, min_left
from scala40_env.kernels.state import PLAY
from scala40_env.kernels.turn import apply_table_move

__all__ = ["BEFORE", "MOST_STATES", "MOVE", "first_move", "line_to", "reach"]

#: States of a turn that are looked at, at most.
MOST_STATES = 160
#: Places where a state is looked for by its fingerprint: a power of two, and many more than states.
_SLOTS = 512
#: Columns of the ways to states: the state before it, and the move that led on from there.
BEFORE, MOVE = range(2)


@kernel
def _is_new(slots: np.ndarray, keys: np.ndarray, n: int, key: int) -> bool:
    """Whether none of the first ``n`` keys is this one; it becomes the next. ``slots`` finds keys by their low bits."""
    at = key & (_SLOTS - 1)
    while slots[at]:
        if keys[slots[at] - 1] == key:
            return False
        at = (at + 1) & (_SLOTS - 1)
    slots[at], keys[n] = n + 1, key
    return True


@kernel
def reach(g: Record, states: Records, ways: np.ndarray) -> int:
    """Write the states that the rest of the turn may pass through into ``states`` (Records[MOST_STATES]), ``g`` first.

    ``ways`` (int16[MOST_STATES, 2]) gets the state before each and the move from there, as `line_to` reads them. Depth
    first; returns how many there are.
    """
    states, ways = borrow(states), borrow(ways)
    keys, stack = scratch(MOST_STATES, np.int64), scratch(MOST_STATES, np.int64)
    slots, moves = scratch(_SLOTS, np.int16), scratch(MOST_MOVES, np.int16)
    copy_record(states, 0, g)
    slots[:] = 0
    _is_new(slots, keys, 0, fingerprint(g))
    stack[0] = 0
    n, depth = 1, 1
    while depth:
        depth -= 1
        at = int(stack[depth])
        state = states[at]
        if int(state["phase"]) != PLAY:
            continue
        count = emit_table_moves(state, int(state["hand_n"][int(state["turn"])]) - min_left(state), moves, 0)
        for k in range(count):
            if n == MOST_STATES:
                return n
            copy_record(states, n, state)
            apply_table_move(states[n], int(moves[k]))
            if not _is_new(slots, keys, n, fingerprint(states[n])):
                continue
            ways[n, BEFORE], ways[n, MOVE] = at, moves[k]
            stack[depth] = n
            depth += 1
            n += 1
    return n


@kernel
def first_move(ways: np.ndarray, at: int) -> int:
    """The first move on the way to a state that is not the first one."""
    while ways[at, BEFORE]:
        at = int(ways[at, BEFORE])
    return int(ways[at, MOVE])


@kernel
def line_to(ways: np.ndarray, at: int, line: np.ndarray) -> int:
    """Write the moves on the way to a state into ``line``; returns how many they are."""
    length, before = 0, at
    while before:
        length += 1
        before = int(ways[before, BEFORE])
    for back in range(length - 1, -1, -1):
        line[back] = ways[at, MOVE]
        at = int(ways[at, BEFORE])
    return length
