"""Search: whole turns as candidates, played out on the same deals of the unseen cards by a fast agent.

A candidate (*plan*) is a row of actions: where a seat draws or may buy, one legal action each; where it plays, some
moves to the table and the discard that ends the turn. `plan_turns` finds them, `play_deals` plays them out on some of
the numbered deals, `drop_worse` gives up those that are clearly behind; `search_views` is all that in one call for many
views, with a budget of playouts. What a deal brings depends on the key and its number alone, so that neither threads nor
the order of work change anything.
"""

import numpy as np

from agents.kernels.choice import choose, choose_among
from agents.kernels.determinize import deal_unseen
from agents.kernels.search_value import value_of
from scala40_env.kernels.actions import SLOTS
from scala40_env.kernels.bits import copy_record, keep
from scala40_env.kernels.engine import apply_action
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.legality import MOST_MOVES, fingerprint, legal_moves
from scala40_env.kernels.state import GAME, HAND_OVER, MATCH_OVER, PACK, PLAY

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

# Settings of a search, by their place in an int64 array.
#: The agent that plays out; what a hand that is over is worth (`search_value`); tries to deal a likely hand.
PLAYER, VALUE, TRIES = range(3)
#: How many discards are looked at after laying nothing, and after what the agent lays; most first moves to the table.
DISCARDS, LAID_DISCARDS, FIRST_MOVES, OTHER_DISCARDS = 3, 4, 5, 6
NUM_SETTINGS = 7

#: Deals after which candidates are given up for the first time.
FIRST_CHUNK = 16


# ---------------------------------------------------------------------------------------------------------------------
# Candidates


@kernel
def _push_plan(plans: np.ndarray, n: int, line: np.ndarray, length: int, last: int) -> int:
    """Append a line of actions and its last one, -1 being no action; returns how many plans there are."""
    if n == MOST_PLANS:
        return n
    plans[n, :] = -1
    for at in range(length):
        plans[n, at] = line[at]
    plans[n, length] = last
    return n + 1


@kernel
def _keep_discards(moves: np.ndarray, n: int) -> int:
    """Keep of these moves those that discard."""
    kept = 0
    for at in range(n):
        if int(moves[at]) < SLOTS:
            moves[kept] = moves[at]
            kept += 1
    return kept


@kernel
def _push_discards(
    work: Records,
    most: int,
    settings: np.ndarray,
    weights: np.ndarray,
    plans: np.ndarray,
    n: int,
    line: np.ndarray,
    length: int,
    moves: np.ndarray,
) -> int:
    """Append the line with each of the ``most`` discards that the agent likes best."""
    left = _keep_discards(moves, legal_moves(work[0], moves))
    while left and most:
        action = choose_among(int(settings[PLAYER]), work, 0, weights, 0, 0, moves, left)
        n = _push_plan(plans, n, line, length, action)
        for at in range(left):
            if int(moves[at]) == action:
                moves[at] = moves[left - 1]
        left -= 1
        most -= 1
    return n


@kernel
def _keep_table_moves(moves: np.ndarray, n: int, most: int) -> int:
    """Keep of these moves those that go to the table, the first ``most``."""
    kept = 0
    for at in range(n):
        if int(moves[at]) >= SLOTS and kept < most:
            moves[kept] = moves[at]
            kept += 1
    return kept


@kernel
def _is_new(ends: np.ndarray, end: int) -> bool:
    """Whether no line has led here; remembers this one. ``ends[0]`` says how many are remembered."""
    n = int(ends[0])
    for at in range(1, n + 1):
        if ends[at] == end:
            return False
    if n + 1 < len(ends):
        ends[0] = n + 1
        ends[n + 1] = end
    return True


@kernel
def _push_line(
    work: Records,
    most: int,
    settings: np.ndarray,
    weights: np.ndarray,
    plans: np.ndarray,
    n: int,
    line: np.ndarray,
    length: int,
    moves: np.ndarray,
    ends: np.ndarray,
) -> int:
    """Append a line that has been played in ``work``, with ``most`` discards, unless another led to the same cards."""
    if not _is_new(ends, fingerprint(work[0])):
        return n
    if int(work[0]["phase"]) != PLAY:  # its last move closed the hand
        return _push_plan(plans, n, line, length - 1, int(line[length - 1]))
    return _push_discards(work, most, settings, weights, plans, n, line, length, moves)


@kernel
def _lay_on(
    work: Records, settings: np.ndarray, weights: np.ndarray, line: np.ndarray, length: int, moves: np.ndarray
) -> int:
    """Let the agent go on with its turn until it discards; returns the length of the line then."""
    while int(work[0]["phase"]) == PLAY and length < PLAN_LENGTH - 1:
        action = choose(int(settings[PLAYER]), work, 0, weights, 0, length, moves)
        if action < SLOTS:
            break
        line[length] = action
        length += 1
        apply_action(work[0], action)
    return length


