"""Search: whole turns as candidates, played out on the same deals of the unseen cards by a fast agent.

A candidate (*plan*) is a row of actions: where a seat draws or may buy, one legal action each; where it plays, some
moves to the table and the discard that ends the turn. `plan_turns` finds them, `play_deals` plays them out on some of
the numbered deals, `drop_worse` gives up those that are clearly behind, `pick` takes one; `search_views` is all that in
one call for many views, with a budget of playouts. What a deal brings depends on the key and its number alone, so that
neither threads nor the order of work change anything.
"""

from typing import NamedTuple

import numpy as np

from agents.kernels.choice import choose
from agents.kernels.determinize import NUM_PLAUSIBILITY, deal_unseen
from agents.kernels.greedy import WEIGHTS, choose_greedy
from agents.kernels.search_value import value_of
from scala40_env.kernels.actions import SLOTS
from scala40_env.kernels.bits import copy_record, keep
from scala40_env.kernels.engine import apply_action
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.legality import MOST_MOVES, fingerprint, legal_moves
from scala40_env.kernels.phases import is_over
from scala40_env.kernels.state import GAME, PLAY

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

# The settings of a search, by their place in an int64 array; the first are those of `determinize`.
#: The agent that plays out (`choice`); what a hand is worth, and the points that closing it adds (`search_value`).
PLAYER, VALUE, BONUS = range(NUM_PLAUSIBILITY, NUM_PLAUSIBILITY + 3)
#: How many discards are tried after laying nothing or what the agent lays, how many after laying something else, and
#: how many first moves to the table beside the agent's own.
DISCARDS, OTHERS, FIRST = range(NUM_PLAUSIBILITY + 3, NUM_PLAUSIBILITY + 6)
NUM_SETTINGS = NUM_PLAUSIBILITY + 6

#: Deals after which candidates are given up for the first time.
_FIRST_CHUNK = 16
_GREEDY = np.array(WEIGHTS, np.int64)


class Turns(NamedTuple):
    """Candidates in the making.

    `plans`: int16[64, 40]; `found`: int64[1], how many they are; `line`: int16[40], the actions of the one in hand;
    `ends`: int64[64], fingerprints of the positions that lines have led to, after their number; `moves`: int16[1045],
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
    if n == MOST_PLANS:
        return
    plan = turns.plans[n]
    plan[:] = -1
    for at in range(length):
        plan[at] = turns.line[at]
    plan[length] = last
    turns.found[0] = n + 1


@kernel
def _keep_moves(moves: np.ndarray, n: int, low: int, high: int) -> int:
    """Keep of these moves those from ``low`` up to ``high``."""
    kept = 0
    for at in range(n):
        if low <= int(moves[at]) < high:
            moves[kept] = moves[at]
            kept += 1
    return kept


@kernel
def _drop_move(moves: np.ndarray, n: int, action: int) -> int:
    """Take one move out of these; returns how many are left."""
    for at in range(n):
        if int(moves[at]) == action:
            moves[at] = moves[n - 1]
            return n - 1
    return n


@kernel
def _push_discards(work: Records, turns: Turns, length: int, most: int, done: int) -> None:
    """Add the line with each of ``most`` discards, in the order in which `greedy` likes them; not the one ``done``."""
    left = _keep_moves(turns.moves, legal_moves(work[0], turns.moves), 0, SLOTS)
    left = _drop_move(turns.moves, left, done)
    while left and most:
        action = choose_greedy(work, 0, turns.moves, left, _GREEDY)
        _push(turns, length, action)
        left = _drop_move(turns.moves, left, action)
        most -= 1


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
def _push_line(work: Records, turns: Turns, length: int, most: int, own: int) -> None:
    """Add the line with up to ``most`` discards, first the agent's ``own``, unless another led to the same position."""
    if not _is_new(turns.ends, fingerprint(work[0])):
        return
    if int(work[0]["phase"]) != PLAY:  # its last move closed the hand
        _push(turns, length - 1, int(turns.line[length - 1]))
        return
    if own >= 0:
        _push(turns, length, own)
        most -= 1
    _push_discards(work, turns, length, most, own)


@kernel
def _lay_on(work: Records, settings: np.ndarray, weights: np.ndarray, turns: Turns, length: int) -> tuple[int, int]:
    """Let the agent go on with its turn; returns the length of the line then, and its discard (-1: none was left)."""
    while int(work[0]["phase"]) == PLAY and length < PLAN_LENGTH - 1:
        action = choose(int(settings[PLAYER]), work, 0, weights, 0, length, turns.moves)
        if action < SLOTS:
            return length, action
        turns.line[length] = action
        length += 1
        apply_action(work[0], action)
    return length, -1


@kernel
def _plan_parts(g: Record, work: Records, settings: np.ndarray, turns: Turns, length: int) -> None:
    """Add what the agent would lay, but less of it: each beginning of the line in hand."""
    copy_record(work, 0, g)
    for at in range(length):
        _push_line(work, turns, at, int(settings[DISCARDS if at == 0 else OTHERS]), -1)
        apply_action(work[0], int(turns.line[at]))


