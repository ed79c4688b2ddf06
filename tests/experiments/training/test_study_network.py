"""The study of networks: a small one runs, and the committed page is that of the committed figures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.optional import library

library("torch")
study = library("experiments.study_network")


def test_the_page_is_that_of_the_figures() -> None:
    found = json.loads((study.RESULTS / "network.json").read_text())
    assert (study.RESULTS / "network.md").read_text() == study.as_markdown(found)


def test_the_network_for_the_cards_learns_faster_by_the_committed_figures() -> None:
    rows = json.loads((study.RESULTS / "network.json").read_text())["rows"]
    cards, plain = ({row["decisions"]: row for row in rows if row["network"].startswith(n)} for n in ("cards", "plain"))
    assert list(cards) == list(plain) and len(cards) > 1
    for decisions, row in cards.items():
        assert row["agreement"] > plain[decisions]["agreement"]
        assert row["win_share_ci"][0] > plain[decisions]["win_share_ci"][1]


@pytest.mark.once
@pytest.mark.jit
def test_a_small_study_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "_HELD_OUT", 4096)
    settings = study.StudySettings(decisions=(256, 512), batch=128, hidden=8, deals=2)
    found: dict[str, Any] = study.study(settings)
    assert [(row["network"], row["decisions"]) for row in found["rows"]] == [
        *(("cards, small", 256), ("cards, small", 512)),
        *(("plain, 8-8", 256), ("plain, 8-8", 512)),
    ]
    assert "torch" in found["versions"] and found["rows"][1]["cross_entropy"] < found["rows"][0]["cross_entropy"]
    assert study.as_markdown(found).count("\n|") == 6
