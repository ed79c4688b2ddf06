"""Reports, merging and the ladder, as commands."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from agents import Agent, AgentError
from experiments import ladder
from experiments.cli import main
from experiments.league.results import read_results
from experiments.league.tables import Column, Table, as_markdown
from scala40_env import Rules, View
from tests.optional import library

SMALL = ("--set", "hand_size=4", "opening_points=0", "max_laps=8", "--no-records")

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def parts(tmp_path: Path, capsys: Capture) -> list[str]:
    """Two halves of a tournament, and the whole."""
    words = ("tournament", "greedy", "random", *SMALL)
    for name, numbers in {"a": ("2", "0"), "b": ("2", "2"), "whole": ("4", "0")}.items():
        out = str(tmp_path / name)
        assert main((*words, "--out", out, "--deals", numbers[0], "--first-deal", numbers[1])) == 0
    capsys.readouterr()
    return [str(tmp_path / name) for name in ("a", "b", "whole")]


def figures(capsys: Capture, *words: str) -> dict[str, list[object]]:
    assert main(("league", "report", *words, "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    return {row["name"]: [row[key] for key in ("hands", "win_share", "mean_points")] for row in found["agents"]}


def test_halves_merged_say_what_the_whole_says(parts: list[str], tmp_path: Path, capsys: Capture) -> None:
    a, b, whole = parts
    out = str(tmp_path / "both.json.gz")
    assert main(("league", "merge", a, b, "--out", out)) == 0
    assert "2 parts, 4 deals" in capsys.readouterr().out
    assert figures(capsys, out) == figures(capsys, whole)
    assert read_results(Path(out)).table is not None


def test_what_can_not_be_merged(parts: list[str], tmp_path: Path, capsys: Capture) -> None:
    a, _, whole = parts
    assert main(("league", "merge", a, whole, "--out", str(tmp_path / "c.json"))) == 2
    assert "both hold deals 0 to 1 of seed 0" in capsys.readouterr().err
    assert main(("league", "merge", a, "--out", str(tmp_path / "c.json"))) == 2
    assert "two files or more" in capsys.readouterr().err
    assert main(("league", "merge", a, f"{a}/../a", "--out", str(tmp_path / "c.json"))) == 2
    assert "is named twice" in capsys.readouterr().err
    assert main(("league", "merge", a, whole, "--out", a)) == 2
    assert "exists already" in capsys.readouterr().err


def test_the_report_is_one_file_and_the_same_each_time(parts: list[str], tmp_path: Path) -> None:
    library("matplotlib")
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for page in pages:
        assert main(("league", "report", parts[2], "--html", str(page), "--markdown", str(tmp_path / "r.md"))) == 0
    text = pages[0].read_text()
    assert text == pages[1].read_text() and text.count("data:image/svg+xml") == 7
    assert not re.search(r'(src|href)="(?!data:)', text) and "greedy" in text and "scala40 tournament" in text
    markdown = (tmp_path / "r.md").read_text()
    assert all(f"### {title}" in markdown for title in ("Agents", "Pairs", "Line-ups", "How hands ended", "By seat"))


def test_the_page_wants_its_libraries(
    parts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(("league", "report", parts[2], "--html", str(tmp_path / "r.html"))) == 2
    assert 'pip install "scala40-env[report]"' in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()


def test_reports_of_nothing(tmp_path: Path, capsys: Capture) -> None:
    assert main(("league", "report", str(tmp_path / "nothing"))) == 2
    assert "no such file of results" in capsys.readouterr().err


def test_cells_do_not_break_markdown() -> None:
    assert "a\\|b" in as_markdown(Table("t", "n", (Column("x"),), (("a|b",),)))


class Narrow(Agent):
    """Plays by the rules of the federation alone."""

    name = "narrow"

    def check_rules(self, rules: Rules) -> None:
        if rules.preset != "fisca":
            raise AgentError("knows fisca alone", self.name)

    def act(self, view: View, rng: np.random.Generator) -> int:
        return view.legal_actions()[0]


@pytest.mark.jit
def test_the_ladder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(ladder, "TABLES", (("fisca", 2), ("megajogos", 4)))
    folders = [f"--{name}={tmp_path / name}" for name in ("results", "work")]
    words = ("league", "ladder", "random", "greedy", "--hands", "40", *folders, f"--page={tmp_path / 'page.md'}")
    assert main(words) == 0
    page = (tmp_path / "page.md").read_text()
    assert "`scala40 league ladder random greedy --hands 40" in page and "under megajogos" in page
    assert "greedy random random random" in page and "numba" in page
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["fisca-2.json.gz", "megajogos-4.json.gz"]
    assert main(words) == 0  # nothing is left to do
    assert (tmp_path / "page.md").read_text() == page
    capsys.readouterr()


@pytest.mark.jit
def test_the_ladder_leaves_out_who_can_not_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(ladder, "TABLES", (("fisca", 2), ("megajogos", 2)))
    narrow = f"{__name__}:Narrow"
    folders = [f"--{name}={tmp_path / name}" for name in ("results", "work")]
    words = ("--hands", "4", "--slow-hands", "6", "2", *folders, f"--page={tmp_path / 'page.md'}")
    assert main(("league", "ladder", "random", "greedy", narrow, *words)) == 0
    page = (tmp_path / "page.md").read_text()
    assert f"- {narrow} is not at 2 seats under megajogos: " in page and "knows fisca alone" in page
    assert set(read_results(tmp_path / "results" / "fisca-2.json.gz").agents) == {"greedy", "random", "narrow"}
    assert set(read_results(tmp_path / "results" / "megajogos-2.json.gz").agents) == {"greedy", "random"}
    deals = [line for line in page.splitlines() if line.startswith(("| narrow | greedy", "| greedy | narrow"))]
    assert len(deals) == 1 and deals[0].split(" | ")[2] == "3"  # two hands of a deal
    seldom = ("--hands", "4", "--slow-hands", "2", "0", f"--results={tmp_path / 'r'}", f"--work={tmp_path / 'w'}")
    monkeypatch.setattr(ladder, "TABLES", (("fisca", 2), ("casa", 2)))
    assert main(("league", "ladder", "random", "greedy", narrow, *seldom, f"--page={tmp_path / 'p.md'}")) == 0
    assert f"- {narrow} is not at 2 seats under casa: it was given no hands there" in (tmp_path / "p.md").read_text()
    capsys.readouterr()
    assert main(("league", "ladder", "random", narrow, *words)) == 2
    assert "not random" in (said := capsys.readouterr().err) and "knows fisca alone" in said


@pytest.mark.jit
def test_the_ladder_gives_quick_agents_more_hands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "TABLES", (("fisca", 2),))
    monkeypatch.setattr(Narrow, "mass_play", True)
    folders = [f"--{name}={tmp_path / name}" for name in ("results", "work")]
    words = ("--hands", "8", "--slow-hands", "2", *folders, f"--page={tmp_path / 'page.md'}")
    assert main(("league", "ladder", "greedy", f"{__name__}:Narrow", *words)) == 0
    assert read_results(tmp_path / "results" / "fisca-2.json.gz").parts[0].block.deals == 4
