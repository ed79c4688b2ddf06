"""Comparisons for learning: what the moves of a decision are worth, by forecasts and by hands that are played on.

An expert plays, against itself and others. Where it is in its turn, the candidates are the first moves of the ways to
end it, of the best ends and, for the last candidate, of an end by chance; where it draws, the legal moves. Each may be
played on to the end of the hand, by the same players and with the hidden cards that the game has: a single outcome,
noisy, but of what was really dealt, and there are as many of them as a learner can read.
"""

from typing import NamedTuple

import numpy as np

from agents.kernels.decisions import NOISE_PARTS, begin_hand, pack_mask
from agents.kernels.ends import ACTION, MOST_ENDS, STATE, VALUE, bring_best, gather_ends, swap_rows, value_ends
from agents.kernels.foresight import Table, move_at, play_out
from agents.kernels.planning import MOST_STATES, first_move, reach
from agents.kernels.search_value import POINTS, value_of
from scala40_env.kernels.bits import copy_record, keep
from scala40_env.kernels.engine import apply_action
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.legality import MOST_MOVES, legal_moves
from scala40_env.kernels.observation import observe
from scala40_env.kernels.phases import is_over
from scala40_env.kernels.random import below, philox
from scala40_env.kernels.rewards import write_rewards
from scala40_env.kernels.state import GAME, MAX_SEATS, NONE, PLAY

__all__ = ["Notes", "compare"]

#: What the expert values ends in: units of a hand won, or of a hundred points.
_WORTH_UNIT = 1e8
#: What another draw than the expert's is taken to be worth less, for it forecasts none.
_OTHER_DRAW = 0.1
#: Streams of the generator, whose key is that of the hand.
_STRAYS, _PICKS = (1 << 23) + 8, (1 << 23) + 9


class Notes(NamedTuple):
    """Decisions: rows of arrays.

    `observations` (int8[n, size]), packed `masks` (uint8[n, bytes]), `actions` (int16[n]): what the expert does;
    `returns` (float32[n]): what the hand brought. Of candidates (n, most): `candidates` (int64), actions, -1 where
    there is none; `forecasts` and `outcomes` (float32): what they are worth, in hundreds of points.
    """

    observations: np.ndarray
    masks: np.ndarray
    actions: np.ndarray
    returns: np.ndarray
    candidates: np.ndarray
    forecasts: np.ndarray
    outcomes: np.ndarray


class Room(NamedTuple):
    """Room to work in: states of a turn and the ways to them, its ends, moves and discards, and one game."""

    states: np.ndarray
    ways: np.ndarray
    ends: np.ndarray
    moves: np.ndarray
    discards: np.ndarray
    work: np.ndarray


# ---------------------------------------------------------------------------------------------------------------------
# Candidates


@kernel
def _first_action(room: Room, end: int) -> int:
    """The action that the way to an end begins with."""
    state = int(room.ends[end, STATE])
    return first_move(room.ways, state) if state else int(room.ends[end, ACTION])


@kernel
def _best_forecast(room: Room, first: int, last: int, action: int) -> int:
    """The best value among ends from ``first`` up to ``last`` whose ways begin with this action."""
    value = int(room.ends[first, VALUE])
    for end in range(first + 1, last):
        if int(room.ends[end, VALUE]) > value and _first_action(room, end) == action:
            value = int(room.ends[end, VALUE])
    return value


@kernel
def _is_among(candidates: np.ndarray, n: int, action: int) -> bool:
    for at in range(n):
        if int(candidates[at]) == action:
            return True
    return False


@kernel
def _note_first_moves(room: Room, n: int, notes: Notes, row: int, key: np.uint64, hand: int, count: int) -> int:
    """Note the first moves of the ways to these ends; returns how many there are."""
    candidates, found, at = notes.candidates[row], 0, 0
    while at < n and found < len(candidates):
        if found < len(candidates) - 1:
            bring_best(room.ends, n, at)
        else:
            swap_rows(room.ends, at, at + below(philox(key, hand, _PICKS + at, count)[0], n - at))
        action = _first_action(room, at)
        if not _is_among(candidates, found, action):
            candidates[found] = action
            notes.forecasts[row, found] = _best_forecast(room, at, n, action) / _WORTH_UNIT
            found += 1
        at += 1
    return found


@kernel
def _note_turn(
    g: Record, weights: np.ndarray, room: Room, notes: Notes, row: int, key: np.uint64, hand: int, count: int
) -> int:
    """Note the candidates of a seat in its turn; returns how many, 0 if the hand can be closed."""
    n = gather_ends(room.states, reach(g, room.states, room.ways), room.ends, room.discards)
    if n == 0:
        return 0
    value_ends(g, room.states, room.ends, n, weights)
    return _note_first_moves(room, n, notes, row, key, hand, count)


