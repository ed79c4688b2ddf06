"""Checkpoints and the agent that plays them: by file, by name, by the rules at hand, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents import AgentError
from agents.arena import Arena
from agents.ppo.layout import input_layout
from experiments.training.teacher import TeacherStream, unpacked
from scala40_env import Game, Rules
from scala40_env.observation import schema_of
from scala40_env.rules.moves import num_actions
from tests.agents.tables import play
from tests.optional import library

torch = library("torch")
library("sb3_contrib")
ppo_agent, saved, net = (library(f"agents.ppo.{name}") for name in ("agent", "checkpoint", "network"))
Player, PPOAgent, make_ppo = ppo_agent.Player, ppo_agent.PPOAgent, ppo_agent.make_ppo
Checkpoint, CheckpointError = saved.Checkpoint, saved.CheckpointError
CardNetwork, NetworkSize = net.CardNetwork, net.NetworkSize

RULES = Rules.fisca(num_players=2)
ROOT = Path(__file__).parents[2]


def some_checkpoint(rules: Rules = RULES) -> Checkpoint:
    torch.manual_seed(1)
    network = CardNetwork(input_layout(schema_of(rules)), num_actions(rules), NetworkSize(8, 1, 8))
    return Checkpoint.of(network, rules, {"made by": "a test"})


@pytest.mark.once
def test_a_new_process_plays_the_same_on_stored_observations(tmp_path: Path) -> None:
    checkpoint = some_checkpoint()
    checkpoint.save(tmp_path / "net.npz")
    found = TeacherStream(RULES, agents.make("greedy"), seed=1).read(4096).take(slice(0, 300))
    masks = unpacked(found.masks, num_actions(RULES))
    np.savez(tmp_path / "seen.npz", observations=found.observations, masks=masks)
    actions = Player(checkpoint.network(), RULES).choose(found.observations, masks, None)
    script = (
        "import sys, numpy as np; from pathlib import Path; from agents.ppo.agent import Player;"
        "from agents.ppo.checkpoint import Checkpoint; folder = Path(sys.argv[1]);"
        "made = Checkpoint.load(folder / 'net.npz'); seen = np.load(folder / 'seen.npz');"
        "chosen = Player(made.network(), made.rules).choose(seen['observations'], seen['masks'], None);"
        "np.save(folder / 'actions.npy', chosen)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, check=True)
    assert np.array_equal(np.load(tmp_path / "actions.npy"), actions)
    assert len(set(actions.tolist())) > 20


def test_other_rules_are_refused_field_by_field_but_not_another_match(tmp_path: Path) -> None:
    agent = PPOAgent(some_checkpoint())
    agent.check_rules(RULES.replace(match="single_hand"))
    agent.check_rules(RULES.replace(limit=201))
    with pytest.raises(AgentError, match=r"num_players is 2 there, 4 here; opening_points is 40 there, 30 here"):
        agent.check_rules(Rules.fisca(num_players=4, opening_points=30))
    with pytest.raises(AgentError, match="opening_points"):
        Arena(Rules.fisca(num_players=2, opening_points=30), [agent])


def test_a_network_of_other_rules_is_refused_too() -> None:
    agent = PPOAgent.of(some_checkpoint().network(), RULES, "mine")
    agent.check_rules(RULES.replace(match="single_hand"))
    with pytest.raises(AgentError, match="'mine': its network is for other rules: opening_points is 40 there, 30 here"):
        agent.check_rules(RULES.replace(opening_points=30))


@pytest.mark.parametrize("sample", [True, False])
def test_a_row_without_a_legal_action_is_refused(sample: bool) -> None:
    masks = np.zeros((3, num_actions(RULES)), np.uint8)
    masks[[0, 2], 5] = 1
    seen = schema_of(RULES).empty(3)
    with pytest.raises(ValueError, match="row 1 of the masks"):
        Player(some_checkpoint().network(), RULES).choose(seen, masks, np.zeros(3, np.float32) if sample else None)


def spoilt(path: Path, name: str, **changes: Any) -> Path:
    """A copy of a checkpoint with something else in its heading."""
    with np.load(path) as found:
        arrays = dict(found)
    heading = json.loads(str(arrays["heading"])) | changes
    other = path.with_name(name)
    np.savez(other, **(arrays | {"heading": np.array(json.dumps(heading))}))
    return other


def test_broken_files_give_one_clear_error(tmp_path: Path) -> None:
    good = tmp_path / "good.npz"
    some_checkpoint().save(good)
    text = tmp_path / "text.npz"
    text.write_text("no weights at all")
    cut = tmp_path / "cut.npz"
    cut.write_bytes(good.read_bytes()[:2000])
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, heading=np.array([{"a": 1}], object))
    for path, words in [
        (tmp_path / "none.npz", "there is no checkpoint"),
        (text, "no checkpoint, or broken"),
        (cut, "no checkpoint, or broken"),
        (pickled, "no checkpoint, or broken"),
        (spoilt(good, "a.npz", actions="other"), "another table of actions"),
        (spoilt(good, "b.npz", observation="other"), "another observation"),
        (spoilt(good, "c.npz", format_version=99), "version 1"),
        (spoilt(good, "d.npz", size={"channels": 9, "blocks": 1, "numbers": 8}), "no checkpoint, or broken"),
        (spoilt(good, "e.npz", rules={"preset": "nope"}), "no checkpoint, or broken"),
    ]:
        with pytest.raises(CheckpointError, match=words) as caught:
            Checkpoint.load(path)
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)
    again = Checkpoint.load(str(good))  # a path may be text too
    assert again.notes == {"made by": "a test"}
    assert again.rules == RULES


def test_games_are_played_to_their_ends_at_every_number_of_seats(tmp_path: Path) -> None:
    for rules in (RULES, Rules.casa(num_players=4)):
        agent = PPOAgent(some_checkpoint(rules), sample=True)
        seating = [[0, 1] * (rules.num_players // 2)] * 4
        rounds = play(rules, [agent, agents.make("greedy")], seating)
        assert len(rounds[0].games) == 4


def test_one_at_a_time_and_in_batches_alike() -> None:
    agent = PPOAgent(some_checkpoint())
    game, rng = Game(RULES, seed=3), np.random.default_rng(0)
    views = []
    for _ in range(40):
        views.append(game.view(game.turn))
        game.play_action(int(rng.choice(game.legal_actions())))
    rngs = [np.random.default_rng(k) for k in range(40)]
    together = list(agent.act_batch(views, rngs))
    assert together == [agent.act(view, rng) for view, rng in zip(views, rngs, strict=True)]
    assert all(action in view.legal_actions() for action, view in zip(together, views, strict=True))
    with pytest.raises(AgentError, match="not on move"):
        agent.act(game.view(1 - game.turn), rng)


def test_sampling_depends_on_the_generator_alone() -> None:
    agent = PPOAgent(some_checkpoint(), sample=True)
    game = Game(RULES, seed=3).play("stock")
    drawn = [agent.act(game.view(game.turn), np.random.default_rng(seed)) for seed in range(20)]
    assert drawn == [agent.act(game.view(game.turn), np.random.default_rng(seed)) for seed in range(20)]
    assert len(set(drawn)) > 3


def test_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some_checkpoint().save(tmp_path / "two.npz")
    entry = {"file": "two.npz", "rules": RULES.to_dict()}
    (tmp_path / "index.json").write_text(json.dumps({"two-seats": entry}))
    monkeypatch.setattr(ppo_agent, "WEIGHTS", tmp_path)
    for cached in (ppo_agent.shipped, ppo_agent._loaded):
        cached.cache_clear()
    try:
        agents.make("ppo").check_rules(RULES)
        agents.make("ppo:two-seats").check_rules(RULES)
        assert make_ppo("sample").sample
        assert make_ppo(f"{tmp_path / 'two.npz'},sample").sample
        assert not make_ppo(str(tmp_path / "two.npz")).sample
        with pytest.raises(AgentError, match=r"no weights for .*two-seats"):
            agents.make("ppo").check_rules(Rules.fisca(num_players=3))
        with pytest.raises(AgentError, match=r"neither a file nor one of the weights: two-seats"):
            agents.make("ppo:three-seats")
    finally:
        for cached in (ppo_agent.shipped, ppo_agent._loaded):
            cached.cache_clear()


def test_without_pytorch_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "agents.ppo.agent")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(AgentError, match=r"pip install 'scala40-env\[train\]'"):
        agents.make("ppo")
