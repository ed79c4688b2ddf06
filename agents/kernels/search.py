"""Search: whole turns as candidates, played on over the same deals of the unseen cards, as far as the next turn.

A candidate (*plan*) is a row of actions: where a seat draws or may buy, one legal action each; where it plays, some
moves to the table and the discard that ends the turn. `plan_turns` finds them, `play_deals` plays them on over some of
the numbered deals, `drop_worse` gives up those that are clearly behind, `pick` takes one; `search_views` is all that in
one call for many views, with a budget of playouts. What a deal brings depends on the key and its number alone, so that
neither threads nor the order of work change anything.

A playout ends where the seat has drawn for its next turn (or one later): what the best end of that turn is worth is
forecast by a net. That leaves out the luck of the rest of the hand, so that a few hundred deals tell candidates apart.

What the guide, an `expert`, forecasts for the end of a candidate itself counts beside the playouts: both are about as
good at telling candidates apart, and where they are wrong they seldom are so together.
"""

from typing import NamedTuple

import numpy as np

from agents.kernels.choice import choose
from agents.kernels.determinize import deal_unseen
from agents.kernels.ends import ACTION, MOST_ENDS, STATE, bring_best, gather_ends, value_ends
from agents.kernels.expert import forecast_end, forecast_turn
from agents.kernels.planning import MOST_STATES, line_to, reach
from agents.kernels.search_value import forecast_value, value_of
from scala40_env.kernels.actions import DISCARD, SLOTS
from scala40_env.kernels.bits import copy_record, keep
from scala40_env.kernels.engine import apply_action
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.legality import MOST_MOVES, fingerprint, legal_moves
from scala40_env.kernels.phases import is_over
from scala40_env.kernels.scoring import num_units
from scala40_env.kernels.state import DRAW, GAME, NONE, PLAY

__all__ = [
    "MOST_PLANS",
    "NUM_SETTINGS",
    "PLAN_LENGTH",
    "drop_worse",
    "next_chunk",
    "pick",
    "plan_turns",
    "play_deals",
    "search_views",
    "summarize",
]

#: Room for candidates, and for the actions of one.
MOST_PLANS, PLAN_LENGTH = 64, 40

#: Rows of the weights: of the agent that plays out, of the guide, of the expert that ranks and forecasts turns, and of
#: `belief`.
PLAYOUT, GUIDE, EXPERT_ROW, BELIEF_ROW = range(4)
# The settings of a search, by their place in an int64 array.
#: How many swaps are tried for each hidden card of a hand (`determinize`).
SWAPS = 0
#: The kinds of these agents (`choice`), from here on in this order.
KINDS = 1
#: What a hand is worth, and the points that closing it adds (`search_value`).
HAND_VALUE, BONUS = range(KINDS + 3, KINDS + 5)
#: How many candidates a turn has at most, and how many turns of its own the seat looks ahead.
WIDTH, DEPTH = range(KINDS + 5, KINDS + 7)
#: How much of a candidate's value is the guide's own forecast, in thousandths.
TRUST = KINDS + 7
NUM_SETTINGS = KINDS + 8

#: Deals after which candidates are given up for the first time.
_FIRST_CHUNK = 16
#: Tells ends of a turn in one state from each other.
_SPREAD = 0x0165_667B


class Turns(NamedTuple):
    """Candidates in the making.

    `plans`: int16[64, 40]; `found`: int64[1], how many they are; `line`: int16[160], the actions of the one in hand;
    `ends`: int64[64], fingerprints of the ends that lines have led to, after their number; `moves`: int16[1045],
    room for legal moves.
    """

    plans: np.ndarray
    found: np.ndarray
    line: np.ndarray
    ends: np.ndarray
    moves: np.ndarray


# ---------------------------------------------------------------------------------------------------------------------
# Candidates. ``work`` is one game, in which the line in hand has been played.


@kernel
def _push(turns: Turns, length: int, last: int) -> None:
    """Add the first ``length`` actions of the line and a last one, while there is room."""
    n = int(turns.found[0])
    if n == MOST_PLANS or length >= PLAN_LENGTH:
        return
    plan = turns.plans[n]
    plan[:] = -1
    for at in range(length):
        plan[at] = turns.line[at]
    plan[length] = last
    turns.found[0] = n + 1


