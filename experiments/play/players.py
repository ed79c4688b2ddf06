"""The agents of the tables, asked in threads of their own, and hints: what an agent would do, with an estimate.

Agents get views, never games.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import Any, NamedTuple, TypeVar

import numpy as np

from agents import Agent, AgentError, make
from experiments.play.table import Table
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import shown
from scala40_env.rules.game import Game
from scala40_env.rules.moves import STOCK
from scala40_env.rules.reading import texts_of
from scala40_env.rules.view import View

__all__ = ["ADVISERS", "Hint", "Players", "checked_agent", "next_action"]

_Answer = TypeVar("_Answer")

ADVISERS = ("expert", "ppo")
"""Agents that can be asked for a hint; those that can't play the rules of a table are not offered there."""
_HAS_WEIGHTS = files("agents").joinpath("ppo", "weights", "index.json").is_file()
"""Does ppo come with weights? Otherwise PyTorch, which takes seconds to load, need not be asked."""
_ESTIMATE = "search:playouts=2000,value=points,bonus=0"
"""What estimates: hands played out between `greedy` players, for the points of this hand alone."""
_THREADS = 4
_MOST_MOVES = 60
_POINTS = 100
"""Values of the search are in hundreds of points."""


class Hint(NamedTuple):
    """What an agent would do: `moves` up to its next draw from the stock or the end of its turn.

    `points` by which the others are expected to be charged more than the seat, with the standard `error` of that, after
    its first move; None where nothing was played out for it.
    """

    agent: str
    moves: str
    points: float | None
    error: float | None


class Players:
    """Agents by their names, each made once. Threads ask them, so that a slow one keeps no page waiting."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="player")
        self._made: dict[str, Agent] = {}
        self._locks: dict[str, threading.Lock] = {}

    def close(self) -> None:
        """Let the threads end; what they are at is not waited for."""
        self.pool.shutdown(wait=False, cancel_futures=True)

    def choose(self, spec: str, view: View, rng: np.random.Generator) -> int:
        """The action of an agent in a view. Raises `AgentError` for one that fails or plays what is not legal."""
        action = self._ask(spec, lambda agent: int(agent.act(view, rng)))
        if action not in view.legal_actions():
            raise AgentError(f"it chose {shown(action)}, which is no legal action", spec)
        return action

    def advisers(self, rules: Rules) -> list[str]:
        """The agents that can be asked for a hint under these rules."""
        return [name for name in ADVISERS if (name != "ppo" or _HAS_WEIGHTS) and self._plays(name, rules)]

    def hint(self, spec: str, game: Game, seat: int, rng: np.random.Generator) -> Hint:
        """What an agent would do on this seat, which is on move, with an estimate. Raises `AgentError`."""
        actions, moves = self._rest_of_turn(spec, game, seat, rng)
        points, error = self._estimate(game.view(seat), actions[0], rng)
        return Hint(spec, "; ".join(moves), points, error)

    def warm_up(self) -> None:
        """Compile and load what hints need, before somebody waits for it."""
        game = Game(Rules.fisca(num_players=2), seed=1).play("stock")
        for name in self.advisers(game.rules):
            self.hint(name, game, game.turn, np.random.default_rng(1))

    def _ask(self, spec: str, question: Callable[[Any], _Answer]) -> _Answer:
        """The answer of an agent, which is asked one thing at a time. Raises `AgentError`, whatever goes wrong."""
        try:
            # A lock for each: what one loads for seconds keeps no other waiting.
            with self._locks.setdefault(spec, threading.Lock()):
                if spec not in self._made:
                    self._made[spec] = make(spec)
                return question(self._made[spec])
        except AgentError:
            raise
        except Exception as error:  # an agent may be anybody's
            raise AgentError(f"it failed with {type(error).__name__}: {error}", spec) from error

    def _plays(self, spec: str, rules: Rules) -> bool:
        try:
            self._ask(spec, lambda agent: agent.check_rules(rules))
        except AgentError:
            return False
        return True

    def _rest_of_turn(self, spec: str, game: Game, seat: int, rng: np.random.Generator) -> tuple[list[int], list[str]]:
        """The moves of an agent to the end of the turn, as far as no hidden card decides on them."""
        game, turn = game.copy(), game.turns_played
        actions, moves = list[int](), list[str]()
        while game.turn == seat and game.turns_played == turn and not game.hand_over and len(moves) < _MOST_MOVES:
            actions.append(self.choose(spec, game.view(seat), rng))
            moves.append(texts_of(game.state, actions[-1:])[0])
            if actions[-1] == STOCK:
                break
            game.play_action(actions[-1])
        return actions, moves

    def _estimate(self, view: View, action: int, rng: np.random.Generator) -> tuple[float | None, float | None]:
        """Points by which the others are charged more after an action, and the error of that."""
        found: Any = self._ask(_ESTIMATE, lambda search: search.values(view, rng))
        at = np.flatnonzero((found.actions == action) & (found.visits > 0))
        if not len(at):
            return None, None
        return float(found.means[at[0]]) * _POINTS, float(found.errors[at[0]]) * _POINTS


def checked_agent(spec: str, rules: Rules) -> str:
    """`spec` if there is such an agent and it plays these rules. Raises `AgentError`."""
    make(spec).check_rules(rules)
    return spec


def next_action(players: Players, table: Table) -> int:
    """The action of the agent on move at a table. Raises `AgentError`."""
    seat, spec = table.game.turn, table.agent_on_move
    assert spec is not None  # whoever calls has looked
    return players.choose(spec, table.game.view(seat), table.generator(seat))
