"""``scala40 bench engine``: what it measures and how it reports, with runs too short to mean anything."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from experiments import throughput
from experiments.cli import main
from experiments.console import Exit
from experiments.throughput import AGENT_HANDS, COPY, MASK, Case, ThroughputSettings, cases_of
from scala40_env.cores import cores_there

TINY = ("bench", "engine", "--seconds", "0.005", "--rounds", "1", "--cores", "1", "--preset", "fisca", "megajogos")

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput, "BATCH_GAMES", 20)
    monkeypatch.setattr(throughput, "AGENT_HANDS", dict.fromkeys(AGENT_HANDS, 2))
    monkeypatch.setattr(throughput, "PLAIN_DECISIONS", 40)


def answers_alike(numbers: Any, seed: int) -> Any:
    """What the process of the baseline would answer, without the process."""
    return ((players, throughput.plain_part(players, seed, 40)[0]) for players in numbers)


@pytest.mark.jit
def test_figures_of_every_case(capsys: Capture) -> None:
    assert main((*TINY, "--players", "2", "6", "--json")) == 0
    page = json.loads(capsys.readouterr().out)
    cases = {(row["preset"], row["players"], row["what"], row["cores"]) for row in page["results"]}
    assert cases == {(p, n, w, 1) for p, n in PLACES for w in (MASK, COPY)}
    assert all(row["decisions_per_s"] > 0 and row["spread"] >= 0 for row in page["results"])
    fisca = page["results"][0]
    assert fisca["ratio_to_fisca"] == fisca["ratio_to_fisca_2_players"] == 1
    assert [row["players"] for row in page["baseline"]] == [2, 6]
    assert [(row["agent"], row["players"]) for row in page["agents"]] == list(product(AGENT_HANDS, [2, 6]))
    assert page["baseline"][0]["compiled_is_faster"] > 1
    assert page["record_bytes"] == page["batch"]["record_bytes"] < 1024
    assert {"numba", "numpy", "python", "scala40_env"} <= set(page["versions"])


PLACES = (("fisca", 2), ("fisca", 6), ("megajogos", 2), ("megajogos", 5))


@pytest.mark.jit
def test_the_table(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput, "_plain_run", answers_alike)
    assert main((*TINY, "--players", "2", "6", "--quick")) == 0
    out = capsys.readouterr().out
    assert "1 core +copy" in out and "plain Python" in out and "expert, fisca, 6 players" in out and "bytes" in out
    assert [tuple(line.split()[:2]) for line in out.splitlines() if line.startswith(("fisca", "mega"))] == [
        (preset, str(players)) for preset, players in PLACES
    ]


@pytest.mark.jit
def test_what_is_complete_is_printed_when_interrupted(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(throughput, "_plain_run", interrupted)
    assert main((*TINY, "--players", "2", "--json")) == Exit.INTERRUPTED
    page = json.loads(capsys.readouterr().out)
    assert len(page["results"]) == 4 and page["baseline"] == []


@pytest.mark.jit
def test_kernels_that_differ_from_their_source_fail_the_check(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput, "plain_part", lambda players, seed, decisions: (1.0, "other bytes"))
    assert main((*TINY, "--players", "2", "--json")) == Exit.FAILED
    assert "compiled and plain kernels end at other bytes" in capsys.readouterr().err


@pytest.mark.jit
def test_several_threads_play_games_of_their_own() -> None:
    tables = throughput._Tables(Case("fisca", 2, MASK, 2), 0.001)
    with throughput.ThreadPoolExecutor(2) as pool:
        assert tables.run(pool, 0).decisions_per_s > 0
    first, second = (table.games for table in tables._tables)
    assert first["seed"] != second["seed"] and first.tobytes() != second.tobytes()


def test_single_positions_that_take_very_long_are_told(capsys: Capture) -> None:
    measured = throughput.Measured()
    measured.runs[Case("fisca", 2, MASK, 1)] = [throughput.Run(rate, 1.0) for rate in (1_000_000, 900_000, 5_000)]
    report = throughput._report(ThroughputSettings(), measured)
    throughput._print_report(report)
    assert "! fisca, 2 players, mask and step, 1 cores: 14,843 over all runs" in capsys.readouterr().out


def test_a_preset_for_fewer_players_is_measured_with_those() -> None:
    cases = cases_of(ThroughputSettings(preset=("megajogos",), players=(4, 5, 6), cores=(1,)))
    assert [(case.players, case.what) for case in cases] == [(4, MASK), (4, COPY), (5, MASK), (5, COPY)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cores", "0"), f"1 to {len(cores_there())}"),
        (("--preset", "fiscal"), "did you mean 'fisca'"),
        (("--players", "7"), "allowed is an integer from 2 to 6"),
        (("--players",), "--players needs one value or more"),
        (("--seconds", "0"), "more than 0"),
        (("--seconds", "nan"), "more than 0"),
        (("--rounds", "0"), "1 to 1000"),
    ],
)
def test_settings_that_measure_nothing_are_refused(capsys: Capture, words: tuple[str, ...], said: str) -> None:
    assert main(("bench", "engine", *words)) == Exit.BAD_INPUT
    out, err = capsys.readouterr()
    assert out == "" and said in err and err.count("\n") == 1
