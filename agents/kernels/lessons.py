"""Lessons for the expert: several ends of one and the same turn, and how the hand goes on after each of them.

Where the pozzo card may be taken, they are the best end with it and the best end with the card from the stock; else
they are ends of the turn after its draw. All ends of a lesson are played on with the same hidden cards, those of the
game: what differs in the outcomes is what the ends are worth, and the luck that is left.
"""

import numpy as np

from agents.kernels.choice import choose
from agents.kernels.ends import ACTION, MOST_ENDS, STATE, bring_best, gather_ends, swap_rows, value_ends
from agents.kernels.expert import FORECASTS
from agents.kernels.outlook import AROUND, NUM_FEATURES, ROW, look_around, write_features
from agents.kernels.planning import MOST_STATES, reach
from scala40_env.kernels.actions import DISCARD, POZZO, STOCK
from scala40_env.kernels.bits import copy_record, int64_at, keep, scratch
from scala40_env.kernels.engine import apply_action, start_match
from scala40_env.kernels.islands import MOST_MOVES
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.legality import legal_moves
from scala40_env.kernels.phases import is_over
from scala40_env.kernels.random import below, philox
from scala40_env.kernels.scoring import hand_value, unit_of
from scala40_env.kernels.state import DRAW, GAME, NONE, PLAY

__all__ = ["ENDS", "LEARNER", "OUTCOMES", "give_lessons"]

#: Ends of a lesson at most; as many of them as `_BEST` are those that the learner likes best.
ENDS, _BEST = 7, 5
#: What is noted of each: what the expert forecasts.
OUTCOMES = len(FORECASTS)
#: The row of the agents that learns: lessons are of its turns.
LEARNER = 0
#: One turn of so many gives a lesson, and one of so many ends by chance, so that all kinds of positions turn up.
_LESSON_EVERY, _STRAY_EVERY = 3, 10
#: Streams of the generator.
_TURNS, _PICKS = 1, 2


@kernel
def _pick(ends: np.ndarray, n: int, key: int, game: int, turn: int) -> int:
    """Bring the ends of the lesson to the front, the best first, then some by chance; returns how many they are."""
    for at in range(min(ENDS, n)):
        if at < _BEST:
            bring_best(ends, n, at)
        else:
            swap_rows(ends, at, at + below(philox(key, game, _PICKS + at, turn)[0], n - at))
    return min(ENDS, n)


@kernel
def _note_charge(g: Record, seat: int, outcomes: np.ndarray, own: bool) -> None:
    """Add what a seat was charged, or would have been if there were no flat sum, and whether it had not opened."""
    points, unopened = int(g["hand_points"][seat]), int(g["opened"][seat]) == 0 and int(g["winner"]) != seat
    if unopened and int(g["unopened_points"]) != NONE:
        points = hand_value(g, seat)
    outcomes[1 if own else 2] += points
    if unopened:
        outcomes[3 if own else 5] += 1
        outcomes[4 if own else 6] += points


@kernel
def _note_outcome(g: Record, seat: int, outcomes: np.ndarray) -> None:
    """Write how the hand ended for a seat (int16[OUTCOMES]), as `FORECASTS` are named."""
    winner = int(g["winner"])
    outcomes[:] = 0
    outcomes[0] = 1 if winner != NONE and unit_of(g, winner) == unit_of(g, seat) else 0
    for other in range(int(g["num_players"])):
        _note_charge(g, other, outcomes, other == seat)


@kernel
def _start_end(states: Records, end: np.ndarray, work: Records) -> None:
    """Write the game after this end of the turn into the first record of ``work``."""
    copy_record(work, 0, states[end[STATE]])
    apply_action(work[0], int(end[ACTION]))


@kernel
def _play_on(
    states: Records,
    end: np.ndarray,
    work: Records,
    seating: np.ndarray,
    kinds: np.ndarray,
    weights: np.ndarray,
    key: int,
    moves: np.ndarray,
) -> None:
    """Play the hand from this end of the turn to its own, in the first record of ``work``."""
    _start_end(states, end, work)
    g, count = work[0], 0
    while not is_over(g):
        row = seating[int(g["turn"])]
        apply_action(g, choose(int(kinds[row]), work, 0, weights[row], key, count, moves))
        count += 1


@kernel
def _note_features(states: Records, end: np.ndarray, features: np.ndarray) -> int:
    """Write the numbers of one end (int16[NUM_FEATURES]); returns its context."""
    state, action = states[end[STATE]], int(end[ACTION])
    around, row = scratch(1, AROUND)[0], scratch(1, ROW)[0]
    look_around(state, around)
    context = write_features(state, around, action - DISCARD, row)
    for f in range(NUM_FEATURES):
        features[f] = int64_at(row, 8 * f)
    return context


