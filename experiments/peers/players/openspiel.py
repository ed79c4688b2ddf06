"""OpenSpiel's ``gin_rummy`` from Python: the legal actions and one of them applied, and what is observed besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyspiel

LIBRARIES = ("open-spiel",)

Play = Callable[[int], int]
Observe = Callable[[Any], Any]


def _nothing(game: Any) -> Observe:
    return lambda state: None


def _tensor(game: Any) -> Observe:
    """What who is on move observes, as the state gives it: a list of floats."""
    return lambda state: state.observation_tensor()


def _observer(game: Any) -> Observe:
    """The same by OpenSpiel's observer, which writes into an array of NumPy that it owns."""
    from open_spiel.python.observation import make_observation

    observation = make_observation(game)
    return lambda state: observation.set_from(state, state.current_player())


def _playing(observer_of: Callable[[Any], Observe]) -> Callable[[Any, Any], Play]:
    def make(loops: Any, settings: Any) -> Play:
        game = pyspiel.load_game("gin_rummy")
        observe = observer_of(game)
        state = game.new_initial_state()

        def play(decisions: int) -> int:
            nonlocal state
            made = 0
            while made < decisions:
                if state.is_terminal():
                    state = game.new_initial_state()
                elif state.is_chance_node():  # a card is dealt or drawn: each that is left as likely, and no decision
                    state.apply_action(loops.choose(state.legal_actions()))
                else:
                    observe(state)
                    state.apply_action(loops.choose(state.legal_actions()))
                    made += 1
            return made

        return play

    return make


CASES = {
    "openspiel_apply": _playing(_nothing),
    "openspiel_tensor": _playing(_tensor),
    "openspiel_observer": _playing(_observer),
}