@kernel
def _plan_play(g: Record, settings: np.ndarray, weights: np.ndarray, plans: np.ndarray) -> int:
    """The turns that a player might play from here, first the one that the agent would."""
    work, moves, first = np.empty(1, GAME), np.empty(MOST_MOVES, np.int16), np.empty(MOST_MOVES, np.int16)
    line, ends = np.empty(PLAN_LENGTH, np.int16), np.zeros(MOST_PLANS, np.int64)
    copy_record(work, 0, g)
    length = _lay_on(work, settings, weights, line, 0, moves)
    n = _push_line(work, int(settings[LAID_DISCARDS]), settings, weights, plans, 0, line, length, moves, ends)
    copy_record(work, 0, g)
    for at in range(length):  # all that the agent would lay, but less of it
        most = int(settings[DISCARDS]) if at == 0 else int(settings[OTHER_DISCARDS])
        n = _push_line(work, most, settings, weights, plans, n, line, at, moves, ends)
        apply_action(work[0], int(line[at]))
    most = int(settings[OTHER_DISCARDS])
    for at in range(_keep_table_moves(first, legal_moves(g, first), int(settings[FIRST_MOVES]))):
        copy_record(work, 0, g)
        line[0] = first[at]
        apply_action(work[0], int(first[at]))
        n = _push_line(work, most, settings, weights, plans, n, line, 1, moves, ends)
        length = _lay_on(work, settings, weights, line, 1, moves)
        n = _push_line(work, most, settings, weights, plans, n, line, length, moves, ends)
    keep(work)
    return n


@kernel
def _plan_single(views: Records, k: int, settings: np.ndarray, weights: np.ndarray, plans: np.ndarray) -> int:
    """Every legal action for itself, first the agent's own; it goes on."""
    moves, line = np.empty(MOST_MOVES, np.int16), np.empty(1, np.int16)
    own = choose(int(settings[PLAYER]), views, k, weights, 0, 0, moves)
    found, n = legal_moves(views[k], moves), _push_plan(plans, 0, line, 0, own)
    for at in range(found):
        if int(moves[at]) != own:
            n = _push_plan(plans, n, line, 0, int(moves[at]))
    return n


@entry
def plan_turns(views: Records, k: int, settings: np.ndarray, weights: np.ndarray, plans: np.ndarray) -> int:
    """Write the candidates for the seat on move in view ``k`` into ``plans`` (int16[64, 40]); returns how many.

    Actions that a plan does not need are -1.
    """
    if int(views[k]["phase"]) == PLAY:
        return _plan_play(views[k], settings, weights, plans)
    return _plan_single(views, k, settings, weights, plans)


# ---------------------------------------------------------------------------------------------------------------------
# Playing out


@kernel
def _is_over(g: Record) -> bool:
    phase = int(g["phase"])
    return phase == HAND_OVER or phase == MATCH_OVER


@kernel
def _play_out(work: Records, settings: np.ndarray, weights: np.ndarray, key: int, moves: np.ndarray) -> None:
    """Let the agent play all seats to the end of the hand."""
    count = 0
    while not _is_over(work[0]):
        apply_action(work[0], choose(int(settings[PLAYER]), work, 0, weights, key, count, moves))
        count += 1


@kernel
def _play_plan(work: Records, plan: np.ndarray) -> None:
    at = 0
    while at < PLAN_LENGTH and int(plan[at]) >= 0 and not _is_over(work[0]):
        apply_action(work[0], int(plan[at]))
        at += 1


