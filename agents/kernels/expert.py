"""The expert: looks at all ways to end its turn, and goes the one whose end is worth most.

What an end is worth are three forecasts that a small net makes of the numbers of `outlook`: how often the seat closes
the hand, what it is charged, and what the others are. How much each counts follows from the totals of the match
(`stakes`).
"""

import numpy as np

from agents.kernels.greedy import choose_greedy
from agents.kernels.outlook import NUM_CONTEXTS, NUM_FEATURES, OUTLOOK, look_around, write_features
from agents.kernels.planning import MOST_STATES, reach
from agents.kernels.stakes import NUM_STAKES, STAKES, write_stakes
from scala40_env.kernels.actions import DISCARD
from scala40_env.kernels.bits import keep
from scala40_env.kernels.islands import MOST_MOVES
from scala40_env.kernels.jit import Record, Records, kernel
from scala40_env.kernels.moves import ALL_RULES, discardable, emit_discards
from scala40_env.kernels.state import GAME, NONE, PLAY

__all__ = [
    "EXPERT_WEIGHTS",
    "FORECASTS",
    "HEADER",
    "HIDDEN",
    "STAKES_AT",
    "TABLES",
    "UNIT_SHIFT",
    "WORTH",
    "add_forecasts",
    "choose_expert",
    "ends_of",
    "sum_units",
    "table_of",
    "value_of",
]

#: What is forecast, and for how many seats there are weights: in the order in which they lie.
FORECASTS = ("win", "own", "others")
TABLES = ("two_seats", "more_seats")
#: Units of the hidden layer between the numbers and the forecasts.
HIDDEN = 32
#: The first weights are those of `greedy`, for draws and buying, and the stakes by table; then come the tables.
HEADER = 32
STAKES_AT = 8
#: Where the parts of a table begin: of the hidden units by feature and by context, of the forecasts by hidden unit,
#: by feature and by context.
_UNITS, _UNIT_BIAS = 0, NUM_FEATURES * HIDDEN
_OUT = _UNIT_BIAS + NUM_CONTEXTS * HIDDEN
_DIRECT = _OUT + len(FORECASTS) * HIDDEN
_BIAS = _DIRECT + len(FORECASTS) * NUM_FEATURES
TABLE = _BIAS + len(FORECASTS) * NUM_CONTEXTS
EXPERT_WEIGHTS = HEADER + len(TABLES) * TABLE
#: Hidden units count in this much of the weights' unit.
UNIT_SHIFT = 8

_NOTHING = -(1 << 62)


@kernel
def choose_expert(views: Records, k: int, moves: np.ndarray, n: int, weights: np.ndarray) -> int:
    """The move of the expert in view ``k``, one of the first ``n`` of ``moves``."""
    if int(views[k]["phase"]) == PLAY:
        move = _plan(views[k], weights)
        if move != NONE:
            return move
    return choose_greedy(views, k, moves, n, weights)


# ---------------------------------------------------------------------------------------------------------------------
# Ends of the turn


@kernel
def _plan(g: Record, weights: np.ndarray) -> int:
    """The first move on the best way to end the turn; NONE if none is found, as when the attaching ban is lifted."""
    states = np.empty(MOST_STATES, GAME)
    first = np.empty(MOST_STATES, np.int16)
    n = reach(g, states, first)
    table = table_of(g, weights)
    worth = np.empty(WORTH, np.int64)
    add_forecasts(g, weights, table, worth)
    discards = np.empty(MOST_MOVES, np.int16)
    best, most = NONE, _NOTHING
    for at in range(n):
        count = ends_of(states[at], discards)
        if count < 0:
            best = int(first[at])
            break
        if count == 0:
            continue
        if int(states[at]["hand_n"][int(g["turn"])]) == 1:
            best = int(first[at]) if at else int(discards[0])
            break
        action, value = _best_discard(states[at], discards, count, table, worth)
        if value > most:
            best, most = int(first[at]) if at else action, value
    keep(states)
    return best