@kernel
def _drop_move(moves: np.ndarray, n: int, action: int) -> int:
    """Take one move out of these; returns how many are left."""
    for at in range(n):
        if int(moves[at]) == action:
            moves[at] = moves[n - 1]
            return n - 1
    return n


@kernel
def _is_new(ends: np.ndarray, end: int) -> bool:
    """Whether no line has led here; remembers this one."""
    n = int(ends[0])
    for at in range(1, n + 1):
        if ends[at] == end:
            return False
    if n + 1 < len(ends):
        ends[0] = n + 1
        ends[n + 1] = end
    return True


@kernel
def _push_end(state: Record, turns: Turns, length: int, discard: int) -> None:
    """Add the line with this discard (-1: its last move closed the hand), unless another led to the same end."""
    if _is_new(turns.ends, fingerprint(state) ^ (discard + 1) * _SPREAD):
        _push(turns, length if discard >= 0 else length - 1, discard if discard >= 0 else int(turns.line[length - 1]))


@kernel
def _push_turn(work: Records, settings: np.ndarray, row: int, weights: np.ndarray, turns: Turns, length: int) -> bool:
    """Add the line as one of the agents goes on with it; returns whether that closes the hand."""
    while int(work[0]["phase"]) == PLAY and length < PLAN_LENGTH - 1:
        action = choose(int(settings[KINDS + row]), work, 0, weights[row], 0, length, turns.moves)
        if action < SLOTS:
            _push_end(work[0], turns, length, action)
            return int(work[0]["hand_n"][int(work[0]["turn"])]) == 1
        turns.line[length] = action
        length += 1
        apply_action(work[0], action)
    _push_end(work[0], turns, length, -1)
    return is_over(work[0])


@kernel
def _push_best_ends(g: Record, width: int, weights: np.ndarray, turns: Turns) -> None:
    """Add the ends of the turn that the expert thinks most of, until there are ``width`` candidates."""
    states, ways = np.empty(MOST_STATES, GAME), np.empty((MOST_STATES, 2), np.int16)
    ends, n = np.empty((MOST_ENDS, 3), np.int64), reach(g, states, ways)
    n = gather_ends(states, n, ends, turns.moves)
    value_ends(g, states, ends, n, weights)
    for at in range(n):
        if int(turns.found[0]) >= width:
            break
        bring_best(ends, n, at)
        state = int(ends[at, STATE])
        _push_end(states[state], turns, line_to(ways, state, turns.line), int(ends[at, ACTION]))
    keep(states)


@kernel
def _push_every_move(g: Record, work: Records, settings: np.ndarray, weights: np.ndarray, turns: Turns) -> None:
    """Add a turn for each legal move, as the guide goes on with it."""
    first = np.empty(MOST_MOVES, np.int16)
    for at in range(legal_moves(g, first)):
        if int(first[at]) < SLOTS:
            _push_end(g, turns, 0, int(first[at]))
            continue
        copy_record(work, 0, g)
        turns.line[0] = first[at]
        apply_action(work[0], int(first[at]))
        _push_turn(work, settings, GUIDE, weights, turns, 1)


@kernel
def _plan_as_agents(g: Record, work: Records, settings: np.ndarray, weights: np.ndarray, turns: Turns) -> bool:
    """Add the turns of the agents, first the guide's. If one closes the hand it is the only one; returns whether."""
    for row in (GUIDE, EXPERT_ROW, PLAYOUT):
        copy_record(work, 0, g)
        if _push_turn(work, settings, row, weights, turns, 0):
            turns.plans[0] = turns.plans[int(turns.found[0]) - 1]
            turns.found[0] = 1
            return True
    return False


@kernel
def _plan_play(g: Record, settings: np.ndarray, weights: np.ndarray, turns: Turns) -> None:
    """Add the turns that a player might play from here, first the guide's."""
    work = np.empty(1, GAME)
    if not _plan_as_agents(g, work, settings, weights, turns):
        _push_best_ends(g, int(settings[WIDTH]), weights[EXPERT_ROW], turns)
        if int(turns.found[0]) == 1:  # no end is in sight before the attaching ban is lifted
            _push_every_move(g, work, settings, weights, turns)
    keep(work)


