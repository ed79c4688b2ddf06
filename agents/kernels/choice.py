"""Which scripted agent plays how: `choose` picks the move of any of them by its number."""

import numpy as np

from agents.kernels.greedy import choose_greedy
from scala40_env.kernels.jit import Records, entry, kernel
from scala40_env.kernels.legality import MOST_MOVES, legal_moves
from scala40_env.kernels.random import below, philox

__all__ = ["GREEDY", "NUM_WEIGHTS", "RANDOM", "choose", "choose_in_view"]

RANDOM, GREEDY = range(2)
#: Length of a row of weights; agents with fewer leave the rest zero.
NUM_WEIGHTS = 16
#: Stream of an agent's generator; the words of `hand` are its decisions.
_CHOICE = 1


@kernel
def choose(kind: int, views: Records, k: int, weights: np.ndarray, key: int, count: int, moves: np.ndarray) -> int:
    """The move of an agent in view ``k``: ``key`` and ``count`` (of the moves so far) are what chance depends on.

    ``moves`` (int16[1045]) is room for the legal moves; -1 if there is none.
    """
    n = legal_moves(views[k], moves)
    if n == 0:
        return -1
    if n == 1:
        return int(moves[0])
    if kind == GREEDY:
        return choose_greedy(views, k, moves, n, weights)
    return int(moves[below(philox(key, count, _CHOICE, 0)[0], n)])


@entry
def choose_in_view(kind: int, views: Records, k: int, weights: np.ndarray, key: int, count: int) -> int:
    """`choose` for one decision, called from Python."""
    return choose(kind, views, k, weights, key, count, np.empty(MOST_MOVES, np.int16))
