"""`experiments.train_rllib`: what is said where RLlib is not meant to be; ``make rllib`` runs the rest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scala40_env import Rules
from tests.optional import library, only_in

ROOT = Path(__file__).parents[3]
OWN, LIBRARY = ".rllib", "ray.rllib"
RULES = Rules.fisca(num_players=3, hand_size=3, opening_points=0, max_laps=20, match="single_hand")


def test_without_rllib_the_message_says_how_to_get_it() -> None:
    library("torch")
    code = f"import sys; sys.modules[{LIBRARY!r}] = None; import experiments.train_rllib"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.returncode == 1
    assert "make rllib" in done.stderr.splitlines()[-1] and "Traceback" not in done.stderr


@pytest.mark.filterwarnings("ignore")
def test_all_seats_play_what_is_legal_and_are_paid_at_the_end() -> None:
    only_in(OWN)
    library(LIBRARY)
    example = library("experiments.train_rllib")
    example._join_cluster(None)
    try:
        algorithm = example.algorithm_of(example.RLlibSettings(runners=0, rollout=200, batch_size=50, epochs=1), RULES)
        episodes = algorithm.env_runner.sample(num_episodes=6, random_actions=False)
        found = [_checked(episode) for episode in episodes]
        algorithm.stop()
    finally:
        library("ray").shutdown()
    assert len(found) == 6
    assert all(abs(sum(paid)) < 1e-6 for paid in found)
    assert any(min(paid) < 0 < max(paid) for paid in found)  # who loses is paid too


def _checked(episode: Any) -> list[float]:
    """What each seat was paid, all at its end."""
    paid = []
    for agent in episode.agent_episodes.values():
        masks, actions = agent.get_observations()["action_mask"], np.asarray(agent.get_actions())
        assert len(masks) == len(actions) + 1
        assert masks[np.arange(len(actions)), actions].all()
        rewards = np.asarray(agent.get_rewards())
        assert not rewards[:-1].any()
        paid.append(float(rewards.sum()))
    return paid


def test_it_trains_on_a_local_cluster_and_writes_a_checkpoint(tmp_path: Path) -> None:
    only_in(OWN)
    library(LIBRARY)
    path = tmp_path / "rllib.npz"
    words = ["--set", "hand_size=3", "--set", "opening_points=0", "--decisions", "400", "--rollout", "200"]
    words += ["--batch-size", "50", "--epochs", "1", "--runners", "1", "--out", str(path)]
    done = subprocess.run(
        [sys.executable, "-m", "experiments.train_rllib", *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=500,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert f"scala40 evaluate {path}" in done.stdout
    checkpoint = library("agents.ppo.checkpoint").Checkpoint.load(path)
    assert checkpoint.rules.hand_size == 3 and checkpoint.notes["decisions"] >= 400
    assert "ray" in checkpoint.notes["versions"]
    assert all(np.isfinite(weight).all() for weight in checkpoint.weights.values())
