"""The expert: looks at all ways to end its turn, and goes the one whose end is worth most.

It draws by the same measure: the pozzo card, if the turn is worth more with it than with a card from the stock.

A small net forecasts from the numbers of `outlook` how the hand will end: how often the seat closes it, what the seat
and the others are charged, and how much of that unopened. How much each counts follows from the rules and the totals
of the match (`stakes`).
"""

from typing import Any, NamedTuple

import numpy as np

from agents.kernels.greedy import choose_greedy
from agents.kernels.outlook import (
    AROUND,
    NUM_CONTEXTS,
    NUM_FEATURES,
    ROOM,
    ROW,
    look_again,
    look_around,
    write_features,
)
from agents.kernels.planning import MOST_STATES, first_move, reach
from agents.kernels.stakes import NUM_STAKES, STAKES, write_stakes
from agents.kernels.units import HIDDEN, sum_units, value_of_features, value_of_units
from agents.kernels.worth import seen_cards
from scala40_env.kernels.actions import DISCARD, POZZO, STOCK
from scala40_env.kernels.bits import copy_record, keep, scratch
from scala40_env.kernels.engine import apply_action
from scala40_env.kernels.hands import give
from scala40_env.kernels.islands import MOST_MOVES, address_of, game_at, island, words_at
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.lanes import bit_of
from scala40_env.kernels.moves import ALL_RULES, discardable, emit_discards
from scala40_env.kernels.state import DRAW, GAME, JOKER, NONE, PLAY, POZZO_KEEP

__all__ = [
    "EXPERT_WEIGHTS",
    "FORECASTS",
    "FORECAST_BITS",
    "FORECAST_MASK",
    "HEADER",
    "MOST_DISCARDS",
    "STAKES_AT",
    "SUMS",
    "TABLES",
    "Desk",
    "choose_expert",
    "ends_of",
    "forecast_end",
    "forecast_turn",
    "set_up",
    "table_of",
    "table_row",
    "value_of",
    "write_end",
]

#: What is forecast, in the order in which the weights lie.
FORECASTS = (
    "win",
    "own",
    "others",
    "own unopened",
    "own unopened points",
    "others unopened",
    "others unopened points",
)
#: For which games there are weights. Where pozzo cards may be kept hands go on longer, with more than two seats so much
#: longer that it is another game.
TABLES = ("two_seats", "more_seats", "more_seats_keeping")
#: The first weights are those of `greedy`, for draws and buying, and the stakes by table; then come the tables.
HEADER = 48
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

#: As many different cards can be thrown in one state.
MOST_DISCARDS = JOKER + 1

_NOTHING = -(1 << 62)
#: A turn's worth and its first move go in one number: the move in the low bits, the worth above them, within bounds.
_MOVE_BITS = 11
_MOST_WORTH = 1 << 51


# ---------------------------------------------------------------------------------------------------------------------
# The forecasts

#: What ends of a turn are valued by: what hidden units, features and contexts are worth, all forecasts added up by the
#: stakes; the sums of the hidden units, and the features that they are the sums of; the contexts of the ends.
SUMS = np.dtype(
    [
        ("worth_of_units", "<i8", (HIDDEN,)),
        ("worth_of_features", "<i8", (ROOM,)),
        ("units", "<i8", (HIDDEN,)),
        ("summed", "<i8", (ROOM,)),
        ("worth_of_contexts", "<i8", (NUM_CONTEXTS,)),
        ("contexts", "<i8", (MOST_DISCARDS,)),
    ]
)


@kernel
def _row_of(g: Record) -> int:
    """Which of `TABLES` holds for so many seats and these rules."""
    if int(g["seats_in"]) == 2:
        return 0
    return 2 if int(g["pozzo_card"]) == POZZO_KEEP else 1


@entry
def table_row(games: Records, i: int) -> int:
    """Which of `TABLES` holds in game ``i``, called from Python."""
    return _row_of(games[i])


@kernel
def table_of(g: Record, weights: np.ndarray) -> np.ndarray:
    """The weights of the forecasts that hold here."""
    return weights[HEADER + _row_of(g) * TABLE :]


@kernel
def _add_forecasts(g: Record, weights: np.ndarray, table: np.ndarray, sums: Record) -> None:
    """Add the forecasts up to one worth, by the stakes."""
    stakes, own = scratch(NUM_STAKES, np.int64), weights[STAKES_AT + _row_of(g) * len(STAKES) :]
    write_stakes(g, own, stakes)
    _add_up(stakes, table[_OUT:], HIDDEN, sums["worth_of_units"])
    _add_up(stakes, table[_DIRECT:], NUM_FEATURES, sums["worth_of_features"])
    _add_up(stakes, table[_BIAS:], NUM_CONTEXTS, sums["worth_of_contexts"])


@kernel
def _add_up(stakes: np.ndarray, parts: np.ndarray, size: int, worth: np.ndarray) -> None:
    worth[:] = 0
    for forecast in range(NUM_STAKES):
        stake, first = stakes[forecast], forecast * size
        if stake:
            for at in range(size):
                worth[at] += stake * parts[first + at]


class Desk(NamedTuple):
    """What the ends of a turn are valued with, made once for all of them.

    `table`: where the weights that hold lie (int64[TABLE]); `sums`: `SUMS`; `around`: `AROUND`; `rows`: a `ROW`
    for each discard of a state.
    """

    table: Any
    sums: Record
    around: Record
    rows: Records


