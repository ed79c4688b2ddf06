"""The command line, called as a function."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from experiments import cli
from experiments.cli import COMMANDS, main
from experiments.commands.rules import allowed_text
from experiments.console import Exit
from scala40_env import Game, Rules, __version__
from scala40_env.rules.config import FIELDS, PRESETS, parse_setting
from scala40_env.rules.moves import BLOCKS, NUM_ACTIONS_EXTENDED

POSITION = {"turn": 0, "phase": "play", "hands": ["Ks Kh 3s 4s", "?13"], "rules": {"num_players": 2}}
LEGAL = ["discard 3s", "discard 4s", "discard Kh", "discard Ks"]

Capture = pytest.CaptureFixture[str]


def answer(capsys: Capture, *words: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr; that kernels are being compiled, as they are now and then, is no part of it."""
    code = main(words)
    out, err = capsys.readouterr()
    return code, out, "".join(line for line in err.splitlines(True) if not line.startswith("scala40_env: compiling"))


def refused(capsys: Capture, *words: str) -> str:
    """The one line of an error; nothing else may be printed."""
    code, out, err = answer(capsys, *words)
    assert code == Exit.BAD_INPUT and out == "", err
    assert err.startswith("scala40") and ": error: " in err and err.count("\n") == 1
    return err


@pytest.fixture
def position(tmp_path: Path) -> Path:
    path = tmp_path / "position.json"
    path.write_text(json.dumps(POSITION))
    return path


# ---------------------------------------------------------------------------------------------------------------------
# Finding the command


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "which command?"),
        (("legl",), "did you mean 'legal'?"),
        (("--jsn",), "there is no flag '--jsn'"),
        (("bench",), "bench goes on with one of engine"),
        (("bench", "motor"), "bench goes on with one of engine"),
        (("rules", "--bad"), "Unrecognized options: --bad; see scala40 rules --help"),
        (("rules", "--jsn"), "(did you mean --json?)"),
        (("rules", "casa", "tavolo"), "Unrecognized options: tavolo"),
        (("rules", "--set"), "Missing value for argument '--set'"),
        (("legal",), "Missing from scala40 legal: FILE; see"),
        (("replay", "x", "--match", "one"), "--match"),
    ],
)
def test_wrong_words_are_told_in_one_line(capsys: Capture, words: tuple[str, ...], said: str) -> None:
    assert said in refused(capsys, *words)


def test_help_lists_every_command(capsys: Capture) -> None:
    code, out, err = answer(capsys, "--help")
    assert code == 0 and err == ""
    rows = [line.strip().split("  ", 1) for line in out.splitlines() if line.startswith("  ")]
    assert [(name, summary.strip()) for name, summary in rows] == [(each.name, each.summary) for each in COMMANDS]


def test_help_of_a_group_lists_its_commands(capsys: Capture) -> None:
    code, out, _ = answer(capsys, "bench", "--help")
    assert code == 0 and "bench engine" in out and "tournament" not in out


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_has_help(capsys: Capture, command: cli.Command) -> None:
    code, out, err = answer(capsys, *command.name.split(), "--help")
    assert code == 0 and err == ""
    assert f"usage: scala40 {command.name}" in out and "--json" in out


def test_version(capsys: Capture) -> None:
    assert answer(capsys, "--version") == (0, f"scala40 {__version__}\n", "")


def test_interrupted(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(settings: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.commands.rules.run", interrupted)
    assert answer(capsys, "rules") == (Exit.INTERRUPTED, "", "scala40: interrupted\n")


# ---------------------------------------------------------------------------------------------------------------------
# legal


def test_legal_prints_one_move_a_line(capsys: Capture, position: Path) -> None:
    assert answer(capsys, "legal", str(position)) == (0, "".join(f"{move}\n" for move in LEGAL), "")


def test_legal_as_json(capsys: Capture, position: Path) -> None:
    code, out, _ = answer(capsys, "legal", str(position), "--json")
    assert code == 0 and json.loads(out) == {"legal": LEGAL}


def test_legal_reads_standard_input(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf" + json.dumps(POSITION).encode())))
    assert answer(capsys, "legal", "-")[1].splitlines() == LEGAL


def test_no_move_is_legal_when_the_hand_is_over(capsys: Capture, tmp_path: Path) -> None:
    over = {**POSITION, "phase": "hand_over", "hands": ["", "?13"], "winner": 0, "closing": "normal"}
    (tmp_path / "over.json").write_text(json.dumps(over))
    assert answer(capsys, "legal", str(tmp_path / "over.json")) == (0, "", "")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "this is no JSON"),
        (b'{"turn": 0,', "this is no JSON"),
        (b"\xff\xfe", "this is no UTF-8 text"),
        (b"[" * 100_000, "this is no JSON"),
        (b'{"turn": 0, "turn": 1}', "'turn' is there twice"),
        (b"[]", "a position is an object"),
        (json.dumps({**POSITION, "hands": ["Ks Ks Ks", "?13"]}).encode(), "hands[0]: Ks occurs too often"),
        (json.dumps({**POSITION, "rules": {"preset": "fiska"}}).encode(), "did you mean 'fisca'"),
        (json.dumps({**POSITION, "hands": ["Ks Kh 3s 4s", "?13"], "seed": "\ud800\n"}).encode(), "seed"),
    ],
)
def test_what_is_no_position_is_refused(capsys: Capture, tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "bad.json").write_bytes(data)
    assert said in refused(capsys, "legal", str(tmp_path / "bad.json"))


