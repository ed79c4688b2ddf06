"""`Scala40VecEnv`: the vector environment as Stable-Baselines3 takes it. Needs the extra ``train``.

::

    from sb3_contrib import MaskablePPO
    from scala40_env.sb3 import Scala40VecEnv

    env = Scala40VecEnv(256, rules={"preset": "fisca", "num_players": 2}, opponents="greedy")
    MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=2048).learn(100_000)

Policies get the observation as a Box (not a Dict: MaskablePPO would store the mask twice) and find the masks by
``env_method("action_masks")``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.vector import Int8s, Scala40VectorEnv

__all__ = ["Scala40VecEnv"]

Indices = None | int | Iterable[int]


def _vec_env() -> Any:
    """The base class. By its name, so that nothing of the package imports a learning library by a statement."""
    try:
        return import_module("stable_baselines3.common.vec_env").VecEnv
    except ImportError as error:
        raise ImportError(
            "scala40_env.sb3 needs Stable-Baselines3: pip install 'scala40-env[train]'", name=error.name
        ) from error


_VecEnv: Any = _vec_env()


class Scala40VecEnv(_VecEnv):  # loaded where stable-baselines3 is there
    """Games of one learner each as a `VecEnv`.

    Args:
        num_envs: how many games.
        arguments: as of `Scala40VectorEnv`.

    Observations are int8[num_envs, size], rewards float32[num_envs], and `infos` a dict for each game: empty but at the
    end of an episode, where it has ``terminal_observation``, ``TimeLimit.truncated`` and the outcome of the last hand
    (keys of `Scala40Env`). `seed(s)` gives game ``i`` the seed ``s + i`` at the next reset.
    """

    def __init__(self, num_envs: int, **arguments: Any) -> None:
        self.env = Scala40VectorEnv(num_envs, **arguments)
        super().__init__(num_envs, self.env.single_observation_space, self.env.single_action_space)
        self._actions: Any = None

    def action_masks(self) -> Int8s:
        """The masks of legal actions: int8, shape (num_envs, actions)."""
        return self.env.action_masks()

    def reset(self) -> Int8s:
        """Begin an episode in every game; with the seeds that `seed` gave, once."""
        given = None if self._seeds[0] is None else self._seeds
        observations, _ = self.env.reset(seed=given)
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take the actions; `step_wait` plays them."""
        self._actions = actions

    def step_wait(self) -> tuple[Int8s, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the actions, and on to the next decisions: observations, rewards, dones, infos."""
        observations, rewards, terminations, truncations, infos = self.env.step(self._actions)
        dones = terminations | truncations
        each: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones).tolist():
            each[i] = self._end_of(i, infos["final_obs"][i], bool(truncations[i]))
        return observations, rewards.astype(np.float32), dones, each

    def _end_of(self, i: int, observation: Int8s, truncated: bool) -> dict[str, Any]:
        """The info of an episode that has ended, under the names of SB3."""
        return {
            "terminal_observation": observation,
            "TimeLimit.truncated": truncated,
            **self.env.outcome(i),
        }

    def close(self) -> None:
        """Nothing is held that has to be let go."""
        self.env.close()

    # -- what SB3 asks of single environments ----------------------------------------------------------------------

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """An attribute for each of these games: all have the same."""
        return [getattr(self.env, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute, of all games together. Raises `ValueError` for only some of them."""
        if len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError(f"{attr_name} can be set for all games together only: they are one array")
        setattr(self.env, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> list[Any]:
        """What a method that gives a row or an item for every game gives for these ones."""
        rows = getattr(self.env, method_name)(*args, **kwargs)
        if rows is None:
            return [None for _ in self._get_indices(indices)]
        return [rows[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Indices = None) -> list[bool]:
        """No game is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        """An image of every game: uint8, shape (height, width, 3)."""
        return self.env.render() or ()
