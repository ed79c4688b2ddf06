"""The reason why a move is refused."""

from __future__ import annotations

from typing import Any

import pytest

from scala40_env import Game, IllegalMove
from scala40_env.rules.explain import MOST_SHOWN, why_illegal

FILLER = "7s 9d 5s 8h Td Js 6d 2h 4h 9c Jc"
"""Eleven cards that make nothing with each other."""


def reason(move: str, **position: Any) -> str:
    """Why a move is refused, in a position of three players who have opened unless it says otherwise."""
    rules = {"preset": position.pop("preset", "fisca"), "num_players": 3, **position.pop("rules", {})}
    given = {"turn": 0, "phase": "play", "opened": [True] * 3, **position, "rules": rules}
    given["hands"] = [given.pop("hand"), "?5", "?5"]
    with pytest.raises(IllegalMove) as refused:
        Game.from_position(given).play(move)
    return refused.value.reason


UNOPENED = {"opened": [False, True, True]}
RUN = {"table": ["5s 6s 7s"]}


def test_phases() -> None:
    assert "has to draw first" in reason("discard Kd", phase="draw", hand="Kd 2c", pozzo="3h")
    assert "drawn already" in reason("stock", hand="Kd 2c")
    assert "nobody is asked" in reason("buy", hand="Kd 2c")


def test_buying() -> None:
    buying = {"rules": {"buying": True}, "phase": "buy", "hand": "Kd 2c", "pozzo": "2h 8s", **RUN}
    assert "buy or pass" in reason("attach 8s 1 high", **buying)
    assert "has bought 8s already" in reason("buy; pass", **buying)
    assert "has to go down at once" in reason("buy; discard Kd", **buying)


def test_drawing_from_the_pozzo() -> None:
    draw = {"phase": "draw", "hand": "9h 2c Kd"}
    assert "pozzo is empty" in reason("pozzo", **draw)
    assert "has not opened" in reason("pozzo", pozzo="8s", **draw, **UNOPENED)
    assert "Jh could not be used" in reason("pozzo", pozzo="Jh", **draw)
    assert "could not open" in reason("pozzo", pozzo="Jh", rules={"opening_from_pozzo": True}, **draw, **UNOPENED)


def test_an_empty_stock() -> None:
    draw = {"phase": "draw", "hand": "9s 2c Kd", "pozzo": "8s", "stock": "", **RUN}
    assert "the stock is empty" in reason("stock", **draw)


def test_cards_not_held() -> None:
    assert "does not hold Qh" in reason("discard Qh", hand="Kd 2c")
    assert "does not hold Kh Kc" in reason("meld Kh Kd Kc", hand="Kd 2c")
    assert "does not hold *" in reason("attach *8s 1 high", hand="Kd 2c", **RUN)
    assert "does not hold 6s" in reason("swap 6s 1", hand="Kd 2c", table=["5s *6s 7s"])


def test_what_melds_may_hold() -> None:
    assert "max_jokers_per_meld" in reason("meld 7h *7d *7c", hand="7h * * 2c")
    assert "max_jokers_per_meld" in reason("attach *8s 1 high", hand="* 2c 3d", table=["5s *6s 7s"])
    two = {"max_jokers_per_meld": 2}
    assert "min_naturals_per_meld" in reason("meld 7h *7d *7c", hand="7h * * 2c", rules=two)
    long = {"table": ["4s 5s 6s 7s 8s"], "rules": {"max_run_length": 5}}
    assert "max_run_length" in reason("attach 9s 1 high", hand="9s 2c 3d", **long)


def test_before_the_opening() -> None:
    assert "has not opened" in reason("attach 8s 1 high", hand=f"8s {FILLER}", **UNOPENED, **RUN)
    assert "takes jokers" in reason("swap 6s 1", hand=f"6s {FILLER}", table=["5s *6s 7s"], **UNOPENED)
    assert "40 points of an opening" in reason("meld Ks Kh Kd", hand=f"Ks Kh Kd {FILLER}", **UNOPENED)
    jokers = {"rules": {"opening_jokers": "after_threshold"}}
    assert "no joker goes down" in reason("meld Ks Kh *Kd", hand=f"Ks Kh * {FILLER}", **UNOPENED, **jokers)
    kings = {"hand": f"3s 3h 3d {FILLER[:20]}", "table": ["Ks Kh Kd"], **UNOPENED}
    begun = {"opening_points": 30, "natural_points": 30, "new_melds": [1]}
    more = kings | {"hand": "Kc 7s 9d 5s 8h Td Js 6d 2h 4h 9c"}
    assert "count 30 points" in reason("discard 7s", this_turn=begun, **more)
    assert "can't discard a joker" in reason("discard *", hand=f"* {FILLER} 3c", **UNOPENED)


