"""An environment that costs nothing, for Stable-Baselines3: what is left of a learner's time when nobody plays."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

__all__ = ["Nothing"]

MOST_LEGAL = 20
"""2 to so many actions are legal."""


class Nothing(VecEnv):
    """One observation and one mask for each of `envs` environments for ever; no episode ends, nothing is paid.

    Args:
        envs: how many.
        size: numbers in an observation, zeros and ones.
        actions: how many there are.
    """

    def __init__(self, envs: int, size: int, actions: int) -> None:
        super().__init__(envs, Box(0, 1, (size,), np.int8), Discrete(actions))
        rng = np.random.default_rng(0)
        self._observations = rng.integers(0, 2, (envs, size)).astype(np.int8)
        self._masks = np.zeros((envs, actions), np.bool_)
        for row in self._masks:
            row[rng.choice(actions, rng.integers(2, MOST_LEGAL + 1), replace=False)] = True

    def reset(self) -> NDArray[np.int8]:
        """The observations."""
        return self._observations.copy()

    def step_async(self, actions: Any) -> None:
        """Take the actions and do nothing."""

    def step_wait(self) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """The same observations again."""
        n = self.num_envs
        return self._observations.copy(), np.zeros(n, np.float32), np.zeros(n, np.bool_), [{} for _ in range(n)]

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """The masks: nothing else is asked."""
        return list(self._masks)

    def has_attr(self, attr_name: str) -> bool:
        """There are masks."""
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """None of any."""
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Do nothing."""

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """None is."""
        return [False] * self.num_envs

    def close(self) -> None:
        """Nothing is held."""
