"""Folders that one command at a time may write to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.console import BadUsage
from experiments.folders import alone_in
from tests.optional import library

_HOLD = "import sys; from pathlib import Path; from experiments.folders import alone_in\n"
_HOLD += "with alone_in(Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()"


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Path]:
    """A folder that another process holds until the test is over, or until somebody kills it."""
    folder = tmp_path / "run"
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        yield folder
        process.kill()
    with alone_in(folder):
        pass  # a killed process holds nothing


@pytest.mark.once
def test_a_held_folder_is_refused(held: Path) -> None:
    with pytest.raises(BadUsage, match=r"another command writes to .*run"), alone_in(held):
        pass
    with pytest.raises(BadUsage), alone_in(held.parent / "elsewhere" / ".." / "run"):
        pass
    with alone_in(held.parent), alone_in(None):
        pass
    assert not held.exists()


@pytest.mark.once
@pytest.mark.parametrize(
    "words",
    ["tournament greedy random --out", "league ladder greedy random --work", "play --out", "play --terminal --out"],
)
def test_commands_refuse_it(held: Path, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words.split(), str(held)]) == 2
    assert f"another command writes to {held}" in capsys.readouterr().err


@pytest.mark.once
def test_training_refuses_it(held: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library("torch")
    assert main(["train", "--out", str(held)]) == 2
    assert f"another command writes to {held}" in capsys.readouterr().err
