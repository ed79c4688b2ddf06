"""The vector environment in Stable-Baselines3."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from scala40_env import Rules
from scala40_env.single import Scala40Env
from scala40_env.vector import Scala40VectorEnv
from tests.optional import library
from tests.test_single import SETTINGS

Scala40VecEnv = library("scala40_env.sb3").Scala40VecEnv
pytestmark = pytest.mark.once


TWO = Rules.fisca(num_players=2, hand_size=5, opening_points=10)


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: "-".join(settings) or "default")
def test_the_check_of_sb3(settings: dict[str, Any]) -> None:
    from stable_baselines3.common.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(Scala40Env(**settings), warn=True)


def test_it_is_the_vector_environment() -> None:
    env, vector = Scala40VecEnv(4, rules=TWO), Scala40VectorEnv(4, TWO)
    assert env.seed(3) == [3, 4, 5, 6]
    observations = env.reset()
    others, infos = vector.reset(seed=3)
    assert (observations == others).all()
    rng, ends = np.random.default_rng(0), 0
    for _ in range(200):
        masks = np.stack(env.env_method("action_masks"))
        assert (masks == infos["action_mask"]).all() and masks.dtype == np.int8
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)
        observations, rewards, dones, each = env.step(actions)
        others, other_rewards, terminations, truncations, infos = vector.step(actions)
        assert (observations == others).all() and (rewards == other_rewards.astype(np.float32)).all()
        assert (dones == (terminations | truncations)).all() and rewards.dtype == np.float32
        for i in range(4):
            assert bool(each[i]) == dones[i]
            if dones[i]:
                ends += 1
                assert (each[i]["terminal_observation"] == infos["final_obs"][i]).all()
                assert each[i]["TimeLimit.truncated"] == truncations[i]
                assert each[i]["winner"] == infos["final_info"]["winner"][i]
    assert ends > 4
    before = env.env.games["seed"].tolist()
    env.reset()  # the seeds were for one reset
    assert env.env.games["seed"].tolist() not in (before, [3, 4, 5, 6])


def test_what_sb3_asks_of_single_environments() -> None:
    env = Scala40VecEnv(3, rules=TWO, render_mode="ansi")
    env.reset()
    assert env.get_attr("render_mode") == ["ansi"] * 3 and env.get_attr("rules", [0, 2]) == [TWO, TWO]
    assert len(env.get_attr("action_masks", 1)) == 1 and env.has_attr("action_masks") and not env.has_attr("no_such")
    assert len(env.env_method("action_masks", indices=[1, 2])) == 2
    assert env.env_is_wrapped(Scala40Env) == [False] * 3
    env.set_attr("render_mode", None)
    assert env.env.render_mode is None and env.env_method("render", indices=0) == [None]
    with pytest.raises(ValueError, match="all games together"):
        env.set_attr("render_mode", "ansi", [0])
    env.close()


def test_maskable_ppo_learns_on_it() -> None:
    contrib = library("sb3_contrib")
    from stable_baselines3.common.vec_env import VecMonitor

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env: Any = VecMonitor(Scala40VecEnv(8, rules=TWO, opponents="greedy", illegal_action="raise"))
        model = contrib.MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=128, n_epochs=1, seed=1, device="cpu")
        model.learn(512)
        assert len(model.ep_info_buffer) > 0
        scalar = Scala40Env(TWO, "greedy", illegal_action="raise")
        observation, info = scalar.reset(seed=0)
        action, _ = model.predict(observation, action_masks=info["action_mask"])
        scalar.step(int(action))
