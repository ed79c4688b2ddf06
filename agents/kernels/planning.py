"""All ways to go on with a turn: the states that moves to the table lead to, each of them once.

A way that ends in a legal discard is legal from its first move on, so no move needs to be asked for its legality on
the way; ways that strand the player just have no discard at their end.
"""

import numpy as np

from scala40_env.kernels.bits import copy_record
from scala40_env.kernels.islands import MOST_MOVES
from scala40_env.kernels.jit import Record, Records, kernel
from scala40_env.kernels.legality import fingerprint
from scala40_env.kernels.moves import emit_table_moves, min_left
from scala40_env.kernels.state import NONE, PLAY
from scala40_env.kernels.turn import apply_table_move

__all__ = ["MOST_STATES", "reach"]

#: States of a turn that are looked at, at most.
MOST_STATES = 160


@kernel
def _is_new(keys: np.ndarray, n: int, key: int) -> bool:
    for at in range(n):
        if keys[at] == key:
            return False
    return True


@kernel
def reach(g: Record, states: Records, first: np.ndarray) -> int:
    """Write the states that the rest of the turn may pass through into ``states`` (Records[MOST_STATES]), ``g`` first.

    ``first`` (int16) gets the first move on the way to each. Depth first; returns how many there are.
    """
    keys, stack = np.empty(MOST_STATES, np.int64), np.empty(MOST_STATES, np.int64)
    moves = np.empty(MOST_MOVES, np.int16)
    copy_record(states, 0, g)
    first[0], keys[0], stack[0] = NONE, fingerprint(g), 0
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
            keys[n] = fingerprint(states[n])
            if not _is_new(keys, n, keys[n]):
                continue
            first[n] = moves[k] if at == 0 else first[at]
            stack[depth] = n
            depth += 1
            n += 1
    return n
