"""Random play for the tests: records, their legal moves, and walks through whole matches."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from scala40_env import Rules
from scala40_env.kernels import engine
from scala40_env.kernels.jit import JIT_DISABLED
from scala40_env.kernels.state import GAME, HAND_OVER, MATCH_OVER
from scala40_env.rules.moves import POZZO, SLOTS
from scala40_env.rules.reading import Games, legal_ids, number
from tests.reference.compare import new_game as started
from tests.reference.compare import single_options

__all__ = ["RULE_SETS", "choose", "copied", "fewer", "go_on", "legal_ids", "name_of", "played", "started", "walk"]

#: Every preset and every single option, and some partnerships and forms of the match.
RULE_SETS = [*single_options(), Rules.fisca(num_players=4, team_size=2, buying=True, limit=250)]


def fewer(count: int, by: int = 5) -> int:
    """A number of repetitions, smaller where kernels run as plain Python."""
    return max(count // by, 1) if JIT_DISABLED else count


def name_of(rules: Rules) -> str:
    """A short name of a rule set for the list of tests."""
    given = rules.to_dict()
    preset, players = given.pop("preset"), given.pop("num_players")
    return ",".join([f"{preset}{players}", *(f"{field}={value}" for field, value in given.items())])


def copied(games: Games) -> Games:
    """A copy of a game made by the kernel."""
    copy = np.zeros(1, GAME)
    engine.copy_game(games, 0, copy, 0)
    return copy


def go_on(games: Games) -> bool:
    """Deal the next hand, or begin the next match, where one is over; whether one was."""
    phase = number(games, "phase")
    if phase == HAND_OVER:
        engine.next_hand(games, 0)
    elif phase == MATCH_OVER:
        games["seed"] += np.uint64(1)
        engine.start_match(games, 0)
    return phase in (HAND_OVER, MATCH_OVER)


def choose(actions: list[int], rng: random.Random, eagerness: float = 0.0) -> int:
    """A random move; with a probability of `eagerness` one that takes from the pozzo or goes to the table."""
    eager = [action for action in actions if action == POZZO or action >= SLOTS]
    return rng.choice(eager if eager and rng.random() < eagerness else actions)


def walk(rules: Rules, seed: int, decisions: int, eagerness: float | None = None) -> Iterator[tuple[Games, Any]]:
    """Play match after match at random: before every decision the game and its legal ids, and (game, None) after
    every hand. The game is always the same array.
    """
    rng = random.Random(seed)
    keen = rng.choice((0.0, 0.5, 0.95)) if eagerness is None else eagerness
    games = started(rules, seed)
    for _ in range(decisions):
        actions = legal_ids(games)
        yield games, actions
        engine.step(games, 0, choose(actions, rng, keen))
        if number(games, "phase") in (HAND_OVER, MATCH_OVER):
            yield games, None
            go_on(games)


def played(rules: Rules, seed: int, decisions: int, eagerness: float | None = None) -> Games:
    """The game after so many decisions."""
    games = started(rules, seed)
    for games, _ in walk(rules, seed, decisions, eagerness):  # noqa: B007
        pass
    return games