def test_what_has_to_be_left() -> None:
    assert "last card" in reason("meld 7h 7d 7c", hand="7h 7d 7c")
    assert "first lap" in reason("attach 8s 1 high", hand="8s 2c", turns_played=2, **RUN)


def test_the_discard_that_closes() -> None:
    optional = {"closing_discard": "optional", "attaching_discard": "allowed"}
    joker = {"rules": {"closing_joker_discard": False, **optional}, **RUN}
    assert "closing_joker_discard" in reason("discard *", hand="*", **joker)
    assert "could not be ended" in reason(
        "attach 8s 1 high", hand="8s * *", rules={"closing_joker_discard": False}, **RUN
    )
    begun = {"opening_points": 36, "natural_points": 36, "new_melds": [1, 2]}
    nearly = {"table": ["Ts Js Qs", "Ac 2c 3c"], **UNOPENED}
    needs = {"rules": {"in_hand_needs_opening_points": True, **optional}, "this_turn": begun, **nearly}
    assert "in_hand_needs_opening_points" in reason("discard 4c", hand="4c", **needs)


def test_debts() -> None:
    owing = {"hand": "7h 7h 7d 7c 2s Kd", "this_turn": {"pozzo_card": "7h"}}
    assert "7h, taken from the pozzo" in reason("discard 2s", **owing)
    swap = {"hand": "9d Kc 5h", "table": ["8d *9d Td", "3c 4c 5c"]}
    assert "have to be used before the discard" in reason("swap 9d 1; discard 5h", **swap)
    assert "can't go back to it" in reason("swap 9d 1; attach *Jd 1 high", **swap)
    assert "has to be used again" in reason("swap 9d 1", hand="9d 2c 5h", table=["8d *9d Td"])
    only_new = {"preset": "scala_quaranta", "hand": "9d 2c 5h 6h Kd", "table": ["8d *9d Td", "3c 4c 5c"]}
    assert "new meld only" in reason("swap 9d 1; attach *6c 2 high", **only_new)
    lost = {"hand": "7h 7d 7c 8h 9h 2s Kd", "this_turn": {"pozzo_card": "7d"}}
    assert "after it 7d, taken from the pozzo" in reason("meld 7h 8h 9h", **lost)
    stuck = {"hand": "9d 5h 6h Kd", "table": ["8d *9d Td", "5s 5d 5c"]}
    assert "after it the joker taken" in reason("swap 9d 1; attach 5h 2", **stuck)


def test_discards() -> None:
    assert "8s attaches to meld 1" in reason("discard 8s", hand="8s 2c", **RUN)
    assert "9d attaches to meld 1" in reason("discard 9d", hand="9d 2c 5h", table=["8d *9d Td"])
    kept = {"preset": "scala_quaranta", "hand": "Jh 2c 5h", "this_turn": {"barred_card": "Jh"}}
    assert "can't be thrown back" in reason("discard Jh", **kept)


def test_discards_that_the_rules_let_pass() -> None:
    """Where attaching is forbidden, what takes a joker's place and what is too long may still go."""
    off = {"replacing_attaches": False, "max_run_length": 5}
    position = {"hand": "9d 9s 2c", "table": ["8d *9d Td", "4s 5s 6s 7s 8s"], "rules": off}
    assert "does not hold" in reason("discard 3c", **position)
    assert {"discard 9d", "discard 9s"} <= set(reason("discard 3c", **position).split("legal: ")[1].split(", "))


def test_longer_melds_are_explained_by_the_part_that_fails() -> None:
    said = reason("meld 9c Tc Jc Qc", hand="9c Tc Jc Qc 7s 9d 5s 8h Td Js 6d 2h 4h 3d", **UNOPENED)
    assert said.startswith("'meld 9c Tc Jc': after it")


def test_the_table_decides_what_exists() -> None:
    assert "no meld 4" in reason("attach 8s 4 high", hand="8s 2c", **RUN)
    assert "takes 4s low or 8s high" in reason("attach 9s 1 high", hand="9s 2c", **RUN)
    assert "holds no joker" in reason("swap 6s 1", hand="6s 2c", **RUN)


def test_what_would_be_legal_ends_the_message() -> None:
    assert reason("discard Qh", hand="Kd 2c").endswith("legal: discard 2c, discard Kd")
    many = reason("discard Qh", hand=f"{FILLER} 3c Kd Ah")
    assert many.count("discard ") == MOST_SHOWN
    assert many.endswith("and 2 more")


def test_a_legal_move_is_said_to_be_so() -> None:
    game = Game(seed=1)
    assert why_illegal(game.state.copy(), "stock").startswith("nothing forbids")
    assert why_illegal(game.state.copy(), 0).startswith("nothing forbids")


def test_every_refused_action_gets_a_reason() -> None:
    game = Game(seed=1).play("stock")
    for action in set(range(1045)) - set(game.legal_actions()):
        assert "legal: " in why_illegal(game.state.copy(), action)