@kernel
def _play_deal(
    view: Record,
    deal: int,
    key: int,
    settings: np.ndarray,
    weights: np.ndarray,
    plans: np.ndarray,
    alive: np.ndarray,
    out: np.ndarray,
    work: Records,
    cards: np.ndarray,
    moves: np.ndarray,
) -> None:
    """Play the candidates that are alive out on one deal. ``work``: room for a trial, the game played and the deal."""
    seat = int(view["turn"])
    copy_record(work, 1, view)
    deal_unseen(work[1], seat, cards, int(settings[TRIES]), key, deal, work)
    for plan in range(len(alive)):
        if alive[plan]:
            copy_record(work, 0, work[1])
            _play_plan(work, plans[plan])
            _play_out(work, settings, weights, key, moves)
            out[plan] = value_of(work[0], seat, int(settings[VALUE]))


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

    Writes what they are worth into ``values`` (float64[deals, n]).
    """
    work, cards, moves = np.empty(2, GAME), np.empty(PACK, np.int8), np.empty(MOST_MOVES, np.int16)
    for deal in range(first, last):
        _play_deal(views[k], deal, key, settings, weights, plans, alive, values[deal], work, cards, moves)
    keep(work)


# ---------------------------------------------------------------------------------------------------------------------
# Giving candidates up


@kernel
def _mean(values: np.ndarray, plan: int, deals: int) -> float:
    total = 0.0
    for deal in range(deals):
        total += values[deal, plan]
    return total / deals


@kernel
def _best_of(values: np.ndarray, deals: int, alive: np.ndarray) -> int:
    best, most = -1, 0.0
    for plan in range(len(alive)):
        if alive[plan]:
            mean = _mean(values, plan, deals)
            if best < 0 or mean > most:
                best, most = plan, mean
    return best


@kernel
def _difference(values: np.ndarray, deals: int, plan: int, other: int) -> tuple[float, float]:
    """By how much a candidate is better than another, and the standard error of that."""
    total, squares = 0.0, 0.0
    for deal in range(deals):
        better = values[deal, plan] - values[deal, other]
        total += better
        squares += better * better
    mean = total / deals
    return mean, np.sqrt(max(squares / deals - mean * mean, 0.0) / max(deals - 1, 1))


@kernel
def _pick(values: np.ndarray, deals: int, alive: np.ndarray, caution: float) -> int:
    """The candidate to play: the best mean, less ``caution`` standard errors of the difference to the agent's own."""
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
def pick(values: np.ndarray, deals: int, alive: np.ndarray, caution: float) -> int:
    """`_pick`, called from Python."""
    return _pick(values, deals, alive, caution)


@entry
def drop_worse(values: np.ndarray, deals: int, alive: np.ndarray, doubt: float) -> int:
    """Give up candidates that are surely worse than the best after so many deals; returns how many are left."""
    best, left = _best_of(values, deals, alive), 0
    for plan in range(len(alive)):
        if alive[plan] and plan != best:
            mean, error = _difference(values, deals, plan, best)
            alive[plan] = mean > -doubt * error  # not so one that has been the same on every deal
        left += 1 if alive[plan] else 0
    return left


# ---------------------------------------------------------------------------------------------------------------------
# All in one


@kernel
def _chunk_of(deals: int, left: int, playouts: int) -> int:
    """How many deals to play next, of so many candidates, after so many deals; 0 if the playouts left are too few."""
    return min(FIRST_CHUNK if deals < FIRST_CHUNK else deals // 2, playouts // left)


@entry
def next_chunk(deals: int, left: int, playouts: int) -> int:
    """`_chunk_of`, called from Python."""
    return _chunk_of(deals, left, playouts)


@kernel
def _summarize(values: np.ndarray, visits: np.ndarray, n: int, means: np.ndarray, errors: np.ndarray) -> None:
    """Write mean and standard error of every candidate's values."""
    for plan in range(n):
        deals = int(visits[plan])
        mean, squares = _mean(values, plan, deals), 0.0
        for deal in range(deals):
            squares += (values[deal, plan] - mean) ** 2
        means[plan] = mean
        errors[plan] = np.sqrt(squares / (max(deals - 1, 1) * deals))


@entry
def summarize(values: np.ndarray, visits: np.ndarray, n: int, means: np.ndarray, errors: np.ndarray) -> None:
    """`_summarize`, called from Python."""
    _summarize(values, visits, n, means, errors)


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
    (float64) and the deals played (int64); ``picks`` (int64[views]) are
    the candidates to play.
    """
    work, cards, moves = np.empty(2, GAME), np.empty(PACK, np.int8), np.empty(MOST_MOVES, np.int16)
    values = np.empty((playouts // 2 + 1, MOST_PLANS), np.float64)
    for k in range(first, last):
        n = plan_turns(views, k, settings, weights, plans[k])
        counts[k] = n
        alive = np.ones(n, np.bool_)
        deals, left, rest = 0, n, playouts
        while left > 1:
            count = _chunk_of(deals, left, rest)
            if count == 0:
                break
            for deal in range(deals, deals + count):
                _play_deal(
                    views[k], deal, keys[k], settings, weights, plans[k], alive, values[deal], work, cards, moves
                )
            deals += count
            rest -= count * left
            for plan in range(n):
                if alive[plan]:
                    visits[k, plan] = deals
            left = drop_worse(values, deals, alive, doubt)
        picks[k] = _pick(values, deals, alive, caution)
        if deals:
            _summarize(values, visits[k], n, means[k], errors[k])
    keep(work)
