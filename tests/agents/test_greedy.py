"""How greedy plays: its habits in positions made for them, and its strength."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
from scala40_env import Game, Rules
from tests.agents.tables import play

GREEDY = agents.make("greedy")


def turn_of(position: dict[str, Any]) -> list[str]:
    """The moves of greedy until its turn ends."""
    game = Game.from_position({"rules": {"preset": "fisca", "num_players": 2}, "turn": 0, "phase": "play", **position})
    seat, moves, turns = game.turn, [], game.turns_played
    while not game.hand_over and game.turn == seat and game.turns_played == turns:
        view = game.view(seat)
        action = GREEDY.act(view, np.random.default_rng(0))
        moves.append(dict(zip(view.legal_actions(), _texts(game), strict=True))[action])
        game.play_action(action)
    return moves


def _texts(game: Game) -> list[str]:
    from scala40_env.rules.reading import texts_of

    return texts_of(game.state, game.legal_actions())


def test_opens_and_keeps_a_discard() -> None:
    moves = turn_of({"hands": ["Ks Kh Kd 3s 4s 5s 9c 2d", "?13"]})
    assert sorted(moves[:2]) == ["meld 3s 4s 5s", "meld Ks Kh Kd"]
    assert moves[-1] == "discard 9c"


def test_lays_the_split_that_leaves_least() -> None:
    """The kings make a set or end a run; with the set the queens are left over."""
    moves = turn_of({"hands": ["Js Qs Ks Kh Kd Qh Qd 2c 5d", "?13"]})
    laid = {card for move in moves if move.startswith(("meld", "attach")) for card in move.split() if len(card) == 2}
    assert {"Ks", "Kh", "Kd", "Qs", "Qh", "Qd"} <= laid


def test_takes_the_pozzo_card_that_lets_it_lay() -> None:
    position = {"phase": "draw", "opened": [True, True], "table": ["5s 6s 7s"], "pozzo": "2d 8s"}
    moves = turn_of({**position, "hands": ["Kc 2h 9d 4c", "?5"]})
    assert moves[:2] == ["pozzo", "attach 8s 1 high"]


def test_closes_when_it_can() -> None:
    """The eight could go to the set too, but only on the run does it make room for the nine."""
    position = {"opened": [True, True], "table": ["5s 6s 7s", "8h 8d 8c"], "hands": ["8s 9s Ts 2d", "?5"]}
    moves = turn_of(position)
    assert moves[-1] == "discard 2d" and len(moves) <= 4


def test_closes_with_a_joker_that_makes_the_way() -> None:
    moves = turn_of({"opened": [True, True], "table": ["5s 6s 7s"], "hands": ["* 9s Kd", "?5"]})
    assert moves == ["attach *8s 1 high", "attach 9s 1 high", "discard Kd"]


def test_does_not_go_down_to_two_cards_for_a_cheap_one() -> None:
    moves = turn_of({"opened": [True, True], "table": ["5s 6s 7s"], "hands": ["4s 9h Jd Qc", "?5"]})
    assert moves == ["discard Qc"] or moves == ["discard Jd"]


def test_spends_no_joker_where_a_natural_card_does() -> None:
    moves = turn_of({"hands": ["Ks Kh Kd * 3s 4s 5s 9c 2d Jh", "?13"], "opened": [True, False]})
    assert [move for move in moves if "*" in move] == []


def test_throws_the_dearest_card_that_helps_nobody() -> None:
    hand = "Ks Kh 9d Jc 4s 5s 2h"
    assert turn_of({"hands": [hand, "?13"]}) == ["discard Jc"]
    assert turn_of({"opened": [False, True], "table": ["8c 9c Tc"], "hands": [hand, "?13"]}) == ["discard 9d"]


def test_never_throws_a_joker_if_there_is_another_card() -> None:
    moves = turn_of({"opened": [True, True], "table": ["5s 6s 7s"], "hands": ["* 2d", "?5"]})
    assert moves[-1] == "discard 2d"


def test_swaps_and_uses_the_joker() -> None:
    position = {"opened": [True, True], "table": ["5s *6s 7s"], "hands": ["6s 9h 9d 2c Kd 4h 7c", "?5"]}
    moves = turn_of(position)
    assert moves[0] == "swap 6s 1" and any(move.startswith("meld") and "*" in move for move in moves)


@pytest.mark.parametrize(("hand", "bought"), [("Ks Kh 3c 4d 6h", True), ("2s 2h 9c 4d 6h", False)])
def test_buys_what_makes_the_hand_cheaper(hand: str, bought: bool) -> None:
    rank = hand[0]
    position = {
        "rules": {"preset": "fisca", "num_players": 2, "buying": True},
        "turn": 1,
        "phase": "draw",
        "opened": [True, True],
        "hands": [hand, "?6"],
        "pozzo": f"5c {rank}d",
    }
    game = Game.from_position(position).play("stock")
    assert game.phase == "buy" and game.turn == 0
    action = GREEDY.act(game.view(0), np.random.default_rng(0))
    assert game.play_action(action).phase == ("buy" if bought else "play")


@pytest.mark.jit
def test_beats_random() -> None:
    """Two players, the same deals from both seats; the bound is clear by far more than five standard errors."""
    deals = 1000
    rules = Rules.fisca(num_players=2)
    rounds = [play(rules, [GREEDY, agents.make("random")], [seats] * deals)[0] for seats in ([0, 1], [1, 0])]
    won = [(rounds[seat].winner == seat).mean() for seat in (0, 1)]
    assert sum(won) / 2 > 0.92
    assert np.mean([rounds[seat].points[:, seat].mean() for seat in (0, 1)]) < 5


@pytest.mark.jit
def test_closes_hands_soon() -> None:
    (ended,) = play(Rules.fisca(num_players=2), [GREEDY], [[0, 0]] * 1000)
    assert ended.turns.mean() / 2 < 12
    assert (ended.winner >= 0).mean() > 0.99
