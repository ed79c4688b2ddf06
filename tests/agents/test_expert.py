"""The expert: legal everywhere, the same again from the same seed, its weights a file that is checked, its strength."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents import AgentError
from agents.expert import SHIPPED, make_expert, pack, read_weights, write_weights
from scala40_env import Rules
from scala40_env.rules.config import PRESET_MAX_PLAYERS, PRESETS
from tests.agents.tables import play, records

EXPERT = agents.make("expert")
TABLES = [(name, seats) for name in PRESETS for seats in (2, 4, 6) if seats <= PRESET_MAX_PLAYERS.get(name, 6)]


@pytest.mark.jit
@pytest.mark.parametrize(("preset", "seats"), TABLES)
def test_plays_only_what_is_legal(preset: str, seats: int) -> None:
    rules = Rules.from_preset(preset, num_players=seats)
    greedy = agents.make("greedy")
    rounds = play(rules, [EXPERT, greedy], [[0] + [1] * (seats - 1), [0] * seats] * 5, max_hands=2, logs=True)
    for record in records(rules, rounds, 10):
        record.check()


@pytest.mark.jit
def test_same_seed_same_hands() -> None:
    first, second = (play(Rules.fisca(num_players=3), [EXPERT], [[0, 0, 0]] * 20, logs=True)[0] for _ in range(2))
    assert all((a.actions == b.actions).all() for a, b in zip(first.logs, second.logs, strict=True))


@pytest.mark.jit
def test_beats_greedy() -> None:
    """The same 2,000 deals from both seats; longer runs print 57 to 58%, and a standard error here is 0.7%."""
    greedy, rules, deals = agents.make("greedy"), Rules.fisca(num_players=2), 2000
    rounds = [play(rules, [EXPERT, greedy], [seats] * deals)[0] for seats in ([0, 1], [1, 0])]
    assert np.mean([(rounds[seat].winner == seat).mean() for seat in (0, 1)]) > 0.54
    assert sum((rounds[seat].points[:, seat] - rounds[seat].points[:, 1 - seat]).mean() for seat in (0, 1)) < 0


def test_weights_are_read_as_they_were_written(tmp_path: Path) -> None:
    content = read_weights(SHIPPED)
    write_weights(tmp_path / "same.json", content)
    assert (tmp_path / "same.json").read_bytes() == SHIPPED.read_bytes()
    assert (make_expert(str(tmp_path / "same.json")).weights == pack(content)).all()


def _without_tables(content: dict[str, Any]) -> None:
    content["tables"] = {}


def _longer_row(content: dict[str, Any]) -> None:
    next(iter(content["tables"].values()))["units_by_feature"][0].append(1)


def _fraction(content: dict[str, Any]) -> None:
    next(iter(content["tables"].values()))["stakes"]["win"] = 0.5


def _older(content: dict[str, Any]) -> None:
    content["version"] = 0


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_without_tables, "tables have to be"),
        (_longer_row, "a row has to hold"),
        (_fraction, "win is 0.5"),
        (_older, "of version 0"),
    ],
    ids=["tables", "row", "fraction", "version"],
)
def test_spoilt_weights_are_refused(tmp_path: Path, spoil: Any, said: str) -> None:
    content = read_weights(SHIPPED)
    spoil(content)
    (tmp_path / "bad.json").write_text(json.dumps(content))
    with pytest.raises(AgentError, match=said):
        agents.make(f"expert:{tmp_path / 'bad.json'}")


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="can't be read"):
        agents.make(f"expert:{tmp_path / 'none.json'}")
    (tmp_path / "text.json").write_text("weights")
    with pytest.raises(AgentError, match="no JSON"):
        agents.make(f"expert:{tmp_path / 'text.json'}")
