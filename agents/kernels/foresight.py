"""How hands end that scripted agents play on from where they are, with the hidden cards that they have.

Nobody at a table could know it. It is for learning: an outcome, noisy, but of what was really dealt, and two outcomes
of one position have all the luck in common that does not depend on the moves between them.
"""

from typing import NamedTuple

import numpy as np

from agents.kernels.choice import choose
from scala40_env.kernels.bits import copy_record, keep
from scala40_env.kernels.engine import apply_action
from scala40_env.kernels.jit import Records, entry, kernel
from scala40_env.kernels.legality import MOST_MOVES
from scala40_env.kernels.phases import is_over
from scala40_env.kernels.rewards import write_rewards
from scala40_env.kernels.state import GAME, MAX_SEATS

__all__ = ["Table", "foresee", "move_at", "play_out"]


class Table(NamedTuple):
    """Who plays.

    `kinds` (int64[players]) and `weights` (int64[players, NUM_WEIGHTS]); `seating` (int64[seats]), rows of these;
    `keys` (uint64[seats]), what their chance depends on.
    """

    kinds: np.ndarray
    weights: np.ndarray
    seating: np.ndarray
    keys: np.ndarray


@kernel
def move_at(games: Records, table: Table, count: int, moves: np.ndarray) -> int:
    """What who is on move in the first game does, after ``count`` moves of the hand."""
    seat = int(games[0]["turn"])
    row = table.seating[seat]
    return choose(int(table.kinds[row]), games, 0, table.weights[row], table.keys[seat], count, moves)


@kernel
def play_out(games: Records, table: Table, count: int, moves: np.ndarray) -> None:
    """Play the hand of the first game to its end."""
    g = games[0]
    while not is_over(g):
        apply_action(g, move_at(games, table, count, moves))
        count += 1


@entry
def foresee(
    games: Records,
    tables: Records,
    which: np.ndarray,
    candidates: np.ndarray,
    kinds: np.ndarray,
    weights: np.ndarray,
    pays: int,
    outcomes: np.ndarray,
) -> None:
    """What the hands of the games ``which`` (int64[n]) bring to who is asked there, by what it does now.

    Each of the ``candidates`` (int64[n, most], legal actions; -1: none) is played in a copy of the game, and that goes
    on to the end of the hand. ``tables`` (dtype `selfplay.TABLE`) say who sits where, as rows of ``kinds``
    (int64[players], all scripted) and ``weights`` (int64[players, NUM_WEIGHTS]). Written are ``outcomes``
    (float32[n, most]), by reward number ``pays``; 0 where there is no candidate.
    """
    work, moves, rewards = np.empty(1, GAME), np.empty(MOST_MOVES, np.int16), np.zeros(MAX_SEATS)
    seating, keys = np.empty(MAX_SEATS, np.int64), np.empty(MAX_SEATS, np.uint64)
    table = Table(kinds, weights, seating, keys)
    for at in range(len(which)):
        t = tables[which[at]]
        for seat in range(MAX_SEATS):
            seating[seat], keys[seat] = t["seating"][seat], t["keys"][seat]
        for k in range(candidates.shape[1]):
            outcomes[at, k] = 0.0
            if candidates[at, k] >= 0:
                copy_record(work, 0, games[which[at]])
                apply_action(work[0], int(candidates[at, k]))
                play_out(work, table, int(t["count"]) + 1, moves)
                write_rewards(pays, work[0], rewards)
                outcomes[at, k] = rewards[int(t["seat"])]
    keep(work)
