"""Playing many games in one call, as long as scripted agents are on move.

An agent chooses on a scrubbed view of the game, never on the game itself: what it can't see, it can't use.
"""

import numpy as np

from agents.kernels.choice import choose
from scala40_env.kernels.engine import apply_action
from scala40_env.kernels.jit import Records, entry, kernel
from scala40_env.kernels.legality import MOST_MOVES
from scala40_env.kernels.phases import is_over
from scala40_env.kernels.view import write_view

__all__ = ["ENDED", "EXTERNAL", "LOG_FULL", "STUCK", "play_on"]

#: Why a game stopped: its hand is over; an agent outside has to choose; its log is full; nobody can move.
ENDED, EXTERNAL, LOG_FULL, STUCK = range(4)


@kernel
def _play_game(
    games: Records,
    i: int,
    agents: np.ndarray,
    kinds: np.ndarray,
    weights: np.ndarray,
    keys: np.ndarray,
    logs: np.ndarray,
    lengths: np.ndarray,
    views: Records,
    moves: np.ndarray,
) -> int:
    """Play game ``i`` on; returns why it stopped."""
    g = games[i]
    while True:
        if is_over(g):
            return ENDED
        seat, count = int(g["turn"]), int(lengths[i])
        kind = int(kinds[agents[i, seat]])
        if kind < 0:
            return EXTERNAL
        if count == logs.shape[1]:
            return LOG_FULL
        write_view(games, i, seat, views, 0)
        action = choose(kind, views, 0, weights[agents[i, seat]], keys[i, seat], count, moves)
        if action < 0:
            return STUCK
        logs[i, count] = action
        lengths[i] = count + 1
        apply_action(g, action)


@entry
def play_on(
    games: Records,
    which: np.ndarray,
    agents: np.ndarray,
    kinds: np.ndarray,
    weights: np.ndarray,
    keys: np.ndarray,
    logs: np.ndarray,
    lengths: np.ndarray,
    views: Records,
    stops: np.ndarray,
) -> None:
    """Play the games of ``which`` (int64[n]) on, each until it stops; writes why into ``stops`` (int8, by game).

    ``agents`` (int64[games, seats]) are rows of ``kinds`` (int64; -1: an agent outside) and ``weights``
    (int64[rows, NUM_WEIGHTS]); ``keys`` (uint64[games, seats]) those of the agents' generators, in this hand. The
    actions go to ``logs`` (int16[games, room]), whose lengths so far are ``lengths`` (int64).
    """
    moves = np.empty(MOST_MOVES, np.int16)
    for at in range(len(which)):
        i = int(which[at])
        stops[i] = _play_game(games, i, agents, kinds, weights, keys, logs, lengths, views, moves)
