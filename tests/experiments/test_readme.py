"""Every example of README.md runs, and prints what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.commands.actions import as_markdown
from tests.experiments.readme import README, Block, blocks, printed_by

ROOT = README.parent
BLOCKS = blocks(README.read_text())


def of(language: str) -> list[Block]:
    return [block for block in BLOCKS if block.language == language]


def commands() -> list[list[str]]:
    lines = [line for block in of("sh") for line in block.code.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("scala40 ")]


def test_python_examples_print_what_the_page_says() -> None:
    names: dict[str, object] = {"__name__": "readme"}
    for block in of("python"):
        assert printed_by(block.code, names) == (block.printed or "")


def test_the_game_on_the_page_is_shown_with_its_outcome() -> None:
    shown = [block.printed for block in of("python") if block.printed]
    assert "table:" in shown[0] and "closing='normal'" in shown[1]


def test_the_position_has_the_moves_that_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = of("json")
    (tmp_path / "position.json").write_text(block.code)
    monkeypatch.chdir(tmp_path)
    assert main(["legal", "position.json"]) == 0
    assert capsys.readouterr().out == block.printed


@pytest.mark.jit
def test_commands_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "position.json").write_text(of("json")[0].code)
    monkeypatch.chdir(tmp_path)
    for words in commands():
        if words[0] != "bench":  # it measures for minutes, and has tests of its own
            assert main(words) == 0, words
    assert "fits" in capsys.readouterr().out


def test_links_lead_somewhere() -> None:
    pages = [README, *sorted((ROOT / "docs").glob("*.md"))]
    for page in pages:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / link).exists(), (page.name, link)


def test_make_targets_of_the_page_exist() -> None:
    wanted = set(re.findall(r"\bmake ([a-z-]+)", "".join(block.code for block in of("sh"))))
    there = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert wanted and wanted <= there


def test_the_page_of_actions_is_the_printed_one() -> None:
    assert (ROOT / "docs" / "action-table.md").read_text() == as_markdown() + "\n"
