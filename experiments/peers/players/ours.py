"""This project's environments in all their forms; the only players that import it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, cycle
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from experiments.throughput import RandomTable
from scala40_env import Rules, scala40_v0
from scala40_env.vector import Scala40VectorEnv, SelfPlayVectorEnv

LIBRARIES = ("pettingzoo", "gymnasium")
RESET_GAMES = 1024

Play = Callable[[int], int]
Maker = Callable[[Any, Any], Play]


def _rules(settings: Any) -> Rules:
    return Rules(num_players=settings["num_players"])


def _engine(loops: Any, settings: Any) -> Play:
    table = RandomTable(_rules(settings), False, 0)
    seeds = count()

    def play(decisions: int) -> int:
        table.play(decisions, next(seeds))
        return decisions

    return play


def _raw_env(loops: Any, settings: Any) -> Play:
    return loops.aec(scala40_v0.raw_env(rules=_rules(settings)))


def _env(loops: Any, settings: Any) -> Play:
    return loops.aec(scala40_v0.env(rules=_rules(settings)))


def _gymnasium(loops: Any, settings: Any) -> Play:
    return loops.gymnasium(gymnasium.make("Scala40-v0", rules=_rules(settings), opponents="random"))


class RowChoice:
    """One of the legal actions for every row of a batch of masks, each as likely; random numbers are drawn ahead.

    Args:
        num_envs: rows.
        num_actions: numbers in a row.
    """

    def __init__(self, num_envs: int, num_actions: int) -> None:
        self._edges = np.arange(num_envs + 1) * num_actions
        self._next = cycle(np.random.default_rng(40).random((257, num_envs))).__next__

    def __call__(self, masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """The actions: int64[num_envs], for masks int8[num_envs, num_actions]."""
        legal = np.flatnonzero(masks.view(np.bool_))
        starts = np.searchsorted(legal, self._edges)
        chosen = starts[:-1] + (self._next() * np.diff(starts)).astype(np.int64)
        return legal[chosen] - self._edges[:-1]


def _vector(env: Any) -> Play:
    choose = RowChoice(env.num_envs, int(env.single_action_space.n))
    info = env.reset(seed=0)[1]

    def play(decisions: int) -> int:
        nonlocal info
        steps = -(-decisions // env.num_envs)
        for _ in range(steps):
            info = env.step(choose(info["action_mask"]))[4]
        return steps * env.num_envs

    return play


def _learner_vector(loops: Any, settings: Any) -> Play:
    return _vector(Scala40VectorEnv(settings["num_envs"], _rules(settings), "random"))


def _selfplay_vector(loops: Any, settings: Any) -> Play:
    return _vector(SelfPlayVectorEnv(settings["num_envs"], _rules(settings)))


def _resets(form: Any) -> Maker:
    """Resets instead of decisions: one is a reset of all games with new seeds."""

    def make(loops: Any, settings: Any) -> Play:
        env = form(RESET_GAMES, rules=_rules(settings))
        seeds = count(step=RESET_GAMES)

        def play(resets: int) -> int:
            for _ in range(resets):
                env.reset(seed=next(seeds))
            return resets

        return play

    return make


CASES = {
    "engine": _engine,
    "raw_env": _raw_env,
    "env": _env,
    "gymnasium": _gymnasium,
    "learner_vector": _learner_vector,
    "selfplay_vector": _selfplay_vector,
    "reset_learner_vector": _resets(Scala40VectorEnv),
    "reset_selfplay_vector": _resets(SelfPlayVectorEnv),
}
