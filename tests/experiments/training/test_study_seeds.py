"""The study of seeds: a small one runs, goes on, and the committed page is that of the committed figures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.optional import library

library("torch")
study = library("experiments.study_seeds")

_SMALL = """
size: small
teacher: greedy
clone_decisions: 256
clone_batch: 128
decisions: 256
rollout: 128
batch_size: 64
games: 8
epochs: 1
device: cpu
evaluate_every: 128
evaluate_deals: 2
"""


def test_the_page_is_that_of_the_figures() -> None:
    found = json.loads((study.RESULTS / "seeds.json").read_text())
    assert (study.RESULTS / "seeds.md").read_text() == study.as_markdown(found)
    assert len({row["seed"] for row in found["rows"]}) >= 3


@pytest.mark.once
@pytest.mark.jit
def test_a_small_study_runs_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "small.yaml").write_text(_SMALL)
    words = ["--seeds", "3", "4", "--settings", str(tmp_path / "small.yaml"), "--against", "greedy", "--deals", "4"]
    words += ["--work", str(tmp_path / "work"), "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", ["study_seeds", *words])
    assert study.main() == 0
    found = json.loads((tmp_path / "out" / "seeds.json").read_text())
    assert [row["seed"] for row in found["rows"]] == [3, 4] and found["spread"][0]["against"] == "greedy"
    config = json.loads((tmp_path / "work" / "2-3" / "config.json").read_text())
    assert config["command"] == found["command"] and found["command"].startswith("python -m experiments.study_seeds")
    assert study.main() == 0  # nothing is left to train
    again = json.loads((tmp_path / "out" / "seeds.json").read_text())
    timed = [{key: value for key, value in row.items() if key != "ms"} for row in found["rows"]]
    assert [{key: value for key, value in row.items() if key != "ms"} for row in again["rows"]] == timed
    assert "| all | greedy | " in capsys.readouterr().out


@pytest.mark.once
@pytest.mark.parametrize("words", [["--seeds", "1", "1"], ["--deals", "1"]], ids=["seeds", "deals"])
def test_what_can_not_be_is_refused(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["study_seeds", *words])
    assert study.main() == 2
    said = capsys.readouterr().err
    assert said.startswith("scala40 study_seeds: error: --seeds ") and "2 different seeds and more, 2 deals" in said