@kernel
def _is_turn_of_learner(g: Record, seating: np.ndarray) -> bool:
    """Whether the learner is about to play, and has not begun to."""
    if int(g["phase"]) != PLAY or int(g["new_melds"]) or int(g["touched_table"]):
        return False
    return int(seating[int(g["turn"])]) == LEARNER


@kernel
def _is_draw_of_learner(g: Record, seating: np.ndarray, moves: np.ndarray) -> bool:
    """Whether the learner may take the pozzo card or one from the stock."""
    return int(g["phase"]) == DRAW and int(seating[int(g["turn"])]) == LEARNER and legal_moves(g, moves) == 2


@kernel
def _gather_after(
    g: Record, draw: int, drawn: Records, states: Records, ways: np.ndarray, ends: np.ndarray, discards: np.ndarray
) -> int:
    """Draw so in a copy, and gather the ends of the turn as `gather_ends` does."""
    copy_record(drawn, 0, g)
    apply_action(drawn[0], draw)
    return gather_ends(states, reach(drawn[0], states, ways), ends, discards)


@entry
def give_lessons(
    games: Records,
    seating: np.ndarray,
    kinds: np.ndarray,
    weights: np.ndarray,
    key: int,
    features: np.ndarray,
    contexts: np.ndarray,
    outcomes: np.ndarray,
    counts: np.ndarray,
) -> int:
    """Play these hands, and note lessons until there is room for no more, or no game is left; returns how many.

    ``seating`` (int64[games, seats]) are rows of ``kinds`` (int64) and ``weights`` (int64[rows, NUM_WEIGHTS]), all of
    kernels; ``key`` is a seed (uint64). Room for n lessons: ``features`` int16[n, ENDS, NUM_FEATURES], ``contexts``
    int8[n, ENDS], ``outcomes`` int16[n, ENDS, OUTCOMES], ``counts`` int8[n], how many ends each has.
    """
    moves, discards = np.empty(MOST_MOVES, np.int16), np.empty(MOST_MOVES, np.int16)
    states, ways, work = np.empty(MOST_STATES, GAME), np.empty((MOST_STATES, 2), np.int16), np.empty(1, GAME)
    drawn = np.empty(1, GAME)
    ends, lessons, i = np.zeros((MOST_ENDS, 3), np.int64), 0, 0
    while i < len(games) and lessons < len(counts):
        start_match(games, i)
        g, turn = games[i], 0
        while lessons < len(counts) and not is_over(g):
            words, seat, n = philox(key, i, _TURNS, turn), int(g["turn"]), 0
            teaches, strays = below(words[0], _LESSON_EVERY) == 0, below(words[1], _STRAY_EVERY) == 0
            turn += 1
            if teaches and _is_draw_of_learner(g, seating[i], moves):
                for at in range(2):
                    n = _gather_after(g, POZZO if at else STOCK, drawn, states, ways, ends, discards)
                    if n == 0:
                        break
                    value_ends(g, states, ends, n, weights[LEARNER])
                    _pick(ends, n, key, i, turn)
                    _play_on(states, ends[0], work, seating[i], kinds, weights, key, moves)
                    contexts[lessons, at] = _note_features(states, ends[0], features[lessons, at])
                    _note_outcome(work[0], seat, outcomes[lessons, at])
                counts[lessons] = 2
                lessons += 1 if n else 0
                n = 0
            if (teaches or strays) and _is_turn_of_learner(g, seating[i]):
                n = gather_ends(states, reach(g, states, ways), ends, discards)
            if n > 1:
                value_ends(g, states, ends, n, weights[LEARNER])
                n = _pick(ends, n, key, i, turn)
            if n > 1 and teaches:
                counts[lessons] = n
                for at in range(n):
                    _play_on(states, ends[at], work, seating[i], kinds, weights, key, moves)
                    contexts[lessons, at] = _note_features(states, ends[at], features[lessons, at])
                    _note_outcome(work[0], seat, outcomes[lessons, at])
                lessons += 1
            if n > 1 and strays:
                _start_end(states, ends[below(words[2], n)], work)
                copy_record(games, i, work[0])
            else:
                row = seating[i, seat]
                apply_action(g, choose(int(kinds[row]), games, i, weights[row], key, turn, moves))
        i += 1
    keep(states)
    keep(work)
    keep(drawn)
    return lessons
