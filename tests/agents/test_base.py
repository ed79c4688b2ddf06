"""The list of agents, and what is said of those that there are not."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import agents
from agents import Agent, AgentError, base
from scala40_env import Game, Rules, View


class Stubborn(Agent):
    name = "stubborn"

    def __init__(self, argument: str = "") -> None:
        self.argument = argument

    def act(self, view: View, rng: np.random.Generator) -> int:
        return 0


def broken() -> Agent:
    raise RuntimeError("no weights here")


def test_names_are_made() -> None:
    assert agents.names() == ("expert", "greedy", "ppo", "random", "search")
    without_libraries = [name for name in agents.names() if name != "ppo"]
    assert [agents.make(name).name for name in without_libraries] == without_libraries


def test_an_agent_of_ones_own() -> None:
    assert agents.make("tests.agents.test_base:Stubborn").name == "stubborn"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("gredy", ["'gredy'", "did you mean 'greedy'", "random", "module:factory"]),
        ("", ["greedy, ppo, random"]),
        ("no.such.module:agent", ["no.such.module", "ModuleNotFoundError"]),
        ("tests.agents.test_base:nobody", ["nobody"]),
        (":", ["can't be imported"]),
        ("tests.agents.test_base:__name__", ["nothing to call"]),
        ("tests.agents.test_base:broken", ["no weights here"]),
        ("builtins:dict", ["{}", "no agents.Agent"]),
        ("greedy:more", ["can't be made"]),
    ],
)
def test_what_is_no_agent(spec: str, words: list[str]) -> None:
    with pytest.raises(AgentError) as refused:
        agents.make(spec)
    assert [word for word in words if word not in str(refused.value)] == []


def test_a_registered_name_takes_an_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_FACTORIES", dict(base._FACTORIES))
    agents.register("stubborn", Stubborn)
    made = agents.make("stubborn:as a mule")
    assert isinstance(made, Stubborn) and made.argument == "as a mule"
    for name in ("stubborn", "", "a:b"):
        with pytest.raises(AgentError):
            agents.register(name, Stubborn)


def test_errors_survive_pickling() -> None:
    error = AgentError("it failed", "greedy", 7, {"turn": 1})
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "agent 'greedy': it failed (deal of seed 7); position: {\"turn\": 1}"


def test_a_kernel_agent_out_of_turn() -> None:
    view = Game(Rules.fisca(num_players=2), seed=1).view(0)
    other = Game(Rules.fisca(num_players=2), seed=1).view(1)
    with pytest.raises(AgentError, match="not on move"):
        agents.make("greedy").act(other if view.on_move else view, np.random.default_rng(0))
