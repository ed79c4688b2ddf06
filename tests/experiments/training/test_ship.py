"""Networks that come with the package: how they get there, and that those that are there do what their cards say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


def checkpoint(path: Path, notes: dict[str, Any]) -> Path:
    torch.manual_seed(1)
    size = net.NetworkSize(8, 1, 8)
    network = net.CardNetwork(layout.input_layout(schema_of(TWO)), num_actions(TWO), size)
    saved.Checkpoint.of(network, TWO, notes).save(path)
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
