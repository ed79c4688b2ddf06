"""``scala40 bench learning``: what it measures and reports; how fast things are is nobody's guess here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from experiments.cli import main
from experiments.console import Exit
from tests.optional import library

library("torch")
bench = library("experiments.bench_learning")

SMALL = ("--envs", "8", "--steps", "4", "--batch-size", "16", "--epochs", "1", "--rounds", "1", "--hidden", "8")


def test_every_case_is_measured_and_what_has_to_hold_is_told(capsys: Any) -> None:
    code = main(("bench", "learning", *SMALL, "--json", "--learn", "32", "--deals", "2"))
    page = json.loads(capsys.readouterr().out)
    names = [case.name for case in bench.CASES if case not in (bench.COMPILED, bench.BOTH)]
    assert [row["name"] for row in page["results"]] == names
    assert all(row["steps_per_s"] > 0 and row["runs"] == 1 for row in page["results"])
    assert 0 < page["bounds"][2]["value"] < 1
    assert code == (Exit.OK if all(bound["holds"] for bound in page["bounds"]) else Exit.FAILED)
    assert [row["learner"] for row in page["learnt"]] == ["MaskablePPO", "ppo_torch"]
    assert all(row["decisions"] == 32 and row["hands"] == 4 for row in page["learnt"])
    assert {"versions", "machine", "settings"} <= set(page)


def test_bounds_hold_on_their_side() -> None:
    assert bench.Bound("", 1.3, 1.3, True).holds and not bench.Bound("", 1.2, 1.3, True).holds
    assert bench.Bound("", 0.1, 0.1, False).holds and not bench.Bound("", 0.2, 0.1, False).holds


def test_the_tables(capsys: Any) -> None:
    measured = bench.Measured({case: [100.0, 200.0, 150.0] for case in bench.CASES}, [0.3], 0.5, 50.0)
    measured.rates[bench.LEGAL] = [150.0, 300.0, 225.0]
    report = bench.report_of(bench.LearningSettings(), measured)
    assert [bound["holds"] for bound in report["bounds"]] == [True, True, False, True, True]
    assert report["bounds"][0]["value"] == 1.5
    bench._print_report(report)
    out = capsys.readouterr().out
    assert all(case.label in out for case in bench.CASES) and out.count("FAILS") == 1


@pytest.mark.parametrize(
    "words",
    [["--rounds", "0"], ["--batch-size", "100"], ["--threads", "-1"], ["--deals", "1"], ["--size", "vast", *SMALL]],
)
def test_bad_settings_are_one_line(words: list[str], capsys: Any) -> None:
    assert main(("bench", "learning", *words)) == Exit.BAD_INPUT
    error = capsys.readouterr().err
    assert error.startswith("scala40 bench learning: error: ") and error.count("\n") == 1