@kernel
def _plan_single(views: Records, k: int, settings: np.ndarray, weights: np.ndarray, turns: Turns) -> None:
    """Add every legal action for itself, first the guide's."""
    own = choose(int(settings[KINDS + GUIDE]), views, k, weights[GUIDE], 0, 0, turns.moves)
    n = legal_moves(views[k], turns.moves)
    _push(turns, 0, own)
    for at in range(_drop_move(turns.moves, n, own)):
        _push(turns, 0, int(turns.moves[at]))


@kernel
def _forecasts_hold(g: Record) -> bool:
    """Whether forecasts mean something by these rules: they know of no partners and no flat sums."""
    return num_units(g) == int(g["num_players"]) and int(g["unopened_points"]) == NONE


@kernel
def _forecast_plan(work: Records, plan: np.ndarray, settings: np.ndarray, weights: np.ndarray) -> float:
    """What the guide forecasts for the end of a turn played in ``work``; NaN for one that does not end by a discard."""
    seat, last = int(work[0]["turn"]), 0
    while last + 1 < PLAN_LENGTH and int(plan[last + 1]) >= 0:
        apply_action(work[0], int(plan[last]))
        last += 1
    if not DISCARD <= int(plan[last]) < SLOTS or int(work[0]["hand_n"][seat]) == 1:
        return np.nan
    packed = forecast_end(work[0], int(plan[last]), weights[GUIDE])
    return forecast_value(work[0], seat, int(settings[HAND_VALUE]), int(settings[BONUS]), packed)


@kernel
def _forecast_plans(
    g: Record, settings: np.ndarray, weights: np.ndarray, plans: np.ndarray, n: int, forecasts: np.ndarray
) -> None:
    """Write what the guide forecasts for the candidates; NaN for all where there is one without a forecast."""
    forecasts[:n] = np.nan
    if int(settings[TRUST]) == 0 or int(g["phase"]) != PLAY or not _forecasts_hold(g):
        return
    work = np.empty(1, GAME)
    for plan in range(n):
        copy_record(work, 0, g)
        forecasts[plan] = _forecast_plan(work, plans[plan], settings, weights)
        if np.isnan(forecasts[plan]):
            forecasts[:n] = np.nan
            break
    keep(work)


@entry
def plan_turns(
    views: Records, k: int, settings: np.ndarray, weights: np.ndarray, plans: np.ndarray, forecasts: np.ndarray
) -> int:
    """Write the candidates for the seat on move in view ``k`` into ``plans`` (int16[64, 40]); returns how many.

    ``weights`` (int64[4, NUM_WEIGHTS]) are those of the agents and of `belief`. The first candidate is the guide's
    turn. Actions that a plan does not need are -1. ``forecasts`` (float64[64]) are what the guide thinks of the
    candidates, NaN where it says nothing.
    """
    found, ends = np.zeros(1, np.int64), np.zeros(MOST_PLANS, np.int64)
    turns = Turns(plans, found, np.empty(MOST_STATES, np.int16), ends, np.empty(MOST_MOVES, np.int16))
    if int(views[k]["phase"]) == PLAY:
        _plan_play(views[k], settings, weights, turns)
    else:
        _plan_single(views, k, settings, weights, turns)
    _forecast_plans(views[k], settings, weights, plans, int(found[0]), forecasts)
    return int(found[0])


# ---------------------------------------------------------------------------------------------------------------------
# Playing out


@kernel
def _play_plan(g: Record, plan: np.ndarray) -> None:
    at = 0
    while at < PLAN_LENGTH and int(plan[at]) >= 0:
        apply_action(g, int(plan[at]))
        at += 1


@kernel
def _forecast(g: Record, seat: int, settings: np.ndarray, weights: np.ndarray) -> float:
    """What the turn that begins here is worth by the forecasts; NaN where there are none."""
    if not _forecasts_hold(g):
        return np.nan
    packed = forecast_turn(g, weights[EXPERT_ROW])
    return (
        np.nan if packed == NONE else forecast_value(g, seat, int(settings[HAND_VALUE]), int(settings[BONUS]), packed)
    )


