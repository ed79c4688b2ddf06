"""The counts of `perft/`: every legal move at every node of small trees, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from scala40_env.kernels.jit import JIT_DISABLED
from tests.perft_tool import FOLDER, Sheet, divide, perft, perft_of_twin, position_of, read_sheet, write_sheet

FILES = sorted(FOLDER.glob("*.txt"))
#: Nodes below the last level that are looked at: plain Python takes a hundred times as long for each.
MOST_NODES = 300 if JIT_DISABLED else 30_000


def depths(sheet: Sheet) -> list[int]:
    return [depth for depth in sheet.counts if sheet.counts.get(depth - 1, 1) <= MOST_NODES]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_counts(path: Path) -> None:
    sheet = read_sheet(path)
    games = sheet.game.state.copy()
    for depth in depths(sheet):
        found, expected = perft(games, depth), sheet.counts[depth]
        assert found == expected, f"{sheet.position}\nat depth {depth}, by move: {divide(games, depth)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_twin_counts_alike(path: Path) -> None:
    sheet = read_sheet(path)
    game = sheet.game
    position = position_of(game.state, game.rules)
    for depth, count in sheet.counts.items():
        if count <= 150:
            assert perft_of_twin(position, depth) == count


def test_there_are_enough_kinds() -> None:
    sheets = [read_sheet(path) for path in FILES]
    assert len(sheets) >= 12
    assert {sheet.game.phase for sheet in sheets} == {"draw", "play", "buy"}
    assert {sheet.game.rules.preset for sheet in sheets} == {"fisca", "casa", "scala_quaranta", "tavolo", "megajogos"}


def test_divide_adds_up_and_sheets_are_written_as_read(tmp_path: Path) -> None:
    sheet = read_sheet(FILES[0])
    assert sum(divide(sheet.game.state.copy(), 2).values()) == sheet.counts[2]
    write_sheet(tmp_path / "copy.txt", sheet)
    assert (tmp_path / "copy.txt").read_text() == FILES[0].read_text()
