"""The expert: looks at all ways to end its turn, and goes the one whose end is worth most.

What an end is worth are three forecasts, each a sum of weighted numbers of `outlook`: how often the seat closes the hand,
what it is charged, and what the others are. How much each counts follows from the totals of the match (`stakes`).
"""

import numpy as np

from agents.kernels.greedy import choose_greedy
from agents.kernels.outlook import NUM_CONTEXTS, NUM_FEATURES, Outlook, look_around, write_features
from agents.kernels.planning import MOST_STATES, reach
from agents.kernels.stakes import NUM_STAKES, write_stakes
from scala40_env.kernels.actions import DISCARD
from scala40_env.kernels.bits import keep
from scala40_env.kernels.islands import MOST_MOVES
from scala40_env.kernels.jit import Record, Records, kernel
from scala40_env.kernels.moves import ALL_RULES, discardable, emit_discards
from scala40_env.kernels.state import GAME, NONE, PLAY

__all__ = ["EXPERT_WEIGHTS", "FORECASTS", "TABLES", "choose_expert"]

#: What is forecast, and for how many seats there are weights: in the order in which they lie.
FORECASTS = ("win", "own", "others")
TABLES = ("two_seats", "more_seats")
#: The first weights are those of `greedy`, for draws and buying, and the stakes; then the tables of forecasts.
HEADER = 32
_GREEDY, _STAKES = 0, 8
_ROW = len(FORECASTS) * NUM_FEATURES
_TABLE = NUM_CONTEXTS * _ROW
EXPERT_WEIGHTS = HEADER + len(TABLES) * _TABLE

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
    valued = np.zeros((NUM_CONTEXTS, NUM_FEATURES + 1), np.int64)
    discards = np.empty(MOST_MOVES, np.int16)
    best, most = NONE, _NOTHING
    for at in range(n):
        count = _ends(states[at], discards)
        if count < 0:
            best = int(first[at])
            break
        if count == 0:
            continue
        if int(states[at]["hand_n"][int(g["turn"])]) == 1:
            best = int(first[at]) if at else int(discards[0])
            break
        action, value = _best_discard(states[at], discards, count, weights, valued)
        if value > most:
            best, most = int(first[at]) if at else action, value
    keep(states)
    return best


@kernel
def _ends(state: Record, discards: np.ndarray) -> int:
    """The discards that end the turn here: how many; -1 if the hand is closed already."""
    if int(state["phase"]) != PLAY:
        return -1
    bits, joker = discardable(state, ALL_RULES)
    return emit_discards(bits, joker, discards, 0)


@kernel
def _best_discard(
    state: Record, discards: np.ndarray, count: int, weights: np.ndarray, valued: np.ndarray
) -> tuple[int, int]:
    """The best discard of a state, and what the turn is worth that ends with it."""
    around = np.empty(Outlook, np.int64)
    features = np.empty(NUM_FEATURES, np.int64)
    look_around(state, around)
    best, most = NONE, _NOTHING
    for at in range(count):
        context = write_features(state, around, int(discards[at]) - DISCARD, features)
        if valued[context, NUM_FEATURES] == 0:
            _value_context(state, context, weights, valued)
        value = 0
        for f in range(NUM_FEATURES):
            value += features[f] * valued[context, f]
        if value > most:
            best, most = int(discards[at]), value
    return best, most


@kernel
def _value_context(g: Record, context: int, weights: np.ndarray, valued: np.ndarray) -> None:
    """Add the forecasts of a context up to one row of weights, by the stakes."""
    stakes = np.empty(NUM_STAKES, np.int64)
    write_stakes(g, weights[_STAKES:HEADER], stakes)
    start = HEADER + (0 if int(g["seats_in"]) == 2 else _TABLE) + context * _ROW
    for f in range(NUM_FEATURES):
        total = 0
        for forecast in range(NUM_STAKES):
            total += stakes[forecast] * weights[start + forecast * NUM_FEATURES + f]
        valued[context, f] = total
    valued[context, NUM_FEATURES] = 1
