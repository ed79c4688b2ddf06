"""``scala40 replay``."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from experiments.cli import main
from experiments.commands.replay import _count_lines
from experiments.console import Exit
from scala40_env import Game, Record, Rules
from scala40_env.rules.record import save_records

Capture = pytest.CaptureFixture[str]


def match(seed: int, hands: int) -> Record:
    """A match of some hands, played at random, of hands so small that they end soon."""
    game = Game(Rules.fisca(num_players=2, hand_size=4, opening_points=0, limit=1000), seed=seed)
    chance = random.Random(seed)
    for at in range(hands):
        if at:
            game.next_hand()
        while not game.hand_over:
            game.play_action(chance.choice(game.legal_actions()))
    return game.record(["anna", "bruno"])


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return [match(1, 2), match(2, 1)]


@pytest.fixture
def file(tmp_path: Path, records: list[Record]) -> Path:
    path = tmp_path / "records.jsonl.gz"
    save_records(path, records)
    return path


def answer(capsys: Capture, *words: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr; that kernels are being compiled, as they are now and then, is no part of it."""
    code = main(("replay", *words))
    out, err = capsys.readouterr()
    return code, out, "".join(line for line in err.splitlines(True) if not line.startswith("scala40_env: compiling"))


def refused(capsys: Capture, *words: str) -> str:
    code, _, err = answer(capsys, *words)
    assert code == Exit.BAD_INPUT
    assert err.startswith("scala40 replay: error: ") and err.count("\n") == 1
    return err


def counts(records: list[Record]) -> dict[str, int]:
    hands = [hand for record in records for hand in record.hands]
    turns = [turn for hand in hands for turn in hand.moves]
    moves = sum(len(turn.split(";")) for turn in turns)
    return {"matches": len(records), "hands": len(hands), "turns": len(turns), "moves": moves}


def test_check_says_how_much_was_replayed(capsys: Capture, file: Path, records: list[Record]) -> None:
    code, out, err = answer(capsys, str(file), "--check")
    many = counts(records)
    assert (code, err) == (0, "")
    assert out == (
        f"{file}: replayed 2 matches, 3 hands, {many['turns']} turns, {many['moves']} moves; all of it fits\n"
    )


def test_check_as_json(capsys: Capture, file: Path, records: list[Record]) -> None:
    assert json.loads(answer(capsys, str(file), "--check", "--json")[1]) == {"file": str(file), **counts(records)}
    one = json.loads(answer(capsys, str(file), "--check", "--json", "--match", "2")[1])
    assert one == {"file": str(file), **counts(records[1:])}


def edited(record: Record, change: Any) -> str:
    given = record.to_dict()
    change(given)
    return json.dumps(given)


def set_points(given: dict[str, Any]) -> None:
    given["hands"][0]["points"][0] += 1


def set_move(given: dict[str, Any]) -> None:
    given["hands"][1]["moves"][1] = "pozzo; meld 2s 3s 4s; discard Kd"


@pytest.mark.parametrize(
    ("change", "said"),
    [(set_points, "line 2: hand 1: points"), (set_move, "line 2: hand 2, turn 2, move 'pozzo'")],
)
def test_an_edited_record_is_refused_where_it_breaks(
    capsys: Capture, tmp_path: Path, records: list[Record], change: Any, said: str
) -> None:
    path = tmp_path / "edited.jsonl"
    path.write_text(f"{records[1].to_json()}\n{edited(records[0], change)}\n")
    assert f"{path}: {said}" in refused(capsys, str(path), "--check")
    assert f"{path}: {said}" in refused(capsys, str(path))


def test_a_file_cut_off_is_refused(capsys: Capture, file: Path) -> None:
    cut = file.with_name("cut.jsonl.gz")
    cut.write_bytes(file.read_bytes()[:-20])
    assert "broken or cut off" in refused(capsys, str(cut), "--check")
    text = file.with_name("cut.jsonl")
    text.write_bytes(gzip.decompress(file.read_bytes())[:-20])
    assert "line 2" in refused(capsys, str(text), "--check")


def test_an_empty_file_is_refused(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    assert "there is no record" in refused(capsys, str(tmp_path / "empty.jsonl"), "--check")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--match", "3"), "has matches 1 to 2"),
        (("--match", "3", "--check"), "has matches 1 to 2"),
        (("--match", "-1"), "numbered from 1"),
        (("--hand", "3"), "no match that was asked for has so many hands"),
        (("--hand", "1", "--check"), "leave out --hand"),
    ],
)
def test_what_is_not_in_the_file_is_refused(capsys: Capture, file: Path, words: tuple[str, ...], said: str) -> None:
    assert said in refused(capsys, str(file), *words)


