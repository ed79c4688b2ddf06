"""Tables and matches to draw."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

import agents
from agents.arena import Arena
from scala40_env import Game, Record, Rules
from scala40_env.rules.record import HandLog, record_from_log

BUYING = Rules.casa(num_players=4, buying=True, hand_size=10, opening_points=12, limit=300)
NAMES = ("Anna", "Bruno </script><b>x</b>", 'Carla & "Co"', "Dario il più lungo dei nomi ♠")


def stages(rules: Rules, seed: int, moves: int) -> Iterator[Game]:
    """A match played at random, with a liking for the table: the game after every move."""
    game, rng = Game(rules, seed=seed), random.Random(seed)
    for _ in range(moves):
        yield game
        if game.phase == "match_over":
            return
        if game.phase == "hand_over":
            game.next_hand()
            continue
        keen = [move for move in game.legal_moves() if move.split()[0] in ("meld", "attach", "swap", "pozzo", "buy")]
        game.play(rng.choice(keen or game.legal_moves()))


@lru_cache(maxsize=1)
def long_match() -> Record:
    """Thirty hands of four greedy players."""
    rules = Rules.fisca(num_players=4, match="hands", num_hands=30)
    return greedy_match(rules, NAMES)


@lru_cache(maxsize=1)
def full_table() -> Record:
    """Three hands of six greedy players."""
    rules = Rules.fisca(num_players=6, match="hands", num_hands=3)
    return greedy_match(rules, [*NAMES, "Elisa", "Franco"])


def greedy_match(rules: Rules, names: Sequence[str]) -> Record:
    """A match of greedy players."""
    n, logs = rules.num_players, list[HandLog]()
    seats, keys = np.zeros((1, n), np.int64), np.arange(n, dtype=np.uint64).reshape(1, n)
    for ended in Arena(rules, [agents.make("greedy")]).play(seats, np.array([5], np.uint64), keys, None, True):
        logs.extend(ended.logs)
    return record_from_log(rules, 5, names, logs)


def short_match() -> Record:
    """Two hands of two players."""
    rules = Rules.fisca(num_players=2, hand_size=4, opening_points=0, match="hands", num_hands=2)
    *_, game = stages(rules, seed=1, moves=10_000)
    return game.record(["anna", "bruno"])
