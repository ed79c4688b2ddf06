"""The expert: looks at all ways to end its turn, and goes the one whose end is worth most.

It draws by the same measure: the pozzo card, if the turn is worth more with it than with a card from the stock.

A small net forecasts from the numbers of `outlook` how the hand will end: how often the seat closes it, what the seat
and the others are charged, and how much of that unopened. How much each counts follows from the rules and the totals
of the match (`stakes`).
"""

import numpy as np

from agents.kernels.greedy import choose_greedy
from agents.kernels.outlook import (
    NUM_CONTEXTS,
    NUM_FEATURES,
    OUTLOOK,
    look_around,
    write_features,
)
from agents.kernels.planning import MOST_STATES, first_move, reach
from agents.kernels.stakes import NUM_STAKES, STAKES, write_stakes
from agents.kernels.units import HIDDEN, ROOM, sum_units, value_of_features, value_of_units
from agents.kernels.worth import seen_cards
from scala40_env.kernels.actions import DISCARD, POZZO, STOCK
from scala40_env.kernels.bits import copy_record, keep
from scala40_env.kernels.engine import apply_action
from scala40_env.kernels.hands import give
from scala40_env.kernels.islands import MOST_MOVES, address_of, game_at, island, words_at
from scala40_env.kernels.jit import Record, Records, kernel
from scala40_env.kernels.lanes import bit_of
from scala40_env.kernels.moves import ALL_RULES, discardable, emit_discards
from scala40_env.kernels.state import DRAW, GAME, JOKER, NONE, PLAY

__all__ = [
    "EXPERT_WEIGHTS",
    "FORECASTS",
    "FORECAST_BITS",
    "FORECAST_MASK",
    "HEADER",
    "STAKES_AT",
    "TABLES",
    "WORTH",
    "add_forecasts",
    "choose_expert",
    "ends_of",
    "forecast_turn",
    "table_of",
    "value_of",
]

#: What is forecast, and for how many seats there are weights: in the order in which they lie.
FORECASTS = (
    "win",
    "own",
    "others",
    "own unopened",
    "own unopened points",
    "others unopened",
    "others unopened points",
)
TABLES = ("two_seats", "more_seats")
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

#: Of a forecast that is handed on: this part of the weights' unit, in so many bits.
_OF_A_FORECAST, FORECAST_BITS = 10, 21
#: Those that are: hands won, own points, the others'.
_HANDED_ON = 3
FORECAST_MASK = (1 << FORECAST_BITS) - 1

_NOTHING = -(1 << 62)
#: A turn's worth and its first move go in one number: the move in the low bits, the worth above them, within bounds.
_MOVE_BITS = 11
_MOST_WORTH = 1 << 51


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
    stakes, own = np.empty(NUM_STAKES, np.int64), weights[STAKES_AT + _row_of(g) * len(STAKES) :]
    write_stakes(g, own, stakes)
    _add_up(stakes, table[_OUT:], HIDDEN, worth[_OF_UNITS:])
    _add_up(stakes, table[_DIRECT:], NUM_FEATURES, worth[_OF_FEATURES:])
    _add_up(stakes, table[_BIAS:], NUM_CONTEXTS, worth[_OF_CONTEXTS:])


@kernel
def _add_up(stakes: np.ndarray, parts: np.ndarray, size: int, worth: np.ndarray) -> None:
    for at in range(size):
        total = 0
        for forecast in range(NUM_STAKES):
            total += stakes[forecast] * parts[forecast * size + at]
        worth[at] = total


@kernel
def value_of(table: np.ndarray, worth: np.ndarray, context: int, features: np.ndarray, units: np.ndarray) -> int:
    """What an end of the turn is worth."""
    value = worth[_OF_CONTEXTS + context] + value_of_features(features, worth[_OF_FEATURES:])
    return value + value_of_units(units, table[_UNIT_BIAS + context * HIDDEN :], worth[_OF_UNITS:])


# ---------------------------------------------------------------------------------------------------------------------
# Ends of the turn


