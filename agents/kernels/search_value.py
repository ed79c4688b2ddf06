"""What a hand that has been played out is worth to the seat that searches."""

import numpy as np

from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.rewards import write_rewards
from scala40_env.kernels.state import MAX_SEATS

__all__ = ["VALUES", "value_of"]

#: The points by which the others are charged more, over 100; one for a hand won; the chance to win the match.
POINTS, WIN, MATCH = range(3)
#: Names of the values, in the order of their numbers.
VALUES = ("points", "win", "match")
_REWARDS = np.array([0, 2, 0], np.int64)


@kernel
def value_of(g: Record, seat: int, kind: int) -> float:
    """The value of a hand that is over to a seat."""
    out = np.empty(MAX_SEATS, np.float64)
    write_rewards(int(_REWARDS[kind]), g, out)
    return out[seat]
