"""Environments that do nothing: what the frameworks themselves cost, with observations and masks of a given size.

Plain subclasses, as short as the frameworks allow. Like every honest environment they give each observation away as a
copy; their episodes never end, which spares them all that an end costs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

LIBRARIES = ("pettingzoo", "gymnasium")
LEGAL = 10
"""How many actions are legal in the mask that never changes."""
ENV_ID = "scala40-benchmark/Nothing-v0"

Play = Callable[[int], int]


def _constants(size: int, num_actions: int) -> tuple[Any, Any]:
    """The observation (PettingZoo's tests want no zeros), and the mask, in which some actions are legal."""
    mask = np.zeros(num_actions, np.int8)
    mask[np.linspace(0, num_actions - 1, LEGAL, dtype=np.int64)] = 1
    return np.ones(size, np.int8), mask


class NothingAEC(AECEnv):
    """Players take turns, and nothing ever happens.

    Args:
        num_players: how many agents there are.
        size: numbers in an observation.
        num_actions: actions, and numbers in a mask.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "nothing_v0", "render_modes": [], "is_parallelizable": False}

    def __init__(self, num_players: int, size: int, num_actions: int) -> None:
        super().__init__()
        agents = [f"player_{seat}" for seat in range(num_players)]
        self.possible_agents = agents
        self.agents: list[str] = []
        self._observation, self._mask = _constants(size, num_actions)
        self._next = dict(zip(agents, agents[1:] + agents[:1], strict=True))
        parts: dict[str, Any] = {
            "observation": Box(-127, 127, (size,), np.int8),
            "action_mask": Box(0, 1, (num_actions,), np.int8),
        }
        self.observation_spaces: dict[str, Any] = {agent: Dict(parts) for agent in agents}
        self.action_spaces: dict[str, Any] = {agent: Discrete(num_actions) for agent in agents}

    def observation_space(self, agent: str) -> Any:
        """The space of its observations: int8 vectors under the names ``observation`` and ``action_mask``."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The space of its actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Seat the agents."""
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> dict[str, Any]:
        """Ones, and the mask."""
        return {"observation": self._observation.copy(), "action_mask": self._mask.copy()}

    def step(self, action: int | None) -> None:
        """It is the next one's turn."""
        self.agent_selection = self._next[self.agent_selection]


def wrapped(env: Any) -> Any:
    """An environment in the wrappers that `scala40_v0.env` and PettingZoo's own games of cards have."""
    env = wrappers.TerminateIllegalWrapper(env, illegal_reward=-1.0)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))


class NothingEnv(gymnasium.Env[Any, Any]):
    """A Gymnasium environment in which nothing ever happens; the mask is in the info.

    Args:
        size: numbers in an observation.
        num_actions: actions, and numbers in a mask.
    """

    def __init__(self, size: int, num_actions: int) -> None:
        self.observation_space = Box(-127, 127, (size,), np.int8)
        self.action_space = Discrete(num_actions)
        self._observation, self._mask = _constants(size, num_actions)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Ones, and the mask."""
        super().reset(seed=seed)
        return self._observation.copy(), {"action_mask": self._mask.copy()}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Ones, no reward, and the mask."""
        return self._observation.copy(), 0.0, False, False, {"action_mask": self._mask.copy()}


def made_by_gymnasium(size: int, num_actions: int) -> Any:
    """`NothingEnv` as `gymnasium.make` gives it, with the checker."""
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(ENV_ID, lambda **sizes: NothingEnv(**sizes))
    return gymnasium.make(ENV_ID, size=size, num_actions=num_actions)


def _sizes(settings: Any) -> tuple[int, int]:
    return settings["observation_size"], settings["num_actions"]


def _raw(loops: Any, settings: Any) -> Play:
    return loops.aec(NothingAEC(settings["num_players"], *_sizes(settings)))


def _wrapped(loops: Any, settings: Any) -> Play:
    return loops.aec(wrapped(NothingAEC(settings["num_players"], *_sizes(settings))))


def _gymnasium(loops: Any, settings: Any) -> Play:
    return loops.gymnasium(made_by_gymnasium(*_sizes(settings)))


def _choice(loops: Any, settings: Any) -> Play:
    mask = _constants(*_sizes(settings))[1]

    def play(decisions: int) -> int:
        for _ in range(decisions):
            loops.choose_masked(mask)
        return decisions

    return play


CASES = {"nothing_raw": _raw, "nothing_env": _wrapped, "nothing_gymnasium": _gymnasium, "choice": _choice}
