"""RLCard's gin rummy: its own `run`, reset and step, and the bare game below its environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rlcard

LIBRARIES = ("rlcard",)

Play = Callable[[int], int]


class _Player:
    """An agent as `env.run` wants it, which counts its decisions."""

    use_raw = False

    def __init__(self, loops: Any) -> None:
        self._choose = loops.choose
        self.decisions = 0

    def step(self, state: Any) -> Any:
        self.decisions += 1
        return self._choose(list(state["legal_actions"]))

    def eval_step(self, state: Any) -> Any:
        return self.step(state), {}


def _run(loops: Any, settings: Any) -> Play:
    env = rlcard.make("gin-rummy")
    player = _Player(loops)
    env.set_agents([player, player])

    def play(decisions: int) -> int:
        before = player.decisions
        while player.decisions - before < decisions:
            env.run(is_training=True)
        return player.decisions - before

    return play


def _step(loops: Any, settings: Any) -> Play:
    env = rlcard.make("gin-rummy")
    state = env.reset()[0]

    def play(decisions: int) -> int:
        nonlocal state
        for _ in range(decisions):
            state = env.step(loops.choose(list(state["legal_actions"])))[0]
            if env.is_over():
                state = env.reset()[0]
        return decisions

    return play


def _game(loops: Any, settings: Any) -> Play:
    game = rlcard.make("gin-rummy").game
    game.init_game()

    def play(decisions: int) -> int:
        for _ in range(decisions):
            game.step(loops.choose(game.judge.get_legal_actions()))
            if game.is_over():
                game.init_game()
        return decisions

    return play


CASES = {"rlcard_run": _run, "rlcard_step": _step, "rlcard_game": _game}
