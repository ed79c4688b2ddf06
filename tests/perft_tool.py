"""perft: how many ways there are to play so many moves from a stored position.

``python -m tests.perft_tool FILE ...`` counts anew, checks the small depths against the twin, and writes the counts
into the files; ``--divide DEPTH`` prints the count under each move instead. A file is text::

    # what the position is about
    {"rules": ..., "turn": 0, ...}
    1: 20
    2: 371

A line that was played to its end before that depth counts as no line, as in chess. The positions name all cards, and
the stock does not run out in so few moves, so that no shuffle has a say.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

from scala40_env import Game
from scala40_env.kernels import engine
from scala40_env.rules.reading import Games, legal_ids, texts_of
from tests.reference.compare import position_of
from tests.reference.twin import legal, play
from tests.walks import copied

Position = dict[str, Any]

FOLDER = Path(__file__).parent / "perft"
#: The twin is asked for the depths whose counts are below this.
MOST_OF_TWIN = 3000


class Sheet(NamedTuple):
    """A file: the remark on top, the line of the position, and the counts by depth."""

    remark: str
    position: str
    counts: dict[int, int]

    @property
    def game(self) -> Game:
        return Game.from_position(json.loads(self.position))


def read_sheet(path: Path) -> Sheet:
    remark, position, *lines = path.read_text().splitlines()
    return Sheet(remark, position, {int(depth): int(count) for depth, count in (line.split(":") for line in lines)})


def write_sheet(path: Path, sheet: Sheet) -> None:
    counts = [f"{depth}: {count}" for depth, count in sheet.counts.items()]
    path.write_text("\n".join([sheet.remark, sheet.position, *counts]) + "\n")


def perft(games: Games, depth: int) -> int:
    """How many sequences of so many legal moves there are."""
    actions = legal_ids(games)
    if depth == 1:
        return len(actions)
    return sum(perft(_after(games, action), depth - 1) for action in actions)


def _after(games: Games, action: int) -> Games:
    after = copied(games)
    engine.step(after, 0, action)
    return after


def divide(games: Games, depth: int) -> dict[str, int]:
    """The count under each legal move."""
    actions = legal_ids(games)
    counts = [perft(_after(games, action), depth - 1) if depth > 1 else 1 for action in actions]
    return dict(sorted(zip(texts_of(games, actions), counts, strict=True)))


def perft_of_twin(position: Position, depth: int) -> int:
    """The same by the twin."""
    moves = legal(position)
    if depth == 1:
        return len(moves)
    return sum(perft_of_twin(play(position, move), depth - 1) for move in moves)


def counted(sheet: Sheet) -> Sheet:
    """The sheet with fresh counts. Raises `AssertionError` where the twin counts otherwise."""
    game = sheet.game
    counts = {depth: perft(game.state.copy(), depth) for depth in sheet.counts}
    position = position_of(game.state, game.rules)
    for depth, count in counts.items():
        if count <= MOST_OF_TWIN:
            assert perft_of_twin(position, depth) == count, f"the twin counts otherwise at depth {depth}"
    return sheet._replace(counts=counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--divide", type=int, metavar="DEPTH")
    given = parser.parse_args()
    for path in given.files:
        sheet = read_sheet(path)
        if given.divide:
            print(json.dumps(divide(sheet.game.state.copy(), given.divide), indent=1))
            continue
        write_sheet(path, counted(sheet))
        print(path.read_text())


if __name__ == "__main__":
    main()
