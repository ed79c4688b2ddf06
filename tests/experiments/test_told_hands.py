"""A search that is told the others' hands: it knows them, and nothing else, and the command says what that brings."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import agents
from agents.beliefs import read_beliefs
from agents.kernels.determinize import deal_view
from experiments import told_hands
from experiments.told_hands import tell_hands
from scala40_env import Game, Rules
from scala40_env.kernels.state import GAME
from scala40_env.rules.reading import hand_of, stock_of

Capture = pytest.CaptureFixture[str]


def test_it_knows_the_hands_and_not_the_stock() -> None:
    game, greedy, rng = Game(Rules.fisca(num_players=3), seed=4), agents.make("greedy"), np.random.default_rng(0)
    for _ in range(12):
        game._step(greedy.act(game.view(game.turn), rng))
    view, stocks = game.view(game.turn).state.copy(), set()
    tell_hands(game.state, 0, view)
    for deal in range(4):
        games = np.zeros(1, GAME)
        deal_view(view, 0, game.turn, 6, read_beliefs(), np.uint64(1), deal, games, 0)
        for seat in range(3):
            assert hand_of(games, seat) == hand_of(game.state, seat)
        assert sorted(stock_of(games)) == sorted(stock_of(game.state))
        stocks.add(tuple(stock_of(games)))
    assert len(stocks) == 4


def printed(monkeypatch: pytest.MonkeyPatch, capsys: Capture, *words: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["told_hands", *words])
    code = told_hands.main()
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.jit
def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    words = ("--agent", "search:playouts=60,trust=0", "--deals", "12", "--against", "greedy", "--seed", "3")
    code, out, _ = printed(monkeypatch, capsys, *words, "--json")
    blind, told = json.loads(out)["rows"]
    assert code == 0 and (blind["told"], told["told"]) == (False, True)
    assert blind["hands"] == told["hands"] == 24
    assert blind["win_share"] != told["win_share"] or blind["margin"] != told["margin"]
    assert json.loads(printed(monkeypatch, capsys, *words, "--json")[1])["rows"] == [blind, told]
    table = printed(monkeypatch, capsys, *words)[1]
    assert f"{told['win_share']:.1%}" in table and "not told" in table


@pytest.mark.once
@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--agent expert", "--agent expert: allowed is a search"),
        ("--agent search:ms=50", "allowed is a search with a budget of playouts"),
        ("--against search:playouts=5", "allowed is a scripted agent"),
        ("--deals 1", "allowed are 2 deals and more"),
        ("--preset fishca", "fisca"),
        ("--against nobody", "nobody"),
    ],
)
def test_what_can_not_be_is_refused(words: str, why: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    code, _, said = printed(monkeypatch, capsys, *words.split())
    assert code == 2 and said.startswith("scala40 told_hands: error: ") and why in said and said.count("\n") == 1
