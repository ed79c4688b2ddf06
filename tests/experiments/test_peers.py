"""``scala40 bench peers``: what it asks of its workers and how it reports. Libraries of files written here stand in."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from experiments.cli import main
from experiments.console import Exit
from experiments.measuring import own_process
from experiments.peers import bench, workers
from experiments.peers.bench import Measured, PeersSettings, cases_of, report_of
from experiments.peers.cases import CASES, LIBRARIES, NAMES, RATIOS, RESETS, cases_as_markdown
from experiments.peers.workers import Worker, WorkerFailed
from tests.docs.pages import DOCS

TINY = ("bench", "peers", "--seconds", "0.002", "--rounds", "2")
SETTINGS = {"core": None}

Capture = pytest.CaptureFixture[str]

GOOD = """
def counts(loops, settings):
    return lambda decisions: sum(1 for _ in range(decisions))
LIBRARIES = ("numpy",)
CASES = dict.fromkeys({names}, counts)
"""
BAD = """
import os, sys, time
def dies(loops, settings):
    print("farewell", file=sys.stderr, flush=True)
    os._exit(3)
def fails(loops, settings):
    raise KeyError("no such game")
def sleeps(loops, settings):
    time.sleep(60)
def prints(loops, settings):
    print("a library that greets everybody")
    return lambda decisions: sum(1 for _ in range(decisions))
LIBRARIES = ()
CASES = {"dies": dies, "fails": fails, "sleeps": sleeps, "prints": prints}
"""

LATE = """
import time
calls = []
def play(decisions):
    calls.append(0)
    assert len(calls) < 3, "too often"
    began = time.process_time()
    while time.process_time() < began + 0.01:
        pass
    return decisions
LIBRARIES = ()
CASES = {"openspiel_apply": lambda loops, settings: play}
"""


@pytest.fixture
def players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where every library has players that do nothing; all of them run in this environment."""
    for library in LIBRARIES:
        names = [case.name for case in (*CASES, *RESETS) if case.library == library]
        (tmp_path / f"{library}.py").write_text(GOOD.format(names=names))
    monkeypatch.setattr(workers, "PLAYERS", tmp_path)
    monkeypatch.setattr(bench, "command_of", lambda library, peers: own_process())
    return tmp_path


# ---------------------------------------------------------------------------------------------------------------------
# The command


def test_every_case_is_measured_and_reported(players: Path, capsys: Capture) -> None:
    assert main((*TINY, "--json")) in (Exit.OK, Exit.FAILED)  # the ratios of nothing are anybody's guess
    page = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in page["results"]] == [case.name for case in CASES]
    assert all(row["decisions_per_s"] > 0 and row["spread"] >= 0 and row["runs"] == 2 for row in page["results"])
    assert all(list(row["versions"]) == ["numpy"] for row in page["results"])
    assert [row["name"] for row in page["ratios"]] == [ratio.name for ratio in RATIOS]
    assert {"name", "value", "at_least", "holds"} == set(page["ratios"][0])
    assert page["reset_1024_ms"] == max(row["ms"] for row in page["resets"]) and len(page["resets"]) == len(RESETS)
    assert page["missing"] == page["failed"] == []


def test_the_tables(players: Path, capsys: Capture) -> None:
    main(TINY)
    out = capsys.readouterr().out
    assert all(case.label in out for case in CASES) and all(ratio.name in out for ratio in RATIOS)
    assert "one core of" in out and "Reset of 1,024 games" in out and "openspiel: numpy" in out


def test_the_page_has_the_tables_that_the_command_prints(players: Path, capsys: Capture) -> None:
    main((*TINY, "--markdown"))
    printed = _first_cells(capsys.readouterr().out)
    pasted = _first_cells(
        (DOCS / "benchmarks.md").read_text().partition("<!-- peers:")[2].partition("<!-- end of peers -->")[0]
    )
    assert printed == pasted and len(printed) == len(CASES) + len(RATIOS) + 4


def _first_cells(page: str) -> list[str]:
    return [line.split(" | ")[0] for line in page.splitlines() if line.startswith("|")]


def test_the_page_tells_what_each_case_does() -> None:
    assert cases_as_markdown() in (DOCS / "benchmarks.md").read_text()