def test_a_missing_file_is_named(capsys: Capture, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.json")
    assert refused(capsys, "legal", missing) == f"scala40 legal: error: {missing}: No such file or directory\n"
    assert refused(capsys, "replay", missing).endswith("No such file or directory\n")
    assert "Is a directory" in refused(capsys, "legal", str(tmp_path))


# ---------------------------------------------------------------------------------------------------------------------
# rules


def test_rules_lists_every_field(capsys: Capture) -> None:
    code, out, _ = answer(capsys, "rules")
    assert code == 0 and out.startswith("fisca, 4 players (the federation's)")
    assert [line.split()[0] for line in out.splitlines() if line[:1].isalpha()][2:] == list(FIELDS)


def test_rules_marks_what_differs_from_the_federation(capsys: Capture) -> None:
    _, out, _ = answer(capsys, "rules", "casa")
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line[:1].isalpha()}
    assert rows["reentries"][1:4] == ["1", "*", "0"]
    assert rows["limit"][1] == "101" and "*" not in rows["limit"]


@pytest.mark.parametrize(
    "words",
    [
        ("casa", "--set", "num_players=3", "limit=201", "--set", "reentries=none", "--json"),
        ("--set", "num_players=3", "limit=201", "casa", "--json", "--set", "reentries=none"),
    ],
)
def test_rules_with_settings(capsys: Capture, words: tuple[str, ...]) -> None:
    code, out, _ = answer(capsys, "rules", *words)
    page = json.loads(out)
    rules = Rules.casa(num_players=3, limit=201, reentries=None)
    assert code == 0 and page["preset"] == "casa"
    assert Rules.from_dict(page["rules"]) == rules
    assert {name: row["value"] for name, row in page["fields"].items()} == {n: getattr(rules, n) for n in FIELDS}
    assert page["fields"]["limit"]["differs"] and page["fields"]["limit"]["federation"] == 101


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fiscal",), "allowed are fisca, casa, scala_quaranta, tavolo, megajogos (did you mean 'fisca'?)"),
        (("fisca", "--set", "limitt=3"), "did you mean 'limit'?"),
        (("fisca", "--set", "limit"), "write field=value"),
        (("fisca", "--set", "num_players=9"), "allowed is an integer from 2 to 6"),
        (("fisca", "--set", "stock_end=burn"), "'reshuffle' or 'turn_over'"),
        (("megajogos", "--set", "num_players=6"), "this preset is for 2 to 5 players"),
        (("--list", "--set", "limit=3"), "leave out --set"),
    ],
)
def test_rules_refuses(capsys: Capture, words: tuple[str, ...], said: str) -> None:
    assert said in refused(capsys, "rules", *words)


def test_presets_side_by_side(capsys: Capture) -> None:
    _, out, _ = answer(capsys, "rules", "--list")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[2:] if line[:1].isalpha()}
    assert rows["field"] == list(PRESETS)
    assert set(rows) - {"field"} == {name for settings in PRESETS.values() for name in settings}
    assert rows["stock_end"] == ["reshuffle"] * 4 + ["turn_over", "*"]
    assert json.loads(answer(capsys, "rules", "--list", "--json")[1]) == {"presets": PRESETS}


def test_what_is_said_to_be_allowed_can_be_set() -> None:
    for name in FIELDS:
        for word in allowed_text(name).split(" | "):
            for value in word.split("..") if ".." in word else [word]:
                if value:
                    assert parse_setting(f"{name}={value}")[0] == name


# ---------------------------------------------------------------------------------------------------------------------
# actions


def test_actions_prints_the_blocks(capsys: Capture) -> None:
    code, out, _ = answer(capsys, "actions")
    assert code == 0 and out.startswith("635 actions")
    assert all(f"{block.first} - {block.last}" in out for block in BLOCKS if block.first < block.last)


def test_every_action_on_a_line(capsys: Capture) -> None:
    _, out, _ = answer(capsys, "actions", "--all")
    lines = out.splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(NUM_ACTIONS_EXTENDED))
    assert lines[54].split(maxsplit=3)[1:] == ["discard", "*", "discard a joker"]


def test_actions_as_json(capsys: Capture) -> None:
    page = json.loads(answer(capsys, "actions", "--json", "--all")[1])
    assert sum(block["count"] for block in page["blocks"]) == len(page["actions"]) == NUM_ACTIONS_EXTENDED
    assert page["actions"][60] == {
        "action": 60,
        "notation": "attach CARD 2 low",
        "meaning": "attach a card at the low end of meld 2, to a set its missing suit",
    }
    assert "actions" not in json.loads(answer(capsys, "actions", "--json")[1])


def test_flags_of_actions_that_exclude_each_other(capsys: Capture) -> None:
    assert "stands alone" in refused(capsys, "actions", "--markdown", "--json")


# ---------------------------------------------------------------------------------------------------------------------
# tournament


def test_tournament_refuses_an_agent_that_there_is_not(capsys: Capture) -> None:
    code, out, err = answer(capsys, "tournament", "greedy", "greeedy")
    assert code == Exit.BAD_INPUT and out == "" and err.count("\n") == 1
    assert "did you mean 'greedy'" in err


def test_game_is_what_legal_asks(capsys: Capture, position: Path) -> None:
    assert answer(capsys, "legal", str(position))[1].splitlines() == Game.from_position(POSITION).legal_moves()
