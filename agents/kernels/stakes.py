"""What is at stake for a seat: how much winning the hand, its own points and the others' count by the totals."""

import numpy as np

from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.scoring import unit_of
from scala40_env.kernels.state import ELIMINATION, TOTAL

__all__ = ["NUM_STAKES", "ROOMS", "STAKES", "write_stakes"]

#: Weights of the win, the own points and the points of the others.
NUM_STAKES = 3
#: Points to the limit, from which on a total counts as one step further from it.
ROOMS = (10, 30, 60)
#: Names of the weights.
STAKES = (
    "win",
    *(f"own {room}" for room in ("at the limit", "near the limit", "on the way", "free")),
    *(f"others {room}" for room in ("at the limit", "near the limit", "on the way", "free")),
)
_WIN, _OWN, _OTHERS = 0, 1, 1 + len(ROOMS) + 1
_FREE = len(ROOMS)


@kernel
def _step(g: Record, seat: int) -> int:
    """How far a total is from the limit, in steps; the last one where no limit counts."""
    form = int(g["match"])
    if form not in (ELIMINATION, TOTAL):
        return _FREE
    room, step = int(g["limit"]) - int(g["scores"][seat]), 0
    for least in ROOMS:
        step += 1 if room >= least else 0
    return step


@kernel
def write_stakes(g: Record, weights: np.ndarray, stakes: np.ndarray) -> None:
    """Write what the three forecasts count (int64[NUM_STAKES]) for the seat to move."""
    seat = int(g["turn"])
    total, rivals = 0, 0
    for other in range(int(g["num_players"])):
        if int(g["out"][other]) == 0 and unit_of(g, other) != unit_of(g, seat):
            total += weights[_OTHERS + _step(g, other)]
            rivals += 1
    stakes[0] = weights[_WIN]
    stakes[1] = -weights[_OWN + _step(g, seat)]
    stakes[2] = total // max(rivals * rivals, 1)  # the forecast is of the sum of their points
