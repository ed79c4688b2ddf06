"""The rewards that come with the package, as kernels over the record of a hand that has just ended.

They give the very same numbers as the functions of these names in `scala40_env.rewards`, where each is explained; the
batches of `batch` pay with them without coming back to Python.
"""

import numpy as np

from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.scoring import num_units
from scala40_env.kernels.state import MATCH_OVER, NONE, TEAM_WORST

__all__ = ["CUSTOM", "REWARD_NAMES", "hand_rewards", "write_rewards"]

ZERO_SUM_POINTS, NEGATIVE_POINTS, WIN_LOSS, PLACEMENT, MATCH_WIN_LOSS, POINTS_AND_WIN = range(6)
#: Names of the rewards, in the order of their numbers.
REWARD_NAMES = ("zero_sum_points", "negative_points", "win_loss", "placement", "match_win_loss", "points_and_win")
#: In place of a number: Python pays.
CUSTOM = -1
#: Points are divided by this (`scala40_env.rewards.SCALE`).
_SCALE = 100.0


@kernel
def _played(g: Record, unit: int) -> bool:
    """Whether a side played this hand: its first seat holds cards still or has closed; who was out was dealt none."""
    return int(g["hand_n"][unit]) > 0 or int(g["winner"]) == unit


@kernel
def _points(g: Record, unit: int) -> int:
    """What the hand charged a side. The closer is charged nothing; its bonus, if any, comes off the side's charge."""
    total, highest, bonus = 0, 0, 0
    for seat in range(unit, int(g["num_players"]), num_units(g)):
        points = int(g["hand_points"][seat])
        total += points
        highest = max(highest, points)
        bonus += min(points, 0)
    return highest + bonus if int(g["team_score"]) == TEAM_WORST else total


@kernel
def _num_played(g: Record) -> int:
    count = 0
    for unit in range(num_units(g)):
        count += 1 if _played(g, unit) else 0
    return count


@kernel
def _zero_sum_points(g: Record, unit: int) -> float:
    if not _played(g, unit):
        return 0.0
    total, count = 0, _num_played(g)
    for other in range(num_units(g)):
        total += _points(g, other) if _played(g, other) else 0
    return (total - count * _points(g, unit)) / (max(count - 1, 1) * _SCALE)


@kernel
def _negative_points(g: Record, unit: int) -> float:
    return -_points(g, unit) / _SCALE if _played(g, unit) else 0.0


@kernel
def _win_loss(g: Record, unit: int) -> float:
    winner = int(g["winner"])
    if winner == NONE or not _played(g, unit):
        return 0.0
    return 1.0 if winner % num_units(g) == unit else -1.0 / max(_num_played(g) - 1, 1)


@kernel
def _placement(g: Record, unit: int) -> float:
    if not _played(g, unit):
        return 0.0
    ahead, own = 0, _points(g, unit)
    for other in range(num_units(g)):
        if _played(g, other):
            points = _points(g, other)
            ahead += (1 if own < points else 0) - (1 if own > points else 0)
    return ahead / max(_num_played(g) - 1, 1)


@kernel
def _match_win_loss(g: Record, unit: int) -> float:
    units, champions = num_units(g), 0
    for other in range(units):
        champions += int(g["champion"][other])
    if champions == units or not _played(g, unit):
        return 0.0
    if int(g["champion"][unit]):
        return 1.0 / champions
    lost = int(g["phase"]) == MATCH_OVER or int(g["out"][unit]) != 0
    return -1.0 / (units - max(champions, 1)) if lost else 0.0


@kernel
def _reward(kind: int, g: Record, unit: int) -> float:
    if kind == ZERO_SUM_POINTS:
        return _zero_sum_points(g, unit)
    if kind == NEGATIVE_POINTS:
        return _negative_points(g, unit)
    if kind == WIN_LOSS:
        return _win_loss(g, unit)
    if kind == PLACEMENT:
        return _placement(g, unit)
    if kind == POINTS_AND_WIN:
        return _zero_sum_points(g, unit) + 0.5 * _win_loss(g, unit)
    return _match_win_loss(g, unit)


@kernel
def write_rewards(kind: int, g: Record, out: np.ndarray) -> None:
    """Write what the hand that is over is worth to each seat into ``out`` (float64, as many as there are seats)."""
    units = num_units(g)
    for seat in range(int(g["num_players"])):
        out[seat] = _reward(kind, g, seat) if seat < units else out[seat % units]


@entry
def hand_rewards(kind: int, games: Records, i: int, out: np.ndarray) -> None:
    """`write_rewards` for game ``i``, called from Python."""
    write_rewards(kind, games[i], out)
