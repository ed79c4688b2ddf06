"""No peeking: whatever a seat can't see is dealt anew, and every agent chooses the same, in every phase."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

import agents
from agents import Agent, KernelAgent
from scala40_env import Game, Rules, View
from scala40_env.kernels.jit import JIT_DISABLED
from scala40_env.rules.reading import Games
from tests.agents.tables import with_other_hidden_cards

#: How an agent is made here where its name alone would make one that looks at the clock.
SPECS = {"search": "search:playouts=120,threads=2,width=5"}
#: Rules that show every phase, discards kept or used, jokers that come back, and teams.
RULES = [
    Rules.fisca(num_players=2),
    Rules.scala_quaranta(num_players=3, buying=True),
    Rules.casa(num_players=4, team_size=2, buying=True),
    Rules.megajogos(num_players=3),
]


class Peeker(Agent):
    """Plays by what a view does not say: it is given the whole game, and follows the next card of the stock."""

    name = "peeker"

    def act(self, view: View, rng: np.random.Generator) -> int:
        legal = view.legal_actions()
        record = view.state
        return legal[int(record["pile"][0, int(record["stock_n"][0]) - 1]) % len(legal)]


def positions(rules: Rules, seed: int, turns: int) -> Iterator[tuple[Game, bool]]:
    """The games before each decision of a hand of `greedy`, which reaches buying; and whether there is a choice."""
    game, greedy, rng = Game(rules, seed=seed), agents.make("greedy"), np.random.default_rng(seed)
    while not game.hand_over and game.turns_played < turns:
        yield game, len(game.legal_actions()) > 1
        game._step(greedy.act(game.view(game.turn), rng))


def peeks(agent: Agent, state: Games, seat: int, rules: Rules, rng: np.random.Generator, whole: bool = False) -> bool:
    """Does an agent choose otherwise when the cards are others that the seat can't see? ``whole``: show it the game."""
    chosen = set()
    for games in (state, *(with_other_hidden_cards(state, seat, rng) for _ in range(1 if JIT_DISABLED else 2))):
        view = View.of(games, seat, rules)
        if whole:
            view = dataclasses.replace(view, _games=games)
        chosen.add(int(agent.act(view, np.random.default_rng(5))))
    return len(chosen) > 1


def agents_by_name() -> list[str]:
    """All but `ppo`, which plays only with the weights of a file."""
    slow = {"search"} if JIT_DISABLED else set()
    return [name for name in agents.names() if name not in {"ppo", *slow}]


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: f"{rules.preset}{rules.num_players}")
@pytest.mark.parametrize("name", agents_by_name())
def test_hidden_cards_change_no_move(name: str, rules: Rules) -> None:
    agent, rng = agents.make(SPECS.get(name, name)), np.random.default_rng(1)
    seen: set[tuple[str, bool, bool]] = set()
    for seed in range(1 if JIT_DISABLED else 6):
        for game, open_choice in positions(rules, seed, 8 if JIT_DISABLED else 60):
            if open_choice:
                assert not peeks(agent, game.state, game.turn, rules, rng), str(game)
                view = game.view(game.turn)
                seen.add((game.phase, view.opened[game.turn], game.turns_played < rules.num_players))
    if JIT_DISABLED:
        return
    phases = {phase for phase, _, _ in seen}
    assert phases == {"draw", "play"} | ({"buy"} if rules.buying else set())
    assert {(opened, first_lap) for _, opened, first_lap in seen} >= {(False, True), (False, False), (True, False)}


def test_one_that_peeks_is_caught() -> None:
    """The check finds an agent that sees the game, and does not accuse it where it gets a view."""
    rules, rng = Rules.fisca(num_players=2), np.random.default_rng(1)
    places = [(game.state, game.turn) for game, choice in positions(rules, 3, 8) if choice]
    assert any(peeks(Peeker(), state, turn, rules, rng, whole=True) for state, turn in places)
    assert not any(peeks(Peeker(), state, turn, rules, rng) for state, turn in places)


def test_kernels_are_asked_on_views() -> None:
    """What the arena shows to kernels is what `View` holds; `test_arena` compares their moves."""
    assert all(isinstance(agents.make(name), KernelAgent) for name in ("expert", "greedy", "random"))