@kernel
def _play_out(
    work: Records, seat: int, left: int, settings: np.ndarray, weights: np.ndarray, key: int, moves: np.ndarray
) -> float:
    """Play on until the seat begins the last of ``left`` turns, or the hand is over; returns what that is worth."""
    g, count, playing = work[0], 0, False
    while not is_over(g):
        own = int(g["turn"]) == seat
        if own and not playing and int(g["phase"]) == PLAY:
            left -= 1
            if left == 0:
                value = _forecast(g, seat, settings, weights)
                if not np.isnan(value):
                    return value
        playing = own and int(g["phase"]) == PLAY
        row = GUIDE if own and left >= 0 else PLAYOUT
        apply_action(g, choose(int(settings[KINDS + row]), work, 0, weights[row], key, count, moves))
        count += 1
    return value_of(g, seat, int(settings[HAND_VALUE]), int(settings[BONUS]))


@kernel
def _turns_ahead(view: Record, depth: int) -> int:
    """How many turns the seat plays, the one that a draw begins too, before what comes is forecast; -1: all."""
    if depth == 0:
        return -1
    return depth + 1 if int(view["phase"]) == DRAW else depth


@kernel
def _play_deal(
    view: Record,
    deal: int,
    key: int,
    settings: np.ndarray,
    weights: np.ndarray,
    plans: np.ndarray,
    forecasts: np.ndarray,
    alive: np.ndarray,
    values: np.ndarray,
    work: Records,
    moves: np.ndarray,
) -> None:
    """Play the candidates that are alive out on one deal. ``work`` is room for the game played and for the deal."""
    seat, left = int(view["turn"]), _turns_ahead(view, int(settings[DEPTH]))
    trust = 0.0 if np.isnan(forecasts[0]) else int(settings[TRUST]) / 1000.0
    copy_record(work, 1, view)
    deal_unseen(work[1], seat, int(settings[SWAPS]), weights[BELIEF_ROW], key, deal)
    for plan in range(len(alive)):
        if alive[plan]:
            copy_record(work, 0, work[1])
            _play_plan(work[0], plans[plan])
            values[deal, plan] = (1.0 - trust) * _play_out(work, seat, left, settings, weights, key, moves)
            values[deal, plan] += trust * forecasts[plan] if trust else 0.0


@entry
def play_deals(
    views: Records,
    k: int,
    first: int,
    last: int,
    key: int,
    settings: np.ndarray,
    weights: np.ndarray,
    plans: np.ndarray,
    forecasts: np.ndarray,
    alive: np.ndarray,
    values: np.ndarray,
) -> None:
    """Play the candidates of view ``k`` that are ``alive`` (bool[n]) out on the deals from ``first`` up to ``last``.

    ``forecasts`` (float64[64]) are those of `plan_turns`. Writes what they are worth into ``values``
    (float64[deals, 64]).
    """
    work, moves = np.empty(2, GAME), np.empty(MOST_MOVES, np.int16)
    for deal in range(first, last):
        _play_deal(views[k], deal, key, settings, weights, plans, forecasts, alive, values, work, moves)
    keep(work)


# ---------------------------------------------------------------------------------------------------------------------
# Comparing


@kernel
def _mean(values: np.ndarray, plan: int, deals: int) -> float:
    total = 0.0
    for deal in range(deals):
        total += values[deal, plan]
    return total / deals


@kernel
def _difference(values: np.ndarray, deals: int, plan: int, other: int) -> tuple[float, float]:
    """By how much a candidate is better than another on the same deals, and the standard error of that."""
    total, squares = 0.0, 0.0
    for deal in range(deals):
        better = values[deal, plan] - values[deal, other]
        total += better
        squares += better * better
    mean = total / deals
    return mean, np.sqrt(max(squares / deals - mean * mean, 0.0) / max(deals - 1, 1))


@kernel
def _best_of(values: np.ndarray, deals: int, alive: np.ndarray) -> int:
    """The candidate with the best mean, of equals the first."""
    best, most = -1, 0.0
    for plan in range(len(alive)):
        if alive[plan]:
            mean = _mean(values, plan, deals)
            if best < 0 or mean > most:
                best, most = plan, mean
    return best