@kernel
def ends_of(state: Record, discards: np.ndarray) -> int:
    """The discards that end the turn here: how many; -1 if the hand is closed already."""
    if int(state["phase"]) != PLAY:
        return -1
    bits, joker = discardable(state, ALL_RULES)
    return emit_discards(bits, joker, discards, 0)


@kernel
def _best_discard(
    state: Record,
    discards: np.ndarray,
    count: int,
    table: np.ndarray,
    worth: np.ndarray,
    around: np.ndarray,
    features: np.ndarray,
    summed: np.ndarray,
    units: np.ndarray,
) -> tuple[int, int]:
    """The best discard of a state, and what the turn is worth that ends with it.

    The last four are room for `look_around`, `write_features` and `sum_units`, made once for all states.
    """
    look_around(state, around)
    best, most = NONE, _NOTHING
    for at in range(count):
        context = write_features(state, around, int(discards[at]) - DISCARD, features)
        sum_units(table, features, summed, units)
        value = value_of(table, worth, context, features, units)
        if value > most:
            best, most = int(discards[at]), value
    return best, most


@kernel
def _best_end(g: Record, states: Records, n: int, weights: np.ndarray) -> tuple[int, int, int]:
    """Where the best end of the turn is, of these states, its discard and its worth.

    Closing is worth `_MOST_WORTH`; the discard is NONE where the hand is closed already. NONE, NONE and `_NOTHING` if
    there is no end, as when the attaching ban is lifted.
    """
    table, worth = table_of(g, weights), np.empty(WORTH, np.int64)
    add_forecasts(g, weights, table, worth)
    discards, around = np.empty(MOST_MOVES, np.int16), np.empty(OUTLOOK, np.int64)
    features, summed = np.zeros(ROOM, np.int64), np.zeros(ROOM, np.int64)
    units, best, discard, most = np.zeros(HIDDEN, np.int64), NONE, NONE, _NOTHING
    for at in range(n):
        count = ends_of(states[at], discards)
        if count < 0:
            return at, NONE, _MOST_WORTH
        if count == 0:
            continue
        if int(states[at]["hand_n"][int(g["turn"])]) == 1:
            return at, int(discards[0]), _MOST_WORTH
        action, value = _best_discard(states[at], discards, count, table, worth, around, features, summed, units)
        if value > most:
            best, discard, most = at, action, value
    return best, discard, most


@island
def _plan(address: int, weights_address: int) -> int:
    """The worth of the best way to end the turn and the first move on it, to be read by `_worth_of` and `_move_of`.

    Closing is worth `_MOST_WORTH`; the move is NONE if no way is found.
    """
    g = game_at(address)
    states, ways = np.empty(MOST_STATES, GAME), np.empty((MOST_STATES, 2), np.int16)
    n = reach(g, states, ways)
    at, discard, most = _best_end(g, states, n, words_at(weights_address, EXPERT_WEIGHTS))
    keep(states)
    move = first_move(ways, at) if at > 0 else discard
    return min(max(most, 1 - _MOST_WORTH), _MOST_WORTH) << _MOVE_BITS | (move - NONE)


@kernel
def _move_of(plan: int) -> int:
    return (plan & ((1 << _MOVE_BITS) - 1)) + NONE


@kernel
def _worth_of(plan: int) -> int:
    return plan >> _MOVE_BITS


# ---------------------------------------------------------------------------------------------------------------------
# What is forecast for the best end


@kernel
def _forecast(which: int, table: np.ndarray, context: int, features: np.ndarray, units: np.ndarray) -> int:
    """One of the forecasts, in its weights' unit."""
    value = table[_BIAS + which * NUM_CONTEXTS + context]
    value += value_of_features(features, table[_DIRECT + which * NUM_FEATURES :])
    return value + value_of_units(units, table[_UNIT_BIAS + context * HIDDEN :], table[_OUT + which * HIDDEN :])


