"""How the expert plays: its habits in positions made for them, what it heeds, its strength, its weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents import Agent, AgentError
from agents.expert import SHIPPED, pack, read_weights, write_weights
from scala40_env import Game, Rules
from scala40_env.kernels.jit import JIT_DISABLED
from scala40_env.rules.moves import POZZO, SLOTS, STOCK
from scala40_env.rules.reading import texts_of
from tests.agents.tables import play

EXPERT = agents.make("expert")


def turn_of(position: dict[str, Any], rules: dict[str, Any] | None = None, agent: Agent = EXPERT) -> list[str]:
    """The moves of the expert until its turn ends."""
    played = {"preset": "fisca", "num_players": 2, **(rules or {})}
    game = Game.from_position({"turn": 0, "phase": "play", **position, "rules": played})
    seat, moves, turns = game.turn, [], game.turns_played
    while not game.hand_over and game.turn == seat and game.turns_played == turns:
        view = game.view(seat)
        action = agent.act(view, np.random.default_rng(0))
        moves.append(dict(zip(view.legal_actions(), texts_of(game.state, game.legal_actions()), strict=True))[action])
        game.play_action(action)
    return moves


# ---------------------------------------------------------------------------------------------------------------------
# Habits


def test_closes_when_it_can() -> None:
    """The eight could go to the set too, but only on the run does it make room for the nine."""
    position = {"opened": [True, True], "table": ["5s 6s 7s", "8h 8d 8c"], "hands": ["8s 9s Ts 2d", "?5"]}
    moves = turn_of(position)
    assert moves[-1] == "discard 2d" and len(moves) <= 4


def test_keeps_a_card_to_close_with() -> None:
    """All three would go to the table if the last one did not have to be discarded."""
    moves = turn_of({"opened": [True, True], "table": ["5s 6s 7s", "9h 9d 9c"], "hands": ["8s 9s Kd", "?5"]})
    assert moves[-1] == "discard Kd" and len(moves) == 3


def test_closes_with_a_joker_that_makes_the_way() -> None:
    moves = turn_of({"opened": [True, True], "table": ["5s 6s 7s"], "hands": ["* 9s Kd", "?5"]})
    assert moves == ["attach *8s 1 high", "attach 9s 1 high", "discard Kd"]


def test_swaps_a_joker_when_that_closes() -> None:
    position = {"opened": [True, True], "table": ["5s *6s 7s", "Th Jh Qh"], "hands": ["6s 9d 9c 4c", "?5"]}
    assert turn_of(position) == ["swap 6s 1", "meld *9s 9d 9c", "discard 4c"]


def test_opens_and_keeps_a_discard() -> None:
    moves = turn_of({"hands": ["Ks Kh Kd 3s 4s 5s 9c 2d", "?4"], "opened": [False, True], "turns_played": 20})
    assert sorted(moves[:2]) == ["meld 3s 4s 5s", "meld Ks Kh Kd"]
    assert moves[-1] in ("discard 9c", "discard 2d") and len(moves) == 3


def test_takes_the_pozzo_card_that_lets_it_lay() -> None:
    position = {"phase": "draw", "opened": [True, True], "table": ["5s 6s 7s"], "pozzo": "2d 8s"}
    assert turn_of({**position, "hands": ["Kc 2h 9d 4c", "?5"]})[:2] == ["pozzo", "attach 8s 1 high"]


def test_throws_no_card_that_attaches_if_another_is_as_useless() -> None:
    """The rival has opened and would attach the eight at once; the other eight goes nowhere."""
    hand = "8s 8h Kc Kd 2h 3d 4c Qh 6d Jd 9c As 5d Tc"
    position = {"opened": [False, True], "table": ["5s 6s 7s"], "hands": [hand, "?4"]}
    assert "discard 8s" not in turn_of(position, {"attaching_discard": "allowed"})


def test_never_throws_a_joker_if_there_is_another_card() -> None:
    moves = turn_of({"opened": [True, True], "table": ["5s 6s 7s"], "hands": ["* 2d", "?5"]})
    assert moves[-1] == "discard 2d"


# ---------------------------------------------------------------------------------------------------------------------
# What it heeds


def _choices(rules: Rules, scores: list[int] | None = None, turns: int = 40) -> list[int]:
    """What the expert would choose in the positions of some hands that it plays itself by the rules of the federation.

    The positions are the same whatever the rules and scores that it is asked under.
    """
    choices = []
    for seed in range(40):
        game = Game(Rules.fisca(num_players=2), seed=seed)
        while not game.hand_over and game.turns_played < turns:
            position = {**game.position(), "rules": rules.to_dict()}
            asked = Game.from_position(position if scores is None else {**position, "scores": scores})
            choices.append(EXPERT.act(asked.view(asked.turn), np.random.default_rng(0)))
            game.play_action(EXPERT.act(game.view(game.turn), np.random.default_rng(0)))
    return choices


@pytest.mark.jit
def test_heeds_the_score() -> None:
    """Near the limit its points count otherwise; where no limit counts the scores change nothing."""
    rules = Rules.fisca(num_players=2)
    assert _choices(rules, [95, 0]) != _choices(rules, [0, 0])
    single = Rules.fisca(num_players=2, match="single_hand")
    assert _choices(single, [95, 0]) == _choices(single, [0, 0])


@pytest.mark.jit
def test_opens_sooner_the_more_staying_unopened_is_charged() -> None:
    """In the same positions: under a high flat sum for who has not opened it lays more often than under none at all."""
    lays = [
        sum(choice >= SLOTS for choice in _choices(Rules.fisca(num_players=2, unopened_points=points)))
        for points in (0, 250)
    ]
    assert lays[1] > lays[0]


@pytest.mark.jit
def test_judges_the_pozzo_card() -> None:
    """It takes one that the rules let it take, or not, as its hand needs it; the greedy one always does."""
    drawn: dict[str, list[int]] = {"expert": [], "greedy": []}
    for seed in range(60):
        game = Game(Rules.fisca(num_players=2), seed=seed)
        while not game.hand_over:
            if game.phase == "draw" and game.legal_actions() == [STOCK, POZZO]:
                for name, actions in drawn.items():
                    actions.append(agents.make(name).act(game.view(game.turn), np.random.default_rng(0)))
            game.play_action(EXPERT.act(game.view(game.turn), np.random.default_rng(0)))
    assert set(drawn["greedy"]) == {POZZO}
    assert drawn["expert"].count(STOCK) > 5 and drawn["expert"].count(POZZO) > 5


@pytest.mark.jit
@pytest.mark.parametrize(
    ("preset", "seats", "least"), [("fisca", 2, 0.56), ("fisca", 4, 0.255), ("scala_quaranta", 4, 0.23)]
)
def test_beats_greedy(preset: str, seats: int, least: float) -> None:
    """The same deals from all seats; the bounds are far below what it does. Where pozzo cards are kept it wins about as
    many hands, and is charged less."""
    deals, rules = 1500, Rules.from_preset(preset, num_players=seats, match="single_hand")
    won, points = [], []
    for seat in range(seats):
        seating = [[0 if at == seat else 1 for at in range(seats)]] * deals
        (ended,) = play(rules, [EXPERT, agents.make("greedy")], seating)
        won.append((ended.winner == seat).mean())
        points.append(ended.points[:, seat].mean() - np.delete(ended.points, seat, axis=1).mean())
    assert np.mean(won) > least
    assert np.mean(points) < 0


@pytest.mark.parametrize(
    ("preset", "seats", "heeded"), [("scala_quaranta", 3, True), ("scala_quaranta", 2, False), ("fisca", 3, False)]
)
def test_has_weights_of_its_own_where_pozzo_cards_are_kept(
    tmp_path: Path, preset: str, seats: int, heeded: bool
) -> None:
    content = read_weights(SHIPPED)
    content["tables"]["more_seats_keeping"]["stakes"]["win"] *= -1
    write_weights(tmp_path / "other.json", content)
    rules = Rules.from_preset(preset, num_players=seats, match="single_hand")
    games = 2 if JIT_DISABLED else 20
    logs = [
        [log.actions.tolist() for ended in play(rules, [agent], [[0] * seats] * games, logs=True) for log in ended.logs]
        for agent in (EXPERT, agents.make(f"expert:{tmp_path / 'other.json'}"))
    ]
    assert (logs[0] != logs[1]) is heeded


def test_the_same_keys_are_the_same_game() -> None:
    rules, games = Rules.fisca(num_players=3, match="single_hand"), 2 if JIT_DISABLED else 50
    logs = [
        [log.actions.tolist() for ended in play(rules, [EXPERT], [[0] * 3] * games, logs=True) for log in ended.logs]
        for _ in range(2)
    ]
    assert logs[0] == logs[1]


# ---------------------------------------------------------------------------------------------------------------------
# Weights


def test_weights_come_back_as_they_were_written(tmp_path: Path) -> None:
    content = read_weights(SHIPPED)
    write_weights(tmp_path / "again.json", content)
    assert (tmp_path / "again.json").read_bytes() == SHIPPED.read_bytes()
    again = agents.make(f"expert:{tmp_path / 'again.json'}")
    assert isinstance(again, agents.KernelAgent) and np.array_equal(again.weights, pack(content))


def _first_row(content: dict[str, Any]) -> list[Any]:
    row: list[Any] = content["tables"]["two_seats"]["units_by_feature"][0]
    return row


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda content: content.update(format="something"), ["not of the format"]),
        (lambda content: content.update(version=9), ["version 9", "allowed is 3"]),
        (lambda content: content["features"].pop(), ["other features"]),
        (lambda content: content["tables"].pop("two_seats"), ["two_seats, more_seats, more_seats_keeping"]),
        (lambda content: content["tables"]["two_seats"]["stakes"].pop("win"), ["two_seats", "stakes have to be win"]),
        (lambda content: content["tables"]["two_seats"]["stakes"].update(win=0.5), ["win is 0.5", "whole number"]),
        (lambda content: content["tables"]["two_seats"].pop("units_by_feature"), ["two_seats has to hold"]),
        (lambda content: content["tables"]["two_seats"]["units_by_feature"].pop(), ["43 rows"]),
        (lambda content: _first_row(content).pop(), ["32 numbers"]),
        (lambda content: _first_row(content).__setitem__(0, "much"), ["'much'", "whole number"]),
        (lambda content: _first_row(content).__setitem__(0, 1 << 40), ["1099511627776", "whole number"]),
    ],
)
def test_weights_that_can_not_be_used(tmp_path: Path, spoil: Any, words: list[str]) -> None:
    content = json.loads(SHIPPED.read_text(encoding="utf-8"))
    spoil(content)
    path = tmp_path / "spoilt.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(AgentError) as refused:
        agents.make(f"expert:{path}")
    assert [word for word in ["spoilt.json", *words] if word not in str(refused.value)] == []


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="No such file"):
        agents.make(f"expert:{tmp_path / 'none.json'}")
    (tmp_path / "text.json").write_text("weights", encoding="utf-8")
    with pytest.raises(AgentError, match="no JSON"):
        agents.make(f"expert:{tmp_path / 'text.json'}")