def test_only_what_is_asked_for_is_measured(players: Path, capsys: Capture) -> None:
    main((*TINY, "--json", "--only", "openspiel_tensor", "rlcard"))
    page = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in page["results"]] == ["rlcard_run", "rlcard_step", "rlcard_game", "openspiel_tensor"]
    assert all(row["value"] is None and row["holds"] is None for row in page["ratios"])
    assert page["reset_1024_ms"] is None


def test_a_library_that_is_not_installed_is_told_and_the_others_are_measured(
    players: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(bench, "command_of", workers.command_of)
    words = ("--only", "nothing_raw", "openspiel", "--peers", str(tmp_path))
    assert main((*TINY, "--json", *words)) == Exit.FAILED
    out, err = capsys.readouterr()
    assert [row["name"] for row in json.loads(out)["results"]] == ["nothing_raw"]
    assert json.loads(out)["missing"] == [{"library": "openspiel", "install": "make peers"}]
    assert err == "scala40 bench peers: not installed: openspiel; make peers installs them\n"


def test_an_environment_of_its_own_is_found(tmp_path: Path) -> None:
    python = tmp_path / "rlcard" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    command = workers.command_of("rlcard", tmp_path)
    assert command is not None and command[0] == [str(python)] and "PYTHONPATH" not in command[1]
    assert workers.command_of("openspiel", tmp_path) is None


def test_one_that_fails_is_told_and_the_others_are_measured(players: Path, capsys: Capture) -> None:
    (players / "rlcard.py").write_text("import nothing_of_that_name\n")
    (players / "openspiel.py").write_text("import os\nLIBRARIES = CASES = ()\nos._exit(3)\n")
    assert main((*TINY, "--json", "--only", "engine", "rlcard_run", "openspiel_apply")) == Exit.FAILED
    out, err = capsys.readouterr()
    page = json.loads(out)
    assert [row["name"] for row in page["results"]] == ["engine"]
    assert [row["library"] for row in page["failed"]] == ["rlcard", "openspiel"]
    assert "ModuleNotFoundError: No module named 'nothing_of_that_name'" in page["failed"][0]["message"]
    assert "its process died with exit code 3" in err and err.count("\n") == 2


def test_what_was_measured_before_a_failure_stays(players: Path, capsys: Capture) -> None:
    (players / "openspiel.py").write_text(LATE)
    assert main((*TINY, "--json", "--only", "engine", "openspiel_apply")) == Exit.FAILED
    page = json.loads(capsys.readouterr().out)
    assert {row["name"]: row["runs"] for row in page["results"]} == {"engine": 2, "openspiel_apply": 1}
    assert page["failed"][0]["message"] == "openspiel: AssertionError: too often (in openspiel_apply)"


@pytest.mark.parametrize("times", [1, 2])
def test_what_is_complete_is_printed_when_interrupted(
    players: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Interrupted in the round that warms up there is nothing to print, in the next one a case is complete."""
    answered, asked = Worker.rate, []

    def rate(self: Worker, case: str, seconds: float) -> float:
        asked.append(case)
        if asked.count("openspiel_apply") == times:
            raise KeyboardInterrupt
        return answered(self, case, seconds)

    monkeypatch.setattr(Worker, "rate", rate)
    assert main((*TINY, "--json", "--only", "rlcard_run", "openspiel_apply")) == Exit.INTERRUPTED
    out, err = capsys.readouterr()
    if times == 1:
        assert out == "" and err == "scala40: interrupted\n"
    else:
        assert [row["name"] for row in json.loads(out)["results"]] == ["rlcard_run"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--only", "openspeil"), "did you mean 'openspiel'"),
        (("--players", "7"), "allowed is an integer from 2 to 6"),
        (("--num-envs", "0"), "--num-envs 0: allowed is 1 to"),
        (("--seconds", "0"), "more than 0"),
        (("--rounds", "0"), "1 to 1000"),
        (("--json", "--markdown"), "one of them"),
    ],
)
def test_settings_that_measure_nothing_are_refused(capsys: Capture, words: tuple[str, ...], said: str) -> None:
    assert main(("bench", "peers", *words)) == Exit.BAD_INPUT
    out, err = capsys.readouterr()
    assert out == "" and said in err and err.count("\n") == 1


# ---------------------------------------------------------------------------------------------------------------------
# Ratios


def reported(**rates: float) -> dict[str, Any]:
    measured = Measured(versions={library: {} for library in LIBRARIES})
    measured.runs |= {name: [rate / 2, rate, rate] for name, rate in rates.items()}
    return report_of(PeersSettings(), measured)


def ratios_of(report: dict[str, Any]) -> dict[str, Any]:
    return {ratio["name"]: ratio for ratio in report["ratios"] if ratio["value"] is not None}


def test_a_ratio_is_that_of_the_medians_and_has_its_bound() -> None:
    below = ratios_of(reported(selfplay_vector=199.0, openspiel_tensor=10.0))["selfplay_vector / openspiel_tensor"]
    assert below["value"] == 19.9 and below["at_least"] == 20 and below["holds"] is False
    above = ratios_of(reported(selfplay_vector=200.0, openspiel_tensor=10.0))["selfplay_vector / openspiel_tensor"]
    assert above["holds"] is True


def test_the_choice_is_taken_off_both_sides() -> None:
    """Ten and four seconds a decision, two of which are the choice: two of eight."""
    found = ratios_of(reported(raw_env=1 / 10, nothing_raw=1 / 4, choice=1 / 2))
    assert found["raw_env / nothing_raw"]["value"] == 0.4
    assert found["raw_env / nothing_raw, choice taken off"]["value"] == 0.25


@pytest.mark.parametrize(
    ("rates", "well"),
    [
        ({"env": 7.0, "nothing_env": 10.0, "reset_selfplay_vector": 101.0}, True),
        ({"env": 6.9, "nothing_env": 10.0, "reset_selfplay_vector": 101.0}, False),
        ({"env": 7.0, "nothing_env": 10.0, "reset_selfplay_vector": 99.0}, False),
    ],
)
def test_a_bound_that_does_not_hold_fails_the_command(rates: dict[str, float], well: bool, capsys: Capture) -> None:
    report = reported(**rates)
    assert bench._all_well(report) is well
    bench._print_report(report)
    assert ("FAILS" in capsys.readouterr().out) is not well


def test_names_are_said_once_and_mean_something() -> None:
    assert len(set(NAMES)) == len(NAMES) and not set(NAMES) & set(LIBRARIES)
    assert {name for ratio in RATIOS for name in (ratio.over, ratio.under)} <= set(NAMES)
    assert len(cases_of(())) == len(NAMES)


# ---------------------------------------------------------------------------------------------------------------------
# One worker


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("dies", "bad: its process died with exit code 3: farewell"),
        ("fails", "bad: KeyError: 'no such game'"),
        ("sleeps", "bad: no answer in"),
        ("unknown", "bad: KeyError: 'unknown'"),
    ],
)
def test_a_worker_that_can_not_go_on_says_why(
    players: Path, monkeypatch: pytest.MonkeyPatch, case: str, said: str
) -> None:
    (players / "bad.py").write_text(BAD)
    worker = Worker("bad", own_process(), SETTINGS)
    try:
        if case == "sleeps":
            monkeypatch.setattr(workers, "PATIENCE", 0.3)
        with pytest.raises(WorkerFailed, match=said):
            worker.rate(case, 0.001)
    finally:
        monkeypatch.setattr(workers, "PATIENCE", 60.0)
        worker.close()
    assert worker._process.returncode is not None


def test_what_a_library_prints_is_no_answer(players: Path) -> None:
    (players / "bad.py").write_text(BAD)
    worker = Worker("bad", own_process(), SETTINGS)
    try:
        assert worker.rate("prints", 0.001) > 0
    finally:
        worker.close()


def test_asking_a_dead_worker_fails(players: Path) -> None:
    worker = Worker("openspiel", own_process(), SETTINGS)
    worker._process.kill()
    worker._process.wait()
    try:
        with pytest.raises(WorkerFailed, match="its process died with exit code"):
            worker.rate("openspiel_apply", 0.001)
    finally:
        worker.close()
