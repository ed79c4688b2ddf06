"""One game, one call a step: what the scalar environment of `scala40_env.aec` is made of.

A call from Python costs as much as the work in it, so playing, looking and asking for the legal moves are one.
"""

import numpy as np

from scala40_env.kernels.engine import apply_action
from scala40_env.kernels.islands import MOST_MOVES
from scala40_env.kernels.jit import Records, entry, kernel
from scala40_env.kernels.legality import legal_moves
from scala40_env.kernels.observation import observe
from scala40_env.kernels.phases import is_over
from scala40_env.kernels.state import NONE

__all__ = ["look", "play"]


@kernel
def _look(games: Records, i: int, layout: Records, observation: np.ndarray, mask: np.ndarray) -> int:
    g = games[i]
    seat = int(g["turn"])
    observe(g, seat, layout, observation)
    mask[:] = 0
    if is_over(g):
        return NONE
    moves = np.empty(MOST_MOVES, np.int16)
    for at in range(legal_moves(g, moves)):
        mask[moves[at]] = 1
    return seat


@entry
def look(games: Records, i: int, layout: Records, observation: np.ndarray, mask: np.ndarray) -> int:
    """Write what the seat on move in game ``i`` sees and may do; returns that seat, NONE when the hand is over.

    ``observation``: int8[size] by the ``layout`` of an observation schema; ``mask``: int8, as long as the action space.
    """
    return _look(games, i, layout, observation, mask)


@entry
def play(games: Records, i: int, action: int, layout: Records, observation: np.ndarray, mask: np.ndarray) -> int:
    """Play a legal action in game ``i``, and `look`."""
    apply_action(games[i], action)
    return _look(games, i, layout, observation, mask)
