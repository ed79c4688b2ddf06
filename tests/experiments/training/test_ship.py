"""Networks that come with the package: how they get there, and that those that are there do what their cards say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from scala40_env import Rules
from scala40_env.observation import schema_of
from scala40_env.rules.moves import num_actions
from tests.agents.tables import play
from tests.optional import library

torch = library("torch")
library("sb3_contrib")
ship, net, saved, player = (
    library(name) for name in ("experiments.ship", "agents.ppo.network", "agents.ppo.checkpoint", "agents.ppo.agent")
)
layout = library("agents.ppo.layout")
TWO = Rules.fisca(num_players=2, match="single_hand")
#: For inference, without an optimiser: the repository is no place for more.
MOST_BYTES = 10_000_000


def checkpoint(path: Path, notes: dict[str, Any], seed: int = 1, channels: int = 8, rules: Rules = TWO) -> Path:
    torch.manual_seed(seed)
    size = net.NetworkSize(channels, 1, 8)
    network = net.CardNetwork(layout.input_layout(schema_of(rules)), num_actions(rules), size)
    saved.Checkpoint.of(network, rules, notes).save(path)
    return path


def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    given = [
        "ship",
        str(
            checkpoint(tmp_path / "best.npz", {"settings": {"teacher": "expert", "start": "/home"}, "decisions": 1234})
        ),
    ]
    monkeypatch.setattr("sys.argv", [*given, "--folder", str(tmp_path / "weights"), "--deals", "2", *words])
    return int(ship.main())


@pytest.mark.once
def test_a_network_is_shipped_with_its_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = checkpoint(tmp_path / "first.npz", {"settings": {"teacher": "greedy"}, "evaluation": [1]})
    assert shipped(tmp_path, monkeypatch, "--name", "mine", "--after", str(first), "--against", "random") == 0
    folder = tmp_path / "weights"
    made = saved.Checkpoint.load(folder / "mine.npz")
    assert [stage["settings"]["teacher"] for stage in made.notes["stages"]] == ["greedy", "expert"]
    assert made.notes["stages"][1]["settings"] == {"teacher": "expert"}  # no places of the machine it was made on
    assert "evaluation" not in made.notes["stages"][0] and made.notes["strength"][0]["hands"] == 4
    assert json.loads((folder / "index.json").read_text())["mine"]["rules"] == TWO.to_dict()
    card = (folder / "mine.md").read_text()
    assert "scala40 evaluate ppo:mine --against random --deals 2 --seed 1" in card
    assert (
        "1,234 decisions of its own by PPO" in card and "decisions of `greedy`" in card and "| `random` | 4 |" in card
    )
    after = str(folder / "mine.npz")  # a shipped one stands for all its stages
    assert shipped(tmp_path, monkeypatch, "--name", "next", "--after", after, "--against", "random") == 0
    assert [stage["settings"]["teacher"] for stage in saved.Checkpoint.load(folder / "next.npz").notes["stages"]] == [
        "greedy",
        "expert",
        "expert",
    ]


def mean_of(monkeypatch: pytest.MonkeyPatch, *files: Path, out: Path) -> int:
    monkeypatch.setattr("sys.argv", ["mean_of", *map(str, files), "--out", str(out)])
    return int(library("experiments.mean_of").main())


@pytest.mark.once
def test_a_mean_of_networks_is_shipped_with_all_that_it_came_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = [{"settings": {"teacher": "greedy", "seed": seed}, "decisions": 5000 * seed} for seed in (1, 2)]
    parts = [checkpoint(tmp_path / f"{seed}.npz", notes[seed - 1], seed) for seed in (1, 2)]
    mean = tmp_path / "mean.npz"
    assert mean_of(monkeypatch, *parts, out=mean) == 0
    assert saved.Checkpoint.load(mean).notes["settings"] == notes[1]["settings"]
    found, one, other = (saved.Checkpoint.load(path).weights for path in (mean, *parts))
    assert all(np.allclose(found[name], (one[name] + other[name]) / 2, atol=1e-7) for name in one)
    words = ["ship", str(mean), "--after", *map(str, parts), "--name", "mine", "--against", "random", "--deals", "2"]
    monkeypatch.setattr("sys.argv", [*words, "--folder", str(tmp_path / "weights")])
    assert ship.main() == 0
    card = (tmp_path / "weights" / "mine.md").read_text()
    both = "seed 1 after 5,000 decisions; seed 2 after 10,000 decisions"
    assert f"3. The mean of the weights of 2 networks: {both}.\n" in card and "`greedy`" in card
    assert mean_of(monkeypatch, parts[0], mean, out=tmp_path / "again.npz") == 0
    assert saved.Checkpoint.load(tmp_path / "again.npz").notes["parts"][1] == "a mean of 2"


@pytest.mark.once
def test_means_that_can_not_be_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = checkpoint(tmp_path / "first.npz", {})
    wide = checkpoint(tmp_path / "wide.npz", {}, channels=9)
    three = checkpoint(tmp_path / "three.npz", {}, rules=Rules.fisca(num_players=3, match="single_hand"))
    for files, told in (([first], "1 networks"), ([first, wide], "channels=9"), ([first, three], "num_players")):
        assert mean_of(monkeypatch, *files, out=tmp_path / "mean.npz") == 2
        said = capsys.readouterr().err
        assert told in said and said.count("\n") == 1
    assert not (tmp_path / "mean.npz").exists()
    monkeypatch.setattr("sys.argv", ["ship", str(tmp_path / "none.npz"), "--name", "mine"])
    assert ship.main() == 2
    assert "there is no checkpoint" in capsys.readouterr().err


@pytest.mark.once
@pytest.mark.parametrize(
    ("words", "told"),
    [(("--name", "a/b"), "--name a/b"), (("--name", "a", "--seed", "-1"), "--seed -1")],
    ids=["name", "seed"],
)
def test_what_can_not_be_shipped(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    told: str,
) -> None:
    assert shipped(tmp_path, monkeypatch, *words) == 2
    said = capsys.readouterr().err
    assert told in said and "allowed" in said and said.count("\n") == 1
    assert not (tmp_path / "weights").exists()


@pytest.mark.once
@pytest.mark.parametrize("name", player.shipped())
def test_what_is_shipped_plays(name: str) -> None:
    """Whole hands by the rules that the index says, without an illegal move; small, and with a card."""
    path, rules = player.WEIGHTS / f"{name}.npz", player.shipped()[name]
    assert path.stat().st_size < MOST_BYTES and f"# ppo:{name}\n" in path.with_suffix(".md").read_text()
    assert saved.Checkpoint.load(path).rules == rules
    agent = agents.make("ppo")
    agent.check_rules(rules)
    seating = [[0, *[1] * (rules.num_players - 1)]] * 20
    (ended,) = play(rules, [agents.make(f"ppo:{name}"), agents.make("greedy")], seating)
    assert len(ended.games) == 20
