"""Agents at the tables, and their hints."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import numpy as np
import pytest

import agents
from agents import Agent, AgentError
from experiments.play.players import ADVISERS, Hint, Players
from experiments.play.table import Table
from experiments.play.words import words_of
from scala40_env import Game, Rules
from tests.experiments.play.tables import PEOPLE, Listener, live_table, setup_of, until

RULES = Rules.fisca(num_players=2)


def test_an_agent_that_there_is_not() -> None:
    game = Game(RULES, seed=1)
    with pytest.raises(AgentError, match="did you mean 'greedy'"):
        Players().choose("gredy", game.view(game.turn), np.random.default_rng(1))


def test_an_agent_is_made_once() -> None:
    players, game = Players(), Game(RULES, seed=1)
    for _ in range(2):
        players.choose("random", game.view(game.turn), np.random.default_rng(1))
    assert [*players._made] == ["random"]


@pytest.mark.jit
@pytest.mark.once
def test_a_hint_is_a_turn_that_can_be_played_with_an_estimate() -> None:
    game = Game(RULES, seed=11)
    hint = Players().hint("expert", game, game.turn, np.random.default_rng(1))
    assert hint.moves == "stock"
    game.play("stock")
    hint = Players().hint("expert", game, game.turn, np.random.default_rng(1))
    assert game.copy().play(hint.moves).turns_played == 1
    assert hint.points is not None and hint.error is not None and abs(hint.points) < 100 and 0 < hint.error < 20


@pytest.mark.jit
@pytest.mark.once
def test_a_hint_depends_on_nothing_hidden() -> None:
    game = Game(RULES, seed=11).play("stock")
    seat = game.turn
    hints = {
        Players().hint("expert", Game.from_position({**game.view(seat).position(), "seed": seed}), seat, rng)
        for seed, rng in ((seed, np.random.default_rng(1)) for seed in range(3))
    }
    assert len(hints) == 1


@pytest.mark.jit
@pytest.mark.once
def test_a_page_asks_for_a_hint(tmp_path: Path) -> None:
    async def go() -> None:
        live = live_table(Table(setup_of(RULES, PEOPLE[:2])), tmp_path)
        page = Listener(live, live.table.game.turn)
        await page.says(json.dumps({"type": "hello", "language": "it"}))
        await until(lambda: page.of("advisers"))
        assert page.of("advisers")[0]["agents"][0] == "expert"
        await page.says(json.dumps({"type": "hint", "agent": "expert"}))
        await until(lambda: page.of("hint"))
        (hint,) = page.of("hint")
        assert hint["text"].startswith("expert: pesca dal tallone.")
        live._players.close()

    asyncio.run(go())


def test_an_adviser_that_fails_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise AgentError("no idea", "expert")

    async def go() -> None:
        live = live_table(Table(setup_of(RULES, PEOPLE[:2])), tmp_path)
        monkeypatch.setattr(live._players, "hint", fails)
        monkeypatch.setattr(live._players, "advisers", lambda rules: ["expert"])
        page = Listener(live, live.table.game.turn)
        await page.says(json.dumps({"type": "hint", "agent": "expert"}))
        await until(lambda: page.got)
        (answer,) = page.got
        assert answer == {"type": "refused", "why": words_of("en").say("agent_failed", name="expert", why="no idea")}
        live._players.close()

    asyncio.run(go())


@pytest.mark.once
def test_who_asks_again_meanwhile_gets_one_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, answer = list[str](), threading.Event()

    def hint(agent: str, *_: object) -> Hint:
        asked.append(agent)
        assert answer.wait(30)
        return Hint(agent, "stock", None, None)

    async def go() -> None:
        live = live_table(Table(setup_of(RULES, PEOPLE[:2])), tmp_path)
        monkeypatch.setattr(live._players, "hint", hint)
        monkeypatch.setattr(live._players, "advisers", lambda rules: ["expert"])
        page = Listener(live, live.table.game.turn)
        for _ in range(5):
            await page.says(json.dumps({"type": "hint", "agent": "expert"}))
        answer.set()
        await until(lambda: page.got)
        assert asked == ["expert"] and [message["type"] for message in page.got] == ["hint"]
        await page.says(json.dumps({"type": "hint", "agent": "expert"}))
        await until(lambda: len(page.got) > 1)
        live._players.close()

    asyncio.run(go())


class _Breaks(Agent):
    name = "breaks"

    def act(self, view: object, rng: object) -> int:
        return 0

    def check_rules(self, rules: Rules) -> None:
        raise ZeroDivisionError("no idea")


@pytest.mark.once
def test_an_adviser_that_breaks_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agents.base._FACTORIES, "breaks", _Breaks)
    monkeypatch.setattr("experiments.play.players.ADVISERS", ("breaks",))
    assert Players().advisers(RULES) == []


def test_advisers_are_agents() -> None:
    assert {*ADVISERS} <= {*agents.names()}
