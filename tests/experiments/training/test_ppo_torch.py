"""`experiments.ppo_torch`: the algorithm against Stable-Baselines3's, and the script."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from experiments.cli import main as scala40
from experiments.console import Exit
from scala40_env import Rules
from scala40_env.vector import Scala40VectorEnv
from tests.optional import library

torch = library("torch")
plain = library("experiments.ppo_torch")
PPOAgent, Checkpoint = library("agents.ppo.agent").PPOAgent, library("agents.ppo.checkpoint").Checkpoint

TINY = Rules.fisca(num_players=2, hand_size=3, opening_points=0, max_laps=40, match="single_hand")
SETTINGS = plain.PlainSettings(
    envs=32, steps=16, batch_size=128, decisions=1024, epochs=2, threads=1, device="cpu", learning_rate=2e-3
)
CPU = torch.device("cpu")


def rollout_of(seed: int = 0, **changes: Any) -> tuple[Any, Any, Any]:
    """A network, how it thinks, and a rollout of it."""
    settings = dataclasses.replace(SETTINGS, **changes)
    network = plain.new_network(TINY, "small", seed, CPU)
    env = Scala40VectorEnv(settings.envs, TINY, "random", seat="rotate")
    seen = torch.from_numpy(env.reset(seed=seed)[0])
    think = plain._thinking(settings, network, CPU)
    rollout, _ = plain._played(env, seen, think, settings)
    return network, think, rollout


def test_advantages_are_those_of_sb3() -> None:
    _, _, rollout = rollout_of()
    assert rollout.dones.any() and not rollout.dones.all() and rollout.rewards.any()
    space = library("gymnasium.spaces")
    buffer = library("stable_baselines3.common.buffers").RolloutBuffer(
        SETTINGS.steps, space.Box(0, 1, (1,)), space.Discrete(2), gae_lambda=0.9, gamma=0.97, n_envs=SETTINGS.envs
    )
    starts = torch.cat((torch.zeros(1, SETTINGS.envs), rollout.dones[:-1].float())).numpy()
    for step in range(SETTINGS.steps):
        zeros = np.zeros((SETTINGS.envs, 1))
        values, log_probs = rollout.values[step], rollout.log_probs[step]
        buffer.add(zeros, zeros, rollout.rewards[step].numpy(), starts[step], values, log_probs)
    buffer.compute_returns_and_advantage(rollout.last_values, rollout.dones[-1].numpy())
    ours = plain.advantages_of(rollout, 0.97, 0.9).numpy()
    np.testing.assert_allclose(ours, buffer.advantages, rtol=0, atol=1e-5)


def test_log_probs_at_collection_and_at_the_first_update_agree() -> None:
    _, think, rollout = rollout_of()
    legal = library("agents.ppo.distribution")
    rows = torch.randperm(SETTINGS.envs * SETTINGS.steps)[:100]
    observations, masks, actions, before = (
        getattr(rollout, name).flatten(0, 1)[rows] for name in ("observations", "masks", "actions", "log_probs")
    )
    with torch.no_grad():
        chosen = legal.LegalCategorical(think(observations)[0], legal.LegalActions(masks))
    torch.testing.assert_close(chosen.log_prob(actions), before, rtol=0, atol=1e-5)
    assert bool((masks.gather(1, actions[:, None]) == 1).all())


def weights_after(seed: int, **changes: Any) -> dict[str, Any]:
    settings = dataclasses.replace(SETTINGS, seed=seed, **changes)
    network = plain.new_network(TINY, "small", seed, CPU)
    told = list(plain.learn(settings, TINY, network))
    assert [each["decisions"] for each in told] == [512, 1024]
    return dict(network.state_dict())


@pytest.mark.once
def test_the_same_seed_gives_the_same_weights_and_another_one_others() -> None:
    one, same, other = weights_after(0), weights_after(0), weights_after(1)
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.once
def test_in_bf16_it_thinks_nearly_the_same_and_learns() -> None:
    network, think, rollout = rollout_of()
    rounded = plain._thinking(dataclasses.replace(SETTINGS, bf16=True), network, CPU)
    seen = rollout.observations[0]
    with torch.no_grad():
        for one, two in zip(think(seen), rounded(seen), strict=True):
            assert two.dtype == torch.float32 and not torch.equal(one, two)
            torch.testing.assert_close(one, two, rtol=0.05, atol=0.05)
    assert all(torch.isfinite(weight).all() for weight in weights_after(0, bf16=True).values())


@pytest.mark.slow
def test_compiled_it_thinks_the_same() -> None:
    network, think, rollout = rollout_of()
    compiled = plain._thinking(dataclasses.replace(SETTINGS, compile=True), network, CPU)
    with torch.no_grad():
        for one, two in zip(think(rollout.observations[0]), compiled(rollout.observations[0]), strict=True):
            torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-4)


@pytest.mark.once
@pytest.mark.jit
def test_a_tiny_game_is_learnt() -> None:
    measure = library("experiments.training.evaluation").measure
    settings = dataclasses.replace(SETTINGS, envs=64, steps=32, batch_size=512, decisions=12_000, epochs=4)
    network = plain.new_network(TINY, "small", 0, CPU)
    found = []
    for learn in (False, True):
        told = list(plain.learn(settings, TINY, network)) if learn else []
        player = PPOAgent.of(network, TINY, "plain")
        found.append(measure(player, agents.make("random"), TINY, 150, 0))
    before, after = found
    assert after.margin_ci[0] > max(4, before.margin) and after.win_share_ci[0] > 0.55
    assert told[-1]["reward"] > told[0]["reward"]


# ---------------------------------------------------------------------------------------------------------------------
# The script


def script(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["ppo_torch", "--threads", "1", *words])
    return int(plain.main())


def test_the_script_writes_a_checkpoint_that_can_be_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    path = tmp_path / "new" / "plain.npz"
    words = ["--set", "hand_size=3", "--decisions", "64", "--envs", "4", "--steps", "16", "--batch-size", "32"]
    assert script(monkeypatch, *words, "--out", str(path)) == Exit.OK
    assert f"scala40 evaluate {path}" in capsys.readouterr().out
    notes = Checkpoint.load(path).notes
    assert notes["decisions"] == 64 and notes["settings"]["envs"] == 4 and "--decisions 64" in notes["command"]
    assert scala40(["evaluate", str(path), "--against", "random", "--deals", "2"]) == Exit.OK


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--batch-size", "100"], "batch_size = 100"),
        (["--envs", "0"], "envs = 0"),
        (["--size", "vast"], "small, medium, large"),
        (["--seats", "9"], "num_players"),
        (["--device", "tpu"], "device = 'tpu'"),
        (["--opponent", "nobody"], "no agent 'nobody'"),
    ],
)
def test_bad_settings_are_one_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    assert script(monkeypatch, *words, "--out", str(tmp_path / "plain.npz")) == Exit.BAD_INPUT
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())