@kernel
def _plan_others(g: Record, work: Records, settings: np.ndarray, weights: np.ndarray, turns: Turns) -> None:
    """Add turns that begin with each other move to the table: that move alone, and with what the agent lays then."""
    first, most = np.empty(MOST_MOVES, np.int16), int(settings[OTHERS])
    n = _keep_moves(first, legal_moves(g, first), SLOTS, MOST_MOVES)
    for at in range(min(n, int(settings[FIRST]))):
        copy_record(work, 0, g)
        turns.line[0] = first[at]
        apply_action(work[0], int(first[at]))
        _push_line(work, turns, 1, most, -1)
        length, own = _lay_on(work, settings, weights, turns, 1)
        _push_line(work, turns, length, most, own)


@kernel
def _plan_play(g: Record, settings: np.ndarray, weights: np.ndarray, turns: Turns) -> None:
    """Add the turns that a player might play from here, first the one that the agent would."""
    work = np.empty(1, GAME)
    copy_record(work, 0, g)
    length, own = _lay_on(work, settings, weights, turns, 0)
    _push_line(work, turns, length, int(settings[DISCARDS]), own)
    _plan_parts(g, work, settings, turns, length)
    _plan_others(g, work, settings, weights, turns)
    keep(work)


@kernel
def _plan_single(views: Records, k: int, settings: np.ndarray, weights: np.ndarray, turns: Turns) -> None:
    """Add every legal action for itself, first the agent's own."""
    own = choose(int(settings[PLAYER]), views, k, weights, 0, 0, turns.moves)
    n = legal_moves(views[k], turns.moves)
    _push(turns, 0, own)
    for at in range(_drop_move(turns.moves, n, own)):
        _push(turns, 0, int(turns.moves[at]))


@entry
def plan_turns(views: Records, k: int, settings: np.ndarray, weights: np.ndarray, plans: np.ndarray) -> int:
    """Write the candidates for the seat on move in view ``k`` into ``plans`` (int16[64, 40]); returns how many.

    The first is what the agent that plays out would play. Actions that a plan does not need are -1.
    """
    found, ends = np.zeros(1, np.int64), np.zeros(MOST_PLANS, np.int64)
    turns = Turns(plans, found, np.empty(PLAN_LENGTH, np.int16), ends, np.empty(MOST_MOVES, np.int16))
    if int(views[k]["phase"]) == PLAY:
        _plan_play(views[k], settings, weights, turns)
    else:
        _plan_single(views, k, settings, weights, turns)
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
def _play_out(work: Records, settings: np.ndarray, weights: np.ndarray, key: int, moves: np.ndarray) -> None:
    """Let the agent play all seats to the end of the hand."""
    count = 0
    while not is_over(work[0]):
        apply_action(work[0], choose(int(settings[PLAYER]), work, 0, weights, key, count, moves))
        count += 1


@kernel
def _play_deal(
    view: Record,
    deal: int,
    key: int,
    settings: np.ndarray,
    weights: np.ndarray,
    plans: np.ndarray,
    alive: np.ndarray,
    values: np.ndarray,
    work: Records,
    moves: np.ndarray,
) -> None:
    """Play the candidates that are alive out on one deal. ``work`` is room for the game played and for the deal."""
    seat = int(view["turn"])
    copy_record(work, 1, view)
    deal_unseen(work[1], seat, settings, key, deal, work, moves)
    for plan in range(len(alive)):
        if alive[plan]:
            copy_record(work, 0, work[1])
            _play_plan(work[0], plans[plan])
            _play_out(work, settings, weights, key, moves)
            values[deal, plan] = value_of(work[0], seat, int(settings[VALUE]), int(settings[BONUS]))


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
    alive: np.ndarray,
    values: np.ndarray,
) -> None:
    """Play the candidates of view ``k`` that are ``alive`` (bool[n]) out on the deals from ``first`` up to ``last``.

    Writes what they are worth into ``values`` (float64[deals, 64]).
    """
    work, moves = np.empty(2, GAME), np.empty(MOST_MOVES, np.int16)
    for deal in range(first, last):
        _play_deal(views[k], deal, key, settings, weights, plans, alive, values, work, moves)
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

    The first is the agent's own turn: it is right more often than noise is.
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
    alive: np.ndarray,
    visits: np.ndarray,
    values: np.ndarray,
) -> int:
    """Play out and give up in turns until the playouts are used up; returns how many deals were played."""
    deals, left = 0, len(alive)
    count = next_chunk(0, left, playouts)
    while left > 1 and count:
        play_deals(views, k, deals, deals + count, key, settings, weights, plans, alive, values)
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
    values = np.empty((playouts // 2 + 1, MOST_PLANS), np.float64)
    for k in range(first, last):
        n = plan_turns(views, k, settings, weights, plans[k])
        counts[k] = n
        alive = np.ones(n, np.bool_)
        deals = _search(views, k, keys[k], playouts, doubt, settings, weights, plans[k], alive, visits[k], values)
        picks[k] = pick(values, deals, alive, caution)
        if deals:
            summarize(values, visits[k], n, means[k], errors[k])
