"""PettingZoo's ``gin_rummy_v4``: bare, in its wrappers, and the loop of PettingZoo's own benchmark."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from pettingzoo.classic import gin_rummy_v4

LIBRARIES = ("pettingzoo", "rlcard")

Play = Callable[[int], int]


def _raw_env(loops: Any, settings: Any) -> Play:
    return loops.aec(gin_rummy_v4.raw_env())


def _env(loops: Any, settings: Any) -> Play:
    return loops.aec(gin_rummy_v4.env())


def _benchmark(loops: Any, settings: Any) -> Play:
    """The loop of PettingZoo's `performance_benchmark`, its choice included; what it calls turns are decisions here."""
    env = gin_rummy_v4.env()
    env.reset()

    def play(decisions: int) -> int:
        made = 0
        while made < decisions:
            for _ in env.agent_iter(env.num_agents):
                seen, _, terminated, truncated, _ = env.last()
                over = terminated or truncated
                env.step(None if over else random.choice(np.flatnonzero(seen["action_mask"]).tolist()))
                made += 1
                if all(env.terminations.values()) or all(env.truncations.values()):
                    env.reset()
        return made

    return play


CASES = {"pettingzoo_raw_env": _raw_env, "pettingzoo_env": _env, "pettingzoo_benchmark": _benchmark}
