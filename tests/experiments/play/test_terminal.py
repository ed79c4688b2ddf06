"""A table in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.play.store import Saved, Store
from experiments.play.table import Table
from experiments.play.terminal import play_in_terminal
from scala40_env import Record, Rules
from tests.experiments.play.tables import ONE_PERSON, SMALL, setup_of


def answers(monkeypatch: pytest.MonkeyPatch, words: Iterator[str]) -> None:
    """Type these lines; when there are no more, the input ends."""

    def typed(prompt: str = "") -> str:
        print(prompt, end="")
        try:
            return next(words)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", typed)


def first_moves(table: Table) -> Iterator[str]:
    """Whatever is legal first, for whoever is on move, and Enter between hands."""
    while not table.over:
        yield "" if table.on_move is None else table.game.legal_moves()[0]


def test_a_match_to_its_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table = Table(setup_of(SMALL.replace(match="hands", num_hands=2, max_laps=6), ONE_PERSON))
    answers(monkeypatch, first_moves(table))
    assert play_in_terminal(table, Store(tmp_path), "en") == 0
    assert table.over and "The match is over. Won by" in capsys.readouterr().out
    (record,) = Record.load(Store(tmp_path).record_file("table"))
    assert record.check().scores == list(table.sheet[-1].scores)


def test_commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rules = Rules.fisca(num_players=2)
    typed = ["?", "moves", "stock", "rules", "score", "undo", "nonsense", "discard Xx", "pozzo", "hint nobody", ""]
    table = Table(setup_of(rules, setup_of().places[:2]))
    monkeypatch.setattr("experiments.play.players.Players.advisers", lambda *_: ["expert"])
    answers(monkeypatch, iter([*typed, "quit"]))
    assert play_in_terminal(table, Store(tmp_path), "it") == 0
    said = capsys.readouterr().out
    assert "Si può chiedere un consiglio a: expert" in said
    for part in ("Mosse in notazione", "Per aprire servono 40 punti", "Non c'è nulla da annullare", "is not a move"):
        assert part in said
    assert "In questo turno hai già pescato" in said and "--resume table" in said


@pytest.mark.once
def test_nobody_gives_hints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("experiments.play.players.Players.advisers", lambda *_: [])
    answers(monkeypatch, iter(["hint"]))
    assert play_in_terminal(Table(setup_of()), Store(tmp_path), "en") == 0
    assert "Hints can be asked of: -" in capsys.readouterr().out


def test_the_other_hands_are_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table = Table(setup_of(Rules.fisca(num_players=3)))
    answers(monkeypatch, iter(["quit"]))
    play_in_terminal(table, Store(tmp_path), "en")
    assert capsys.readouterr().out.count("?13 (13)") == 2


def test_it_goes_on_where_it_was_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["play", "--terminal", "--agents", "random", "--seed", "3", "--set", "hand_size=5", "--out", str(tmp_path)]
    answers(monkeypatch, iter(["stock"]))
    assert main(words) == 0
    (saved,) = Store(tmp_path).saved()
    assert isinstance(saved, Saved) and saved.hands[-1][-1:] == [0]
    answers(monkeypatch, iter(["score", "save"]))
    assert main([*words[:2], "--out", str(tmp_path), "--resume", "last"]) == 0
    assert f"--resume {saved.setup.id}" in capsys.readouterr().out
    assert next(iter(Store(tmp_path).saved())) == saved
