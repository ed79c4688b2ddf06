"""Golden playthroughs: short text files, one for each thing worth reading once as it happens.

A file is read line by line:

    # ...            a remark
    { ... }          the position, over some lines
    = field: value   the field has this value (JSON) now
    ! text           this turn text is refused now
    next_hand        the next hand is dealt
    text             turn text, played
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scala40_env import Game, IllegalMove, Record

FILES = sorted((Path(__file__).parent / "playthroughs").glob("*.txt"))


def facts(game: Game) -> dict[str, Any]:
    """Everything that a file can ask for."""
    optional = {"champions": [], "out": [], "reentries_used": [0] * game.rules.num_players}
    known: dict[str, Any] = {**optional, **game.position()}
    if outcome := game.outcome:
        known |= {"winner": outcome.winner, "closing": outcome.closing, "eliminated": list(outcome.eliminated)}
        known |= {"hand_points": game.hand_points, "champions": list(outcome.champions)}
    return known


def split(path: Path) -> tuple[dict[str, Any], list[str]]:
    """The position, and the lines after it."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    end = lines.index("}") + 1
    return json.loads("".join(lines[:end])), lines[end:]


def follow(game: Game, line: str) -> None:
    if line.startswith("="):
        field, _, value = line[1:].partition(":")
        assert facts(game)[field.strip()] == json.loads(value)
    elif line.startswith("!"):
        with pytest.raises(IllegalMove):
            game.play(line[1:].strip())
    elif line == "next_hand":
        game.next_hand()
    else:
        game.play(line)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_playthrough(path: Path) -> None:
    position, lines = split(path)
    game = Game.from_position(position)
    for line in lines:
        follow(game, line)
    replayed = Record.from_json(game.record().to_json()).check()
    assert replayed == game


def test_there_is_one_for_each_way_of_ending() -> None:
    endings = {line for path in FILES for line in split(path)[1] if line.startswith("= closing")}
    assert endings == {'= closing: "normal"', '= closing: "in_hand"', '= closing: "none"'}
