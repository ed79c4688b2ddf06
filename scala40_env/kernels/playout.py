"""Whole runs of random play inside one kernel: what the benchmark times, and the quickest way to reach positions."""

import numpy as np

from scala40_env.kernels.bits import copy_record
from scala40_env.kernels.engine import apply_action, next_hand, start_match
from scala40_env.kernels.islands import MOST_MOVES
from scala40_env.kernels.jit import Records, entry, kernel
from scala40_env.kernels.legality import legal_moves
from scala40_env.kernels.random import below, philox
from scala40_env.kernels.state import HAND_OVER, MATCH_OVER

__all__ = ["play_random"]


@kernel
def go_on(games: Records, i: int) -> bool:
    """Deal the next hand, or begin a new match with the next seed, where one is over; whether a hand had ended."""
    phase = int(games[i]["phase"])
    if phase == HAND_OVER:
        next_hand(games, i)
        return True
    if phase == MATCH_OVER:
        games[i]["seed"] += np.uint64(1)
        start_match(games, i)
        return True
    return False


@entry
def play_random(games: Records, i: int, decisions: int, seed: int, mask: np.ndarray, copies: Records) -> int:
    """Play random legal moves in game ``i``, one match after another; returns how many hands ended.

    At every decision the mask is written into ``mask`` (int8, as long as the action space; empty: no mask), and the
    record is copied into ``copies`` if that holds one: what an observation of that size would cost at least.
    """
    moves = np.empty(MOST_MOVES, np.int16)
    g = games[i]
    hands = 0
    for at in range(decisions):
        if go_on(games, i):
            hands += 1
        n = legal_moves(g, moves)
        if len(mask):
            mask[:] = 0
            for k in range(n):
                mask[moves[k]] = 1
        if len(copies):
            copy_record(copies, 0, g)
        apply_action(g, int(moves[below(philox(seed, 0, i, at)[0], n)]))
    return hands