@entry
def drop_worse(values: np.ndarray, deals: int, alive: np.ndarray, doubt: float) -> int:
    """Give up candidates behind the best by ``doubt`` standard errors of the difference; returns how many are left."""
    best, left = _best_of(values, deals, alive), 0
    for plan in range(len(alive)):
        if alive[plan] and plan != best:
            mean, error = _difference(values, deals, plan, best)
            alive[plan] = mean > -doubt * error  # not so one that has been the same on every deal
        left += 1 if alive[plan] else 0
    return left


@entry
def pick(values: np.ndarray, deals: int, alive: np.ndarray, caution: float) -> int:
    """The candidate to play: the best on average, less ``caution`` standard errors of the difference to the first.

    The first is the guide's turn: it is right more often than noise is.
    """
    if deals == 0:
        return 0
    if not alive[0]:
        return _best_of(values, deals, alive)
    best, most = 0, 0.0
    for plan in range(1, len(alive)):
        if alive[plan]:
            mean, error = _difference(values, deals, plan, 0)
            if mean - caution * error > most:
                best, most = plan, mean - caution * error
    return best


@entry
def summarize(values: np.ndarray, visits: np.ndarray, n: int, means: np.ndarray, errors: np.ndarray) -> None:
    """Write mean and standard error of the values of the first ``n`` candidates, of ``visits`` (int64) deals each."""
    for plan in range(n):
        deals = int(visits[plan])
        mean, squares = _mean(values, plan, deals), 0.0
        for deal in range(deals):
            squares += (values[deal, plan] - mean) ** 2
        means[plan] = mean
        errors[plan] = np.sqrt(squares / (max(deals - 1, 1) * deals))


# ---------------------------------------------------------------------------------------------------------------------
# All in one


@entry
def next_chunk(deals: int, left: int, playouts: int) -> int:
    """How many deals to play after so many, with so many candidates and playouts left, before candidates are given up.

    0 if the playouts are used up.
    """
    return min(_FIRST_CHUNK if deals < _FIRST_CHUNK else deals // 2, playouts // left)


@kernel
def _search(
    views: Records,
    k: int,
    key: int,
    playouts: int,
    doubt: float,
    settings: np.ndarray,
    weights: np.ndarray,
    plans: np.ndarray,
    forecasts: np.ndarray,
    alive: np.ndarray,
    visits: np.ndarray,
    values: np.ndarray,
) -> int:
    """Play out and give up in turns until the playouts are used up; returns how many deals were played."""
    deals, left = 0, len(alive)
    count = next_chunk(0, left, playouts)
    while left > 1 and count:
        play_deals(views, k, deals, deals + count, key, settings, weights, plans, forecasts, alive, values)
        deals += count
        playouts -= count * left
        for plan in range(len(alive)):
            if alive[plan]:
                visits[plan] = deals
        left = drop_worse(values, deals, alive, doubt)
        count = next_chunk(deals, left, playouts)
    return deals


@entry
def search_views(
    views: Records,
    first: int,
    last: int,
    keys: np.ndarray,
    playouts: int,
    doubt: float,
    caution: float,
    settings: np.ndarray,
    weights: np.ndarray,
    plans: np.ndarray,
    counts: np.ndarray,
    means: np.ndarray,
    errors: np.ndarray,
    visits: np.ndarray,
    picks: np.ndarray,
) -> None:
    """Search the views from ``first`` up to ``last`` with a budget of ``playouts`` each.

    ``keys``: uint64[views]. Writes the candidates into ``plans`` (int16[views, 64, 40]), how many into ``counts``
    (int64[views]), and of each candidate into arrays of [views, 64] the mean value (float64), its standard error
    (float64) and the deals played (int64); ``picks`` (int64[views]) are the candidates to play.
    """
    values, forecasts = np.empty((playouts // 2 + 1, MOST_PLANS), np.float64), np.empty(MOST_PLANS, np.float64)
    for k in range(first, last):
        n = plan_turns(views, k, settings, weights, plans[k], forecasts)
        counts[k] = n
        alive = np.ones(n, np.bool_)
        deals = _search(
            views, k, keys[k], playouts, doubt, settings, weights, plans[k], forecasts, alive, visits[k], values
        )
        picks[k] = pick(values, deals, alive, caution)
        if deals:
            summarize(values, visits[k], n, means[k], errors[k])