@kernel
def ends_of(state: Record, discards: np.ndarray) -> int:
    """The discards that end the turn here: how many; -1 if the hand is closed already."""
    if int(state["phase"]) != PLAY:
        return -1
    bits, joker = discardable(state, ALL_RULES)
    return emit_discards(bits, joker, discards, 0)


@kernel
def _best_discard(
    state: Record, discards: np.ndarray, count: int, table: np.ndarray, worth: np.ndarray
) -> tuple[int, int]:
    """The best discard of a state, and what the turn is worth that ends with it."""
    around = np.empty(OUTLOOK, np.int64)
    features, summed = np.empty(NUM_FEATURES, np.int64), np.zeros(NUM_FEATURES, np.int64)
    units = np.zeros(HIDDEN, np.int64)
    look_around(state, around)
    best, most = NONE, _NOTHING
    for at in range(count):
        context = write_features(state, around, int(discards[at]) - DISCARD, features)
        sum_units(table, features, summed, units)
        value = value_of(table, worth, context, features, units)
        if value > most:
            best, most = int(discards[at]), value
    return best, most


# ---------------------------------------------------------------------------------------------------------------------
# The forecasts

#: What a hidden unit, a feature and a context are worth, all forecasts added up by the stakes.
_OF_UNITS, _OF_FEATURES = 0, HIDDEN
_OF_CONTEXTS = _OF_FEATURES + NUM_FEATURES
WORTH = _OF_CONTEXTS + NUM_CONTEXTS


@kernel
def _row_of(g: Record) -> int:
    """Which of `TABLES` holds for so many seats."""
    return 0 if int(g["seats_in"]) == 2 else 1


@kernel
def table_of(g: Record, weights: np.ndarray) -> np.ndarray:
    """The weights of the forecasts for so many seats."""
    return weights[HEADER + _row_of(g) * TABLE :]


@kernel
def add_forecasts(g: Record, weights: np.ndarray, table: np.ndarray, worth: np.ndarray) -> None:
    """Add the forecasts up to one worth, by the stakes."""
    stakes = np.empty(NUM_STAKES, np.int64)
    write_stakes(g, weights[STAKES_AT + _row_of(g) * len(STAKES) :], stakes)
    _add_up(stakes, table[_OUT:], HIDDEN, worth[_OF_UNITS:])
    _add_up(stakes, table[_DIRECT:], NUM_FEATURES, worth[_OF_FEATURES:])
    _add_up(stakes, table[_BIAS:], NUM_CONTEXTS, worth[_OF_CONTEXTS:])


@kernel
def _add_up(stakes: np.ndarray, parts: np.ndarray, size: int, worth: np.ndarray) -> None:
    for at in range(size):
        worth[at] = stakes[0] * parts[at] + stakes[1] * parts[size + at] + stakes[2] * parts[2 * size + at]


@kernel
def sum_units(table: np.ndarray, features: np.ndarray, summed: np.ndarray, units: np.ndarray) -> None:
    """Bring the sums of the hidden units from the features ``summed`` to these: most of them do not change."""
    for f in range(NUM_FEATURES):
        change = features[f] - summed[f]
        if change:
            summed[f] = features[f]
            for h in range(HIDDEN):
                units[h] += change * table[f * HIDDEN + h]


@kernel
def value_of(table: np.ndarray, worth: np.ndarray, context: int, features: np.ndarray, units: np.ndarray) -> int:
    """What an end of the turn is worth."""
    value = worth[_OF_CONTEXTS + context]
    for f in range(NUM_FEATURES):
        value += features[f] * worth[_OF_FEATURES + f]
    bias = _UNIT_BIAS + context * HIDDEN
    for h in range(HIDDEN):
        unit = units[h] + table[bias + h]
        if unit > 0:
            value += (unit >> UNIT_SHIFT) * worth[_OF_UNITS + h]
    return value