@kernel
def _note_moves(action: int, moves: np.ndarray, n: int, notes: Notes, row: int) -> int:
    """Note the expert's action, then the other legal moves that there is room for; returns how many there are."""
    candidates, found = notes.candidates[row], 1
    candidates[0] = action
    for at in range(n):
        if int(moves[at]) != action and found < len(candidates):
            candidates[found], notes.forecasts[row, found] = moves[at], -_OTHER_DRAW
            found += 1
    return found


# ---------------------------------------------------------------------------------------------------------------------
# Outcomes


@kernel
def _note_outcomes(
    g: Record, found: int, table: Table, bonus: int, room: Room, notes: Notes, row: int, count: int
) -> None:
    """Play the candidates on."""
    for at in range(found):
        copy_record(room.work, 0, g)
        apply_action(room.work[0], int(notes.candidates[row, at]))
        play_out(room.work, table, count + 1, room.discards)
        notes.outcomes[row, at] = value_of(room.work[0], int(g["turn"]), POINTS, bonus)


# ---------------------------------------------------------------------------------------------------------------------
# Decisions


@kernel
def _note_decision(
    games: Records,
    legal: int,
    table: Table,
    bonus: int,
    layout: np.ndarray,
    room: Room,
    notes: Notes,
    row: int,
    key: np.uint64,
    hand: int,
    count: int,
) -> None:
    """Note the decision that there is now, between the first ``legal`` of the room's moves."""
    g = games[0]
    observe(g, int(g["turn"]), layout, notes.observations[row])
    pack_mask(room.moves, legal, notes.masks[row])
    notes.candidates[row, :], notes.forecasts[row, :], notes.outcomes[row, :] = NONE, 0.0, 0.0
    action = move_at(games, table, count, room.discards)
    notes.actions[row] = action
    if int(g["phase"]) == PLAY:
        found = _note_turn(g, table.weights[0], room, notes, row, key, hand, count)
    else:
        found = _note_moves(action, room.moves, legal, notes, row)
    if found == 0:
        notes.candidates[row, 0] = action
    if bonus != NONE:
        _note_outcomes(g, found, table, bonus, room, notes, row, count)


@entry
def compare(
    games: Records,
    seed: np.uint64,
    hand: int,
    kinds: np.ndarray,
    weights: np.ndarray,
    noise: int,
    pays: int,
    bonus: int,
    layout: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    actions: np.ndarray,
    returns: np.ndarray,
    candidates: np.ndarray,
    forecasts: np.ndarray,
    outcomes: np.ndarray,
    ends: np.ndarray,
) -> int:
    """Play hands, from number ``hand`` of ``seed`` (uint64) on, and note what an expert's decisions may come to.

    ``games`` holds one record, which has the rules. The expert is row 0 of ``kinds`` (int64[players]) and ``weights``
    (int64[players, NUM_WEIGHTS]); every seat is played by one of the rows, drawn anew in every hand. In ``noise`` of
    65536 of its decisions the expert strays to any legal move. Decisions with one legal action are left out.

    What is written is that of `Notes`, and ``ends`` (int64[hands]: how many decisions there were up to the end of each
    hand); returns are of reward number ``pays``. Outcomes are points, and ``bonus`` more for closing
    (`search_value.value_of`); with -1 nothing is played on. Stops before the hand that does not fit; returns how many
    hands there are.
    """
    notes = Notes(observations, masks, actions, returns, candidates, forecasts, outcomes)
    states, ways, work = np.empty(MOST_STATES, GAME), np.empty((MOST_STATES, 2), np.int16), np.empty(1, GAME)
    moves, discards = np.empty(MOST_MOVES, np.int16), np.empty(MOST_MOVES, np.int16)
    room = Room(states, ways, np.zeros((MOST_ENDS, 3), np.int64), moves, discards, work)
    seating, keys = np.empty(MAX_SEATS, np.int64), np.empty(MAX_SEATS, np.uint64)
    table = Table(kinds, weights, seating, keys)
    seats, rewards = np.empty(len(actions), np.int8), np.zeros(MAX_SEATS)
    played, first = 0, 0
    while played < len(ends):
        begin_hand(games, len(kinds), seed, hand + played, seating, keys)
        g, n, count = games[0], first, 0
        while not is_over(g):
            noted, legal = seating[int(g["turn"])] == 0, legal_moves(g, moves)
            action = int(moves[0])
            if legal > 1 and not noted:
                action = move_at(games, table, count, discards)
            elif legal > 1:
                if n == len(actions):
                    return played
                _note_decision(games, legal, table, bonus, layout, room, notes, n, seed, hand + played, count)
                chance = philox(seed, hand + played, _STRAYS, count)
                stray = below(chance[0], NOISE_PARTS) < noise
                action, seats[n] = int(moves[below(chance[1], legal)] if stray else actions[n]), g["turn"]
                n += 1
            apply_action(g, action)
            count += 1
        write_rewards(pays, g, rewards)
        for at in range(first, n):
            returns[at] = rewards[seats[at]]
        first = n
        ends[played] = n
        played += 1
    keep(states)
    keep(work)
    return played