@kernel
def _packed(state: Record, discard: int, weights: np.ndarray) -> int:
    """The forecasts for the end of a turn in one number, as `forecast_turn` gives them."""
    around, table = np.empty(OUTLOOK, np.int64), table_of(state, weights)
    features, summed = np.zeros(ROOM, np.int64), np.zeros(ROOM, np.int64)
    units, packed = np.zeros(HIDDEN, np.int64), 0
    look_around(state, around)
    context = write_features(state, around, discard - DISCARD, features)
    sum_units(table, features, summed, units)
    for which in range(_HANDED_ON):
        value = _forecast(which, table, context, features, units)
        packed = packed << FORECAST_BITS | min(max(value // _OF_A_FORECAST, 0), FORECAST_MASK)
    return packed


@island
def _forecast_island(address: int, weights_address: int) -> int:
    g, weights = game_at(address), words_at(weights_address, EXPERT_WEIGHTS)
    states, ways = np.empty(MOST_STATES, GAME), np.empty((MOST_STATES, 2), np.int16)
    n = reach(g, states, ways)
    at, discard, _ = _best_end(g, states, n, weights)
    left = 1 if at == NONE or discard == NONE else int(states[at]["hand_n"][int(g["turn"])])
    packed = NONE if left == 1 else _packed(states[at], discard, weights)
    keep(states)
    return packed


@kernel
def forecast_turn(g: Record, weights: np.ndarray) -> int:
    """The three forecasts for the best end of the turn that begins here, `FORECAST_BITS` each, hands won first.

    In units of a 10,000th hand and a 1,000th point. NONE if the hand can be closed in this turn, or no end is found.
    """
    return _forecast_island(address_of(g), address_of(weights))


# ---------------------------------------------------------------------------------------------------------------------
# Drawing

#: So many cards stand for the stock, one in so many of the deck's order that all suits and ranks have their share.
_CARDS_OF_STOCK, _NEXT_CARD = 4, 17
#: What closing gives more than any other end, in hundred thousandths of a hand won.
_CLOSING_GAIN = 80_000


@kernel
def _gain_of_stock(g: Record, trial: Records, weights: np.ndarray, taken: int) -> int:
    """What some unseen cards would make of the turn, less what it is worth if the pozzo card is ``taken``: the sum."""
    seat, gain, cards = int(g["turn"]), 0, 0
    seen = seen_cards(g, seat)[1]
    closing = weights[STAKES_AT + _row_of(g) * len(STAKES)] * _CLOSING_GAIN
    for at in range(JOKER):
        card = at * _NEXT_CARD % JOKER
        if cards == _CARDS_OF_STOCK or seen & bit_of(card):
            continue
        cards += 1
        copy_record(trial, 0, g)
        give(trial[0], seat, card)
        trial[0]["phase"] = PLAY
        worth = _worth_of(_plan(address_of(trial[0]), address_of(weights)))
        gain += closing if worth == _MOST_WORTH else worth - taken
    return gain


@kernel
def _draw(g: Record, weights: np.ndarray) -> int:
    """Take the pozzo card, unless the turn is worth more with a card from the stock."""
    trial = np.empty(1, GAME)
    copy_record(trial, 0, g)
    apply_action(trial[0], POZZO)
    taken = _worth_of(_plan(address_of(trial[0]), address_of(weights)))
    better = taken < _MOST_WORTH and _gain_of_stock(g, trial, weights, taken) > 0
    keep(trial)
    return STOCK if better else POZZO


@kernel
def choose_expert(views: Records, k: int, moves: np.ndarray, n: int, weights: np.ndarray) -> int:
    """The move of the expert in view ``k``, one of the first ``n`` of ``moves``, two or more."""
    phase = int(views[k]["phase"])
    if phase == DRAW:
        return _draw(views[k], weights)
    if phase == PLAY:
        move = _move_of(_plan(address_of(views[k]), address_of(weights)))
        if move != NONE:
            return move
    return choose_greedy(views, k, moves, n, weights)
