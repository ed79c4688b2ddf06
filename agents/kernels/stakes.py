"""What is at stake for a seat: what winning the hand, its own points and those of the others count.

The totals of the match say how much a point counts. Where the rules charge a flat sum to who has not opened, it takes
the place of the points of such a hand.
"""

import numpy as np

from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.scoring import unit_of
from scala40_env.kernels.state import ELIMINATION, NONE, TOTAL

__all__ = ["NUM_STAKES", "ROOMS", "STAKES", "write_stakes"]

#: Of the win, the own points and the points of the others; then of ending the hand unopened and of the points of such a
#: hand, the own and the others'.
NUM_STAKES = 7
#: Points to the limit from which on a total counts as one step further from it.
ROOMS = (10, 30, 60)
_STEPS = ("at the limit", "near the limit", "on the way", "far from the limit", "without limit")
_NO_LIMIT = len(_STEPS) - 1
#: Names of the weights.
STAKES = (
    "win",
    *(f"own points {step}" for step in _STEPS),
    *(f"others' points {step}" for step in _STEPS),
)
_WIN, _OWN, _OTHERS = 0, 1, 1 + len(_STEPS)


@kernel
def _step(g: Record, seat: int) -> int:
    """How far a total is from the limit, as a place of the steps."""
    form = int(g["match"])
    if form not in (ELIMINATION, TOTAL):
        return _NO_LIMIT
    room, step = int(g["limit"]) - int(g["scores"][seat]), 0
    for least in ROOMS:
        step += 1 if room >= least else 0
    return step


@kernel
def write_stakes(g: Record, weights: np.ndarray, stakes: np.ndarray) -> None:
    """Write what the forecasts count (int64[NUM_STAKES]) for the seat to move."""
    seat = int(g["turn"])
    total, rivals = 0, 0
    for other in range(int(g["num_players"])):
        if int(g["out"][other]) == 0 and unit_of(g, other) != unit_of(g, seat):
            total += weights[_OTHERS + _step(g, other)]
            rivals += 1
    stakes[0] = weights[_WIN]
    stakes[1] = -weights[_OWN + _step(g, seat)]
    stakes[2] = total // max(rivals * rivals, 1)  # the forecast is of the sum of their points
    flat = int(g["unopened_points"])
    for side in range(2):  # the points forecast of unopened hands give way to the flat sum
        stakes[3 + 2 * side] = 0 if flat == NONE else flat * stakes[1 + side]
        stakes[4 + 2 * side] = 0 if flat == NONE else -stakes[1 + side]