def test_stepping_prints_every_turn_and_every_ending(capsys: Capture, file: Path, records: list[Record]) -> None:
    code, out, err = answer(capsys, str(file))
    assert (code, err) == (0, "")
    for record in records:
        assert all(f": {turn}\n" in out for hand in record.hands for turn in hand.moves)
    assert out.count("the hand is over") == 3
    assert out.startswith("== match 1: seat 0 anna, seat 1 bruno; rules fisca hand_size=4")


def test_one_hand_alone(capsys: Capture, file: Path, records: list[Record]) -> None:
    _, out, _ = answer(capsys, str(file), "--match", "1", "--hand", "2")
    assert out.count("  hand 2, turn") == len(records[0].hands[1].moves)
    assert "  hand 1, turn" not in out and "match 2" not in out


def test_a_match_that_still_runs_is_shown_as_far_as_it_goes(capsys: Capture, tmp_path: Path) -> None:
    game = Game(seed=1).play("stock")
    game.record().save(tmp_path / "running.jsonl")
    code, out, _ = answer(capsys, str(tmp_path / "running.jsonl"))
    assert code == 0 and out.rstrip().endswith("on move: play")


def test_stepping_as_json_lines(capsys: Capture, file: Path, records: list[Record]) -> None:
    lines = [json.loads(line) for line in answer(capsys, str(file), "--json")[1].splitlines()]
    turns = [line for line in lines if "turn" in line]
    assert [line["moves"] for line in turns] == [t for record in records for hand in record.hands for t in hand.moves]
    first = turns[0]
    after = Game.from_position(first["before"]).play(first["moves"])
    assert after.position() == turns[1]["before"]
    assert {line["player"] for line in turns} == {"anna", "bruno"}
    ends = [line for line in lines if "closing" in line]
    assert [line["points"] for line in ends] == [list(hand.points or ()) for r in records for hand in r.hands]


@pytest.mark.parametrize(("answers", "shown"), [(["", "", "q"], 3), (["", EOFError()], 2)])
def test_at_a_terminal_it_waits(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, file: Path, answers: list[Any], shown: int
) -> None:
    given = iter(answers)

    def reply(prompt: str) -> str:
        said = next(given)
        if isinstance(said, Exception):
            raise said
        return str(said)

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", reply)
    code, out, _ = answer(capsys, str(file))
    assert code == 0 and out.count("  hand 1, turn") == shown


def test_lines_are_counted_for_the_progress_bar(file: Path) -> None:
    assert _count_lines(file) == 2
    assert _count_lines(file.with_name("missing")) is None


def test_a_page_for_a_browser(capsys: Capture, file: Path, records: list[Record]) -> None:
    page = file.with_name("page.html")
    page.write_text("an older page")
    code, out, err = answer(capsys, str(file), "--html", str(page))
    assert (code, err) == (0, "")
    assert out.startswith(f"{page}: 2 matches, 3 hands, ") and f"{page.stat().st_size:,} bytes" in out
    assert page.read_text().startswith("<!DOCTYPE html>") and '"anna","bruno"' in page.read_text()


def test_a_page_of_one_match_as_json(capsys: Capture, file: Path, records: list[Record]) -> None:
    page = file.with_name("page.html")
    _, out, _ = answer(capsys, str(file), "--html", str(page), "--match", "2", "--json", "--language", "it")
    assert '<html lang="it">' in page.read_text("utf-8")
    about = {"file": str(file), "html": str(page), "bytes": page.stat().st_size}
    assert json.loads(out) == {**about, **counts(records[1:])}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--html", "page.html", "--check"), "leave out --check"),
        (("--html", "page.html", "--hand", "1"), "leave out --hand"),
        (("--html", "page.jsonl.gz"), "ends in .html"),
        (("--language", "it"), "--language is of the page that --html writes"),
        (("--html", "page.html", "--match", "3"), "has matches 1 to 2"),
        (("--html", "missing/page.html"), "missing/page.html: No such file"),
    ],
)
def test_a_page_that_can_not_be_made_is_refused(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, file: Path, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(file.parent)
    assert said in refused(capsys, str(file), *words)
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_page_of_too_many_matches_is_refused(capsys: Capture, monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.setattr("experiments.commands.replay.MAX_MATCHES_OF_A_PAGE", 1)
    page = file.with_name("page.html")
    assert "more than 1 matches, too many for a page; choose one with --match N" in refused(
        capsys, str(file), "--html", str(page)
    )
    assert not page.exists()
    assert answer(capsys, str(file), "--html", str(page), "--match", "2")[0] == 0


def test_a_record_that_does_not_replay_makes_no_page(capsys: Capture, tmp_path: Path, records: list[Record]) -> None:
    path = tmp_path / "edited.jsonl"
    path.write_text(f"{edited(records[0], set_move)}\n")
    said = refused(capsys, str(path), "--html", str(tmp_path / "page.html"))
    assert f"{path}: line 1: hand 2, turn 2, move 'pozzo'" in said
    assert not (tmp_path / "page.html").exists()
