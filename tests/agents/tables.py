"""What the tests of agents share: playing games in the arena, and dealing hidden cards anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from agents import Agent
from agents.arena import Arena, HandsEnded
from scala40_env import Rules
from scala40_env.rules.reading import Games, hand_of, known_of, stock_of, words_in
from scala40_env.rules.record import HandLog, Record, record_from_log


def chance(games: int, seats: int, seed: int = 0) -> tuple[Any, Any]:
    """Seeds of deals, and keys of agents."""
    words = np.random.default_rng(seed).integers(0, 2**64, (games, 1 + seats), dtype=np.uint64)
    return words[:, 0], words[:, 1:]


def play(
    rules: Rules, agents: Sequence[Agent], seating: Any, seed: int = 0, max_hands: int | None = 1, logs: bool = False
) -> list[HandsEnded]:
    """All rounds of these games."""
    table = np.array(seating)
    seeds, keys = chance(len(table), rules.num_players, seed)
    return list(Arena(rules, agents).play(table, seeds, keys, max_hands, logs))


def records(rules: Rules, rounds: Sequence[HandsEnded], games: int, seed: int = 0) -> list[Record]:
    """The records of games that were played with logs."""
    seeds, _ = chance(games, rules.num_players, seed)
    hands: list[list[HandLog]] = [[] for _ in range(games)]
    for ended in rounds:
        for i, log in zip(ended.games.tolist(), ended.logs, strict=True):
            hands[i].append(log)
    names = [f"seat {seat}" for seat in range(rules.num_players)]
    return [record_from_log(rules, int(seeds[i]), names, hands[i]) for i in range(games)]


def with_other_hidden_cards(games: Games, seat: int, rng: np.random.Generator) -> Games:
    """The game with all cards that a seat can't see dealt anew."""
    others = [other for other in range(int(games["num_players"][0])) if other != seat]
    known = {other: known_of(games, other) for other in others}
    unknown = {other: list((Counter(hand_of(games, other)) - Counter(known[other])).elements()) for other in others}
    stock = stock_of(games)
    pool = rng.permutation([card for other in others for card in unknown[other]] + stock).tolist()
    other_game = games.copy()
    for other in others:
        cards = known[other] + [pool.pop() for _ in unknown[other]]
        for name, word in zip(("one", "two", "jokers"), words_in(cards), strict=True):
            other_game[name][0, other] = word
    other_game["pile"][0, : len(stock)] = pool
    other_game["seed"] = rng.integers(0, 2**64, dtype=np.uint64)
    return other_game
