"""What a hand that has been played out is worth to the seat that searches."""

import numpy as np

from agents.kernels.expert import FORECAST_BITS, FORECAST_MASK
from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.rewards import REWARD_NAMES, write_rewards
from scala40_env.kernels.scoring import num_units, unit_of
from scala40_env.kernels.state import HANDS, MATCH_OVER, MAX_SEATS, SINGLE_HAND

__all__ = ["VALUES", "forecast_value", "value_of"]

#: By how many points more than oneself the others are charged, over 100; one for a hand won; the chance of the match.
POINTS, WIN, MATCH = range(3)
#: Names of the values, in the order of their numbers.
VALUES = ("points", "win", "match")

_ZERO_SUM, _WIN_LOSS = REWARD_NAMES.index("zero_sum_points"), REWARD_NAMES.index("win_loss")
#: The chance of a side grows with the points that it has left, and this share of the limit, to this power: fitted to
#: matches of `greedy` for 2 to 4 seats and limits of 101 and 201.
_CUSHION, _POWER = 0.25, 1.5
#: Points of difference that a hand decides, for matches of a number of hands.
_SPREAD = 25.0
#: Half a point in the units of the rewards: a hand won or lost is 1 or -1 there.
_HALF_A_POINT = 0.005
#: Units of the forecasts of a hand won, and of a point.
_A_HAND, _A_POINT = 10_000.0, 1_000.0
#: Forecasts are divided by chances, which are never taken for less.
_LEAST_CHANCE = 0.05


@kernel
def _weight(g: Record, unit: int, more: float) -> float:
    """How likely a side is to win the match that goes on, with so many points more, up to a factor; 0 if it is out."""
    if int(g["out"][unit]):
        return 0.0
    score = float(g["scores"][unit]) + more
    if int(g["match"]) == HANDS:
        left = max(int(g["num_hands"]) - int(g["hand_no"]) - 1, 1)
        return np.exp(-score / (_SPREAD * np.sqrt(left)))
    limit = float(g["limit"])
    return max(limit * (1.0 + _CUSHION) - score, 1.0) ** _POWER


@kernel
def _match_value(g: Record, seat: int, own: float, others: float) -> float:
    """The chance of a seat's side to win the match if it and all others are charged so many points more."""
    units, chance, total = num_units(g), 0.0, 0.0
    over = int(g["phase"]) == MATCH_OVER
    for unit in range(units):
        mine = unit == unit_of(g, seat)
        weight = float(g["champion"][unit]) if over else _weight(g, unit, own if mine else others)
        total += weight
        chance += weight if mine else 0.0
    return chance / total if total > 0.0 else 0.0


@kernel
def value_of(g: Record, seat: int, kind: int, bonus: int) -> float:
    """The value of a hand that is over to a seat; ``bonus`` points more between closing it and another closing it."""
    if kind == MATCH and int(g["match"]) != SINGLE_HAND:
        return _match_value(g, seat, 0.0, 0.0)
    out = np.zeros(MAX_SEATS, np.float64)
    write_rewards(_WIN_LOSS, g, out)
    won = out[seat]
    if kind == WIN:
        return won
    write_rewards(_ZERO_SUM, g, out)
    return out[seat] + won * bonus * _HALF_A_POINT


@kernel
def _match_forecast(g: Record, seat: int, rivals: int, win: float, own: float, others: float) -> float:
    """The chance of the match over the two ways in which the hand may end: the seat closes, or another does."""
    lost = own / max(1.0 - win, _LEAST_CHANCE)
    caught = others / max(rivals - 1 + win, _LEAST_CHANCE)  # what a rival is charged that does not close
    won = _match_value(g, seat, 0.0, caught)
    return win * won + (1.0 - win) * _match_value(g, seat, lost, caught * (rivals - 1) / rivals)


@kernel
def forecast_value(g: Record, seat: int, kind: int, bonus: int, packed: int) -> float:
    """The same for a hand that goes on, by the forecasts of `expert.forecast_turn`. Every seat plays for itself."""
    win = min((packed >> 2 * FORECAST_BITS) / _A_HAND, 1.0)
    own, others = (packed >> FORECAST_BITS & FORECAST_MASK) / _A_POINT, (packed & FORECAST_MASK) / _A_POINT
    rivals = max(int(g["seats_in"]) - 1, 1)
    if kind == MATCH and int(g["match"]) != SINGLE_HAND:
        return _match_forecast(g, seat, rivals, win, own, others)
    won = win - (1.0 - win) / rivals
    if kind == WIN:
        return won
    return (others / rivals - own) / 100.0 + won * bonus * _HALF_A_POINT