@kernel
def set_up(desk: Desk, g: Record, weights: np.ndarray) -> None:
    """Make a desk ready for the ends of the turn that ``g`` is in."""
    desk.sums["units"][:] = 0
    desk.sums["summed"][:] = 0
    _add_forecasts(g, weights, words_at(desk.table, TABLE), desk.sums)
    look_around(g, desk.around)


@kernel
def write_end(state: Record, discard: int, desk: Desk, row: int) -> None:
    """Write the features and the context of an end of the turn into a row of the desk."""
    desk.sums["contexts"][row] = write_features(state, desk.around, discard - DISCARD, desk.rows[row])


@kernel
def _biases(desk: Desk, row: int) -> np.ndarray:
    """The biases of the hidden units in the context of a row."""
    return words_at(desk.table, TABLE)[_UNIT_BIAS + int(desk.sums["contexts"][row]) * HIDDEN :]


@kernel
def value_of(desk: Desk, row: int) -> int:
    """What the end of the turn is worth that a row is about."""
    sums = desk.sums
    sum_units(words_at(desk.table, TABLE), desk.rows[row], sums["summed"], sums["units"])
    value = int(sums["worth_of_contexts"][int(sums["contexts"][row])])
    value += value_of_features(desk.rows[row], sums["worth_of_features"])
    return value + value_of_units(sums["units"], _biases(desk, row), sums["worth_of_units"])


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
def _write_discards(state: Record, discards: np.ndarray, count: int, desk: Desk) -> None:
    """Write the features of all discards of a state.

    All of them before the first is summed up: a processor is slow to read as a vector what it has just been writing
    number by number.
    """
    look_again(state, desk.around)
    for at in range(count):
        write_end(state, int(discards[at]), desk, at)


@kernel
def _best_discard(state: Record, discards: np.ndarray, count: int, desk: Desk) -> tuple[int, int]:
    """The best discard of a state, and what the turn is worth that ends with it."""
    _write_discards(state, discards, count, desk)
    best, most = NONE, _NOTHING
    for at in range(count):
        value = value_of(desk, at)
        if value > most:
            best, most = int(discards[at]), value
    return best, most


@kernel
def _best_end(g: Record, states: Records, n: int, desk: Desk) -> tuple[int, int, int]:
    """Where the best end of the turn is, of these states, its discard and its worth.

    Closing is worth `_MOST_WORTH`; the discard is NONE where the hand is closed already. NONE, NONE and `_NOTHING` if
    there is no end, as when the attaching ban is lifted.
    """
    discards, best, discard, most = scratch(MOST_MOVES, np.int16), NONE, NONE, _NOTHING
    for at in range(n):
        count = ends_of(states[at], discards)
        if count < 0:
            return at, NONE, _MOST_WORTH
        if count == 0:
            continue
        if int(states[at]["hand_n"][int(g["turn"])]) == 1:
            return at, int(discards[0]), _MOST_WORTH
        action, value = _best_discard(states[at], discards, count, desk)
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
    n, weights = reach(g, states, ways), words_at(weights_address, EXPERT_WEIGHTS)
    sums, around, rows = scratch(1, SUMS)[0], scratch(1, AROUND)[0], scratch(MOST_DISCARDS, ROW)
    desk = Desk(address_of(table_of(g, weights)), sums, around, rows)
    set_up(desk, g, weights)
    at, discard, most = _best_end(g, states, n, desk)
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
def _forecast(which: int, desk: Desk) -> int:
    """One of the forecasts for the end in the first row, in its weights' unit."""
    table = words_at(desk.table, TABLE)
    value = table[_BIAS + which * NUM_CONTEXTS + int(desk.sums["contexts"][0])]
    value += value_of_features(desk.rows[0], table[_DIRECT + which * NUM_FEATURES :])
    return value + value_of_units(desk.sums["units"], _biases(desk, 0), table[_OUT + which * HIDDEN :])


@kernel
def _packed(state: Record, discard: int, desk: Desk) -> int:
    """The forecasts for the end of a turn in one number, as `forecast_turn` gives them."""
    look_again(state, desk.around)
    write_end(state, discard, desk, 0)
    sum_units(words_at(desk.table, TABLE), desk.rows[0], desk.sums["summed"], desk.sums["units"])
    packed = 0
    for which in range(_HANDED_ON):
        packed = packed << FORECAST_BITS | min(max(_forecast(which, desk) // _OF_A_FORECAST, 0), FORECAST_MASK)
    return packed


@island
def _forecast_island(address: int, weights_address: int) -> int:
    g = game_at(address)
    states, ways = np.empty(MOST_STATES, GAME), np.empty((MOST_STATES, 2), np.int16)
    n, weights = reach(g, states, ways), words_at(weights_address, EXPERT_WEIGHTS)
    sums, around, rows = scratch(1, SUMS)[0], scratch(1, AROUND)[0], scratch(MOST_DISCARDS, ROW)
    desk = Desk(address_of(table_of(g, weights)), sums, around, rows)
    set_up(desk, g, weights)
    at, discard, _ = _best_end(g, states, n, desk)
    left = 1 if at == NONE or discard == NONE else int(states[at]["hand_n"][int(g["turn"])])
    packed = NONE if left == 1 else _packed(states[at], discard, desk)
    keep(states)
    return packed


@kernel
def forecast_end(state: Record, discard: int, weights: np.ndarray) -> int:
    """The three forecasts for a turn that ends in this state with this discard (its action), as in `forecast_turn`."""
    sums, around, rows = scratch(1, SUMS)[0], scratch(1, AROUND)[0], scratch(1, ROW)
    desk = Desk(address_of(table_of(state, weights)), sums, around, rows)
    set_up(desk, state, weights)
    return _packed(state, discard, desk)


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
