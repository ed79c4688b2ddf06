"""The conformance cases of `cases/`, through `Game`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scala40_env import Game, Scala40Error

CASES = [
    case for file in sorted((Path(__file__).parent / "cases").glob("*.json")) for case in json.loads(file.read_text())
]


def with_key(key: str) -> Any:
    cases = [case for case in CASES if key in case]
    assert cases, f"no case has {key}"
    return pytest.mark.parametrize("case", cases, ids=[case["id"] for case in cases])


def start(case: dict[str, Any]) -> Game:
    return Game.from_position(case["position"])


def can_be_played(game: Game, text: str) -> bool:
    try:
        game.copy().play(text)
    except Scala40Error:
        return False
    return True


def facts(game: Game) -> dict[str, Any]:
    """What a case can ask for after a turn."""
    outcome = game.outcome
    ended = {} if outcome is None else {"winner": outcome.winner, "closing": outcome.closing}
    out = [] if outcome is None else list(outcome.eliminated)
    return {**game.position(), **ended, "hand_points": game.hand_points, "eliminated": out}


@with_key("legal")
def test_legal(case: dict[str, Any]) -> None:
    assert set(case["legal"]) <= set(start(case).legal_moves())


@with_key("illegal")
def test_illegal(case: dict[str, Any]) -> None:
    game = start(case)
    assert not set(case["illegal"]) & set(game.legal_moves())
    assert not [move for move in case["illegal"] if can_be_played(game, move)]


@with_key("exactly")
def test_exactly(case: dict[str, Any]) -> None:
    assert start(case).legal_moves() == sorted(case["exactly"])


@with_key("turns")
def test_turns(case: dict[str, Any]) -> None:
    game = start(case)
    for text in case["turns"]:
        game.copy().play(text)


@with_key("no_turns")
def test_no_turns(case: dict[str, Any]) -> None:
    game = start(case)
    assert not [text for text in case["no_turns"] if can_be_played(game, text)]


@with_key("play")
def test_play(case: dict[str, Any]) -> None:
    after = facts(start(case).play(case["play"]))
    assert {key: after[key] for key in case["then"]} == case["then"]


@with_key("error")
def test_error(case: dict[str, Any]) -> None:
    with pytest.raises(Scala40Error) as refused:
        start(case)
    assert [word for word in case["error"] if word not in str(refused.value)] == []


@pytest.mark.parametrize("case", [case for case in CASES if "error" not in case], ids=lambda case: case["id"])
def test_the_position_made_complete_reads_back(case: dict[str, Any]) -> None:
    position = start(case).position()
    assert Game.from_position(position).position() == position
