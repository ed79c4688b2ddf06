"""The tournament as a whole: what it prints and keeps, interruptions, and bad input."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents import Agent, KernelAgent
from experiments.league import blocks
from experiments.tournament import TournamentSettings, rules_of, run
from scala40_env import Rules
from scala40_env.rules.record import Record

#: A tournament that plain Python plays too.
SMALL = TournamentSettings(("greedy", "random"), set=("hand_size=4", "opening_points=0", "max_laps=8"), deals=5)


class Failing(Agent):
    """Plays the first legal move, but not for long."""

    name = "failing"

    def __init__(self) -> None:
        self.moves = 0

    def act(self, view: Any, rng: Any) -> int:
        self.moves += 1
        if self.moves > 40:
            raise RuntimeError("enough")
        return int(view.legal_actions()[0])


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of two deals between two agents, so that a few deals are several blocks."""
    monkeypatch.setattr(KernelAgent, "batch_games", 4)
    monkeypatch.setattr(Agent, "batch_games", 4)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def results(folder: Path) -> dict[str, Any]:
    """The one part of a results file, with what the file says of all parts."""
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    (part,) = found["parts"]
    return {**found, **part}


def test_table_results_and_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(replace(SMALL, out=tmp_path)) == 0
    shown = capsys.readouterr()
    assert "greedy" in shown.out and "random" in shown.out and "5 deals" in shown.out and shown.err == ""
    kept = results(tmp_path)
    assert kept["deals_done"] == 5 and kept["settings"]["deals"] == 5 and kept["rules"]["hand_size"] == 4
    assert set(kept["versions"]) == {"python", "numpy", "numba", "scala40_env"} and kept["machine"]["cores"] >= 1
    assert [row["name"] for row in kept["table"]] == ["greedy", "random"]
    records = Record.load(tmp_path / "records.jsonl.gz")
    assert [record.players for record in records] == [("greedy", "random"), ("random", "greedy")] * 5
    for record in records:
        record.check()
    points = sum(kept["lineups"][0]["sums"]["greedy"]["points"])
    hands = [(record.players.index("greedy"), record.hands[0].points) for record in records]
    assert points == sum(charged[seat] for seat, charged in hands if charged is not None)
    assert {path.name for path in tmp_path.iterdir()} == {"results.json", "records.jsonl.gz"}


def test_laps_are_those_of_the_records(tmp_path: Path) -> None:
    """Who closed in which lap, counted from the records."""
    assert run(replace(SMALL, seats=3, lineups="pairs", deals=6, out=tmp_path)) == 0
    closed: Counter[tuple[str, int]] = Counter()
    for record in Record.load(tmp_path / "records.jsonl.gz"):
        state = record.check().state
        winner, turns = int(state["winner"][0]), int(state["turns_played"][0])
        for seat, name in enumerate(record.players):
            closed[name, math.ceil(turns / 3) if seat == winner else 0] += 1
    counted: Counter[tuple[str, int]] = Counter()
    for lineup in results(tmp_path)["lineups"]:
        for name, kinds in lineup["histograms"].items():
            counted.update({(name, lap): hands for lap, hands in kinds["closing_lap"]})
    assert counted == closed and len(closed) > 4


def test_the_same_deals_for_all_seats(tmp_path: Path) -> None:
    run(replace(SMALL, out=tmp_path))
    deals = [record.hands[0].deal for record in Record.iterate(tmp_path / "records.jsonl.gz")]
    assert deals[0::2] == deals[1::2] and len(set(deals)) == 5


def test_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(replace(SMALL, json=True, agents=("greedy", "random", "greedy"), deals=2)) == 0
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert shown.err == "" and [row["name"] for row in found["agents"]] == ["greedy#1", "random", "greedy#2"]
    for row in found["agents"]:
        assert row["hands"] == 6 and 0 <= row["win_share_ci"][0] <= row["win_share"] <= row["win_share_ci"][1] <= 1
    assert {"command", "settings", "rules", "versions"} <= set(found)
    assert sum(row["hands_won"] for row in found["agents"]) + found["agents"][0]["abandoned"] / 2 <= 6


def test_whole_matches(tmp_path: Path) -> None:
    settings = replace(SMALL, episode="match", seats=3, deals=2, out=tmp_path, set=(*SMALL.set, "limit=30"))
    assert run(settings) == 0
    table = results(tmp_path)["table"]
    records = Record.load(tmp_path / "records.jsonl.gz")
    assert len(records) == 2 * 6 == sum(row["matches_won"] for row in table)
    assert sum(row["matches"] for row in table) == 3 * len(records)
    assert sum(len(record.hands) for record in records) > len(records)
    for record in records:
        assert record.check().outcome.match_over  # type: ignore[union-attr]


def test_a_match_without_end_is_counted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(blocks, "MOST_HANDS", 2)
    assert run(replace(SMALL, episode="match", deals=1, set=(*SMALL.set, "limit=100000"), json=True)) == 0
    rows = json.loads(capsys.readouterr().out)["agents"]
    assert [(row["matches"], row["unfinished_matches"], row["matches_won"]) for row in rows] == [(2, 2, 0)] * 2


