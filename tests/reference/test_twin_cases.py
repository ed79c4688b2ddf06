"""The conformance cases, held against the twin itself: what checks the engine has to be right first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .positions import Position, complete
from .twin import legal, play

CASES = Path(__file__).parent.parent / "cases"
FILES = sorted(file for file in CASES.glob("*.json") if file.name != "refused.json")
ALL = [case for file in FILES for case in json.loads(file.read_text())]


def small_moves(turn_text: str) -> list[str]:
    """Turn text as small moves, but a meld of more than three cards still in one piece."""
    return [part.strip() for part in turn_text.split(";")]


def step(position: Position, move: str) -> Position | None:
    """The position after a move, or None if it is not legal."""
    return play(position, move) if move in legal(position) else None


def play_one(position: Position, move: str) -> Position | None:
    """Like `step`; a longer meld is laid as three cards and made longer card by card, smallest first."""
    words = move.split()
    if words[0] != "meld":
        return step(position, move)
    after = step(position, "meld " + " ".join(words[1:4]))
    number = len(position["table"]) + 1
    end = "" if words[1].lstrip("*")[0] == words[2].lstrip("*")[0] else " high"
    for card in words[4:]:
        if after is not None:
            after = step(after, f"attach {card} {number}{end}")
    return after


def play_all(position: Position, turn_text: str) -> Position | None:
    """The position after a whole turn text, or None if some move of it is not legal."""
    after: Position | None = position
    for move in small_moves(turn_text):
        if after is not None:
            after = play_one(after, move)
    return after


@pytest.mark.parametrize("case", ALL, ids=[case["id"] for case in ALL])
def test_case(case: dict[str, Any]) -> None:
    position = complete(case["position"])
    moves = legal(position)
    assert set(case.get("legal", [])) <= set(moves)
    assert not set(case.get("illegal", [])) & set(moves)
    if "exactly" in case:
        assert moves == sorted(case["exactly"])
    for text in case.get("turns", []):
        assert play_all(position, text) is not None, text
    for text in case.get("no_turns", []):
        assert play_all(position, text) is None, text
    if "play" in case:
        after = play_all(position, case["play"])
        assert after is not None
        assert {key: after[key] for key in case["then"]} == case["then"]


def test_complete_leaves_a_complete_position_as_it_is() -> None:
    for case in ALL:
        position = complete(case["position"])
        assert complete(position) == position
