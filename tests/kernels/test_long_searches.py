"""Positions in which the exact search over the rest of the turn once took minutes."""

from __future__ import annotations

from typing import Any

import pytest

from scala40_env import Game

#: Fourteen cards, three jokers on the table to swap, and the first lap, in which nobody may close: nearly every way to
#: lay the hand has to be looked at. Without room to remember them all, the same ones were looked at again and again.
THREE_SWAPS: dict[str, Any] = {
    "rules": {"preset": "fisca", "num_players": 4},
    "turn": 0,
    "phase": "play",
    "turns_played": 3,
    "hands": ["4s Ts Js Qs Ah 4h Ad 4d 5d 7d Td 4c Tc *", "7h 8h 7c 9c", "5h 2d 6d 3c", "?13"],
    "opened": [False, True, True, False],
    "table": ["Jh Jd Jc", "As Ah Ac", "5s 5h *5d", "As *Ah Ac", "*Qs Qh Qd", "8d 9d Td"],
    "pozzo": "Qs Qh 8c Th",
}


@pytest.mark.jit
def test_three_jokers_to_swap_on_the_first_lap() -> None:
    moves = Game.from_position(THREE_SWAPS).legal_moves()
    assert len(moves) == 39
    assert {move.split()[0] for move in moves} == {"discard", "meld"}  # nothing attaches before it has opened