def test_interrupted_and_resumed_is_as_if_never_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert run(replace(SMALL, out=whole)) == 0
    play = blocks.BlockPlayer.play

    def interrupted(self: blocks.BlockPlayer, first: int, count: int) -> blocks.Block:
        if first:
            raise KeyboardInterrupt
        return play(self, first, count)

    monkeypatch.setattr(blocks.BlockPlayer, "play", interrupted)
    capsys.readouterr()
    assert run(replace(SMALL, out=parts)) == 130
    shown = capsys.readouterr()
    assert "2 deals" in shown.out and "after 2 of 5" in shown.err and "--resume" in shown.err
    assert results(parts)["deals_done"] == 2 and len(results(parts)["table"]) == 2
    monkeypatch.undo()
    monkeypatch.setattr(KernelAgent, "batch_games", 4)
    with (parts / "records.jsonl.gz").open("ab") as file:
        file.write(b"half a block")
    assert run(replace(SMALL, out=parts, resume=True)) == 0
    assert files(parts) == files(whole)
    assert run(replace(SMALL, out=parts, resume=True)) == 0  # nothing is left to do
    assert files(parts) == files(whole)


def test_another_seed_is_another_tournament(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        run(replace(SMALL, out=tmp_path / name, seed=seed, deals=2))
    a, b, c = (files(tmp_path / name) for name in "abc")
    assert a == b and a["records.jsonl.gz"] != c["records.jsonl.gz"]


def test_blocks_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(replace(SMALL, out=tmp_path / "small"))
    monkeypatch.setattr(KernelAgent, "batch_games", 1000)
    run(replace(SMALL, out=tmp_path / "large"))
    assert results(tmp_path / "small")["lineups"] == results(tmp_path / "large")["lineups"]
    small, large = (Record.load(tmp_path / name / "records.jsonl.gz") for name in ("small", "large"))
    assert small == large


def test_an_agent_that_fails_keeps_what_was_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = f"{__name__}:Failing"
    assert run(replace(SMALL, agents=(spec, "random"), out=tmp_path)) == 1
    shown = capsys.readouterr()
    first = shown.err.splitlines()[0]
    assert "--deals 1 " in first and "once more: scala40 tournament" in first
    assert "'failing'" in first and "RuntimeError: enough" in first and "deal of seed" in first and "position" in first
    assert results(tmp_path)["deals_done"] % 2 == 0


def test_deals_from_a_number_on_are_those_of_the_whole(tmp_path: Path) -> None:
    run(replace(SMALL, out=tmp_path / "whole"))
    run(replace(SMALL, out=tmp_path / "rest", first_deal=3, deals=2))
    whole, rest = (Record.load(tmp_path / name / "records.jsonl.gz") for name in ("whole", "rest"))
    assert whole[6:] == rest and results(tmp_path / "rest")["first_deal"] == 3


class Slow(Agent):
    """Sleeps before every move, for ever before its second one unless it is stopped."""

    name = "slow"

    def __init__(self) -> None:
        self.asked = 0

    def act(self, view: Any, rng: Any) -> int:
        self.asked += 1
        with contextlib.suppress(Exception):  # it would swallow what is not meant for it
            time.sleep(3600 if self.asked == 2 else 0.02)
        return int(view.legal_actions()[0])


def test_an_agent_that_is_too_slow(capsys: pytest.CaptureFixture[str]) -> None:
    slow = replace(SMALL, agents=(f"{__name__}:Slow", "random"), max_ms_per_move=1.0)
    assert run(slow) == 1
    first = capsys.readouterr().err.splitlines()[0]
    assert "deal 0: agent 'slow'" in first and "took more than the 1 ms" in first and "position" in first
    assert first.endswith("--max-ms-per-move 1") and "--deals 1 " in first


# ---------------------------------------------------------------------------------------------------------------------
# Workers


@pytest.mark.jit
@pytest.mark.parametrize("workers", [2, 3])
def test_workers_make_no_difference(tmp_path: Path, workers: int) -> None:
    settings = replace(SMALL, seats=3, lineups="pairs", deals=7)
    assert run(replace(settings, out=tmp_path / "one")) == 0
    assert run(replace(settings, out=tmp_path / "many", workers=workers)) == 0
    assert files(tmp_path / "many") == files(tmp_path / "one")


class Dying(Agent):
    """Plays the first legal move; kills its process when the file that says so is there, and takes the file away."""

    name = "dying"

    def act(self, view: Any, rng: Any) -> int:
        wish = Path(os.environ["SCALA40_TEST_WISH"])
        if wish.exists():
            if wish.read_text() == "once":
                wish.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return int(view.legal_actions()[0])


@pytest.mark.jit
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed by signals of Unix")
def test_a_worker_that_dies_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wish = tmp_path / "wish"
    monkeypatch.setenv("SCALA40_TEST_WISH", str(wish))
    settings = replace(SMALL, agents=("greedy", f"{__name__}:Dying"), deals=6)
    assert run(replace(settings, out=tmp_path / "whole")) == 0
    wish.write_text("once")
    assert run(replace(settings, out=tmp_path / "died", workers=2)) == 0
    assert not wish.exists() and files(tmp_path / "died") == files(tmp_path / "whole")
    wish.write_text("always")
    capsys.readouterr()
    assert run(replace(settings, workers=2)) == 1
    error = capsys.readouterr().err
    assert "agent 'dying' was thinking: 3 workers died" in error and "killed by signal 9" in error
    assert "deal 0: " in error and "once more: scala40 tournament" in error


def test_ray_that_is_not_there(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert run(replace(SMALL, ray="auto")) == 2
    assert 'pip install "scala40-env[ray]"' in capsys.readouterr().err


# ---------------------------------------------------------------------------------------------------------------------
# Bad input


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"agents": ("greedy", "gredy")}, ["'gredy'", "did you mean"]),
        ({"agents": ("greedy",)}, ["two agents"]),
        ({"agents": ()}, ["two agents"]),
        ({"preset": "fisc"}, ["'fisc'", "fisca"]),
        ({"set": ("opening=30",)}, ["'opening'"]),
        ({"set": ("opening_points",)}, ["field=value"]),
        ({"set": ("hand_size=99",)}, ["hand_size = 99", "3 to 13"]),
        ({"set": ("match=total",)}, ["--episode match"]),
        ({"seats": 7}, ["num_players = 7", "2 to 6"]),
        ({"seats": 1}, ["num_players = 1"]),
        ({"preset": "megajogos", "seats": 6}, ["2 to 5"]),
        ({"seats": 3, "set": ("num_players=4",)}, ["exclude each other"]),
        ({"deals": 0}, ["--deals 0"]),
        ({"seed": -1}, ["--seed -1"]),
        ({"first_deal": -1}, ["--first-deal -1"]),
        ({"workers": 0}, ["--workers 0"]),
        ({"workers": 2, "ray": "auto"}, ["exclude each other"]),
        ({"max_ms_per_move": 0.0}, ["--max-ms-per-move 0"]),
        ({"lineups": "some"}, ["--lineups some", "pairs"]),
        ({"agents": ("greedy",) * 30, "seats": 6}, ["30 agents at 6 seats", "at most 5,000 games"]),
        ({"episode": "season"}, ["season"]),
        ({"resume": True}, ["--out"]),
        ({"out": Path(__file__)}, ["is a file"]),
        ({"out": Path(__file__) / "below"}, ["test_tournament.py"]),
    ],
)
def test_bad_input(changes: dict[str, Any], words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(replace(SMALL, **changes)) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert [word for word in words if word not in shown.err] == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"resume": False}, ["holds results already", "--resume"]),
        ({"seed": 7}, ["seed is 0", "now it is 7"]),
        ({"deals": 9}, ["deals is 2", "now it is 9"]),
        ({"agents": ("random", "greedy")}, ["agents"]),
        ({"seats": 4}, ["seats is 2"]),
    ],
)
def test_a_folder_of_another_tournament(
    tmp_path: Path, changes: dict[str, Any], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    settings = replace(SMALL, out=tmp_path, deals=2)
    run(settings)
    before = files(tmp_path)
    capsys.readouterr()
    assert run(replace(settings, **{"resume": True, **changes})) == 2
    error = capsys.readouterr().err
    assert [word for word in words if word not in error] == [] and error.count("\n") == 1
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "x", "format_version": 1, "records_bytes": 0}', "not json"]
)
def test_a_broken_results_file(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "results.json").write_text(text)
    assert run(replace(SMALL, out=tmp_path, resume=True)) == 2
    assert "results.json" in capsys.readouterr().err


def test_records_that_were_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(replace(SMALL, out=tmp_path))
    (tmp_path / "records.jsonl.gz").write_bytes(b"short")
    assert run(replace(SMALL, out=tmp_path, resume=True)) == 2
    assert "records.jsonl.gz holds 5 bytes" in capsys.readouterr().err


def test_seats_and_rules() -> None:
    assert rules_of(TournamentSettings(("a", "b"))) == Rules.fisca(num_players=2, match="single_hand")
    assert rules_of(TournamentSettings(("a",) * 9)).num_players == 6
    assert rules_of(TournamentSettings(("a",) * 9, preset="megajogos")).num_players == 5
    assert rules_of(TournamentSettings(("a", "b"), set=("num_players=3",))).num_players == 3
    assert rules_of(TournamentSettings(("a", "b"), set=("preset=casa",), episode="match")).preset == "casa"
    hands = TournamentSettings(("a", "b"), set=("match=hands", "num_hands=3"), episode="match")
    assert rules_of(hands).num_hands == 3
