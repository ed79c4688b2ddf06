"""What an agent is, and the list of those that have a name.

An agent sees a `View`, never a game: what is hidden from its seat is not in there.
"""

from __future__ import annotations

import json
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.rules.errors import shown, suggestion

if TYPE_CHECKING:
    from scala40_env.rules.config import Rules
    from scala40_env.rules.view import View


class AgentError(ValueError):
    """An agent that there is not, that can't play these rules, or that failed at the table.

    Attributes: `reason` in words; for a failure at the table also `agent` (its name), `seed` of the deal and the
    `position` (as `Game.from_position` takes it), otherwise None.
    """

    def __init__(
        self,
        reason: str,
        agent: str | None = None,
        seed: int | None = None,
        position: Mapping[str, Any] | None = None,
    ) -> None:
        # All go to `args`, so that the error survives pickling between processes.
        super().__init__(reason, agent, seed, position)
        self.reason = reason
        self.agent = agent
        self.seed = seed
        self.position = position

    def __str__(self) -> str:
        who = "" if self.agent is None else f"agent {shown(self.agent)}: "
        deal = "" if self.seed is None else f" (deal of seed {self.seed})"
        where = "" if self.position is None else f"; position: {json.dumps(self.position, ensure_ascii=False)}"
        return f"{who}{self.reason}{deal}{where}"


class Agent(ABC):
    """A player. `name` is what tables and records call it.

    `batch_games` is how many games at once suit it: a tournament plays about so many between two savings. An agent
    that gains by large batches raises it, one that thinks for seconds lowers it.

    `mass_play` says whether it is quick enough for tens of thousands of hands: a ladder gives such agents more of them.
    """

    name: str
    batch_games: int = 8
    mass_play: bool = False

    @abstractmethod
    def act(self, view: View, rng: np.random.Generator) -> int:
        """The action to play: one of `view.legal_actions()`. All chance has to come from `rng`."""

    def act_batch(self, views: Sequence[View], rngs: Sequence[np.random.Generator]) -> Sequence[int]:
        """The actions for many views at once, for agents that are quicker that way.

        Every view brings the generator of its own game: with one for all, a game would depend on those beside it.
        """
        return [self.act(view, rng) for view, rng in zip(views, rngs, strict=True)]

    def check_rules(self, rules: Rules) -> None:
        """Raise `AgentError` if this agent can't play by these rules. Asked before the first deal."""
        return None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class KernelAgent(Agent):
    """An agent that is a kernel: the arena plays it without coming back to Python.

    Args:
        name: what tables and records call it.
        kernel_id: its number in `agents.kernels.choice`.
        weights: its weights, if it has any.
    """

    batch_games = 1024
    mass_play = True

    def __init__(self, name: str, kernel_id: int, weights: Sequence[int] = ()) -> None:
        from agents.kernels.choice import NUM_WEIGHTS  # not before an agent is made: names alone compile no kernel

        self.name = name
        self.kernel_id = kernel_id
        self.weights: NDArray[np.int64] = np.zeros(NUM_WEIGHTS, np.int64)
        self.weights[: len(weights)] = weights

    def act(self, view: View, rng: np.random.Generator) -> int:
        """Let the kernel choose on the record of the view. Raises `AgentError` if the seat has nothing to choose."""
        from agents.kernels.choice import choose_in_view

        if not view.on_move:
            raise AgentError(f"seat {view.seat} is not on move", self.name)
        key: Any = rng.integers(0, 2**64, dtype=np.uint64)
        return int(choose_in_view(self.kernel_id, view.state, 0, self.weights, key, 0))


# ---------------------------------------------------------------------------------------------------------------------
# Names

Factory = Callable[..., Agent]


def _random() -> Agent:
    from agents.kernels.choice import RANDOM

    return KernelAgent("random", RANDOM)


def _greedy() -> Agent:
    from agents.kernels.choice import GREEDY
    from agents.kernels.greedy import WEIGHTS

    return KernelAgent("greedy", GREEDY, WEIGHTS)


def _expert(path: str | None = None) -> Agent:
    from agents.expert import make_expert

    return make_expert(path)


def _search(options: str = "") -> Agent:
    from agents.search import search_agent

    return search_agent(options)


def _ppo(text: str | None = None) -> Agent:
    try:
        from agents.ppo.agent import make_ppo
    except ImportError as error:
        raise AgentError(f"ppo needs PyTorch ({error}): pip install 'scala40-env[train]'") from error
    return make_ppo(text)


_FACTORIES: dict[str, Factory] = {
    "random": _random,
    "greedy": _greedy,
    "expert": _expert,
    "search": _search,
    "ppo": _ppo,
}


def register(name: str, factory: Factory) -> None:
    """Let `make` know an agent by a name: ``name`` calls ``factory()``, ``name:text`` calls ``factory(text)``.

    Raises `AgentError` for a name that is taken, or that could not be told from ``module:factory``.
    """
    if not name or ":" in name:
        raise AgentError(f"{shown(name)} can't be the name of an agent: it is empty or holds a colon")
    if name in _FACTORIES:
        raise AgentError(f"there is an agent {shown(name)} already")
    _FACTORIES[name] = factory


def names() -> tuple[str, ...]:
    """The names that `make` knows, sorted."""
    return tuple(sorted(_FACTORIES))


def make(spec: str) -> Agent:
    """The agent of a name, of ``name:argument``, or of ``module:factory`` for one of your own.

    Raises `AgentError`, whatever goes wrong.
    """
    head, colon, rest = spec.partition(":")
    if head in _FACTORIES:
        return _made(spec, _FACTORIES[head], (rest,) if colon else ())
    if not colon:
        close = suggestion(spec, names())
        known = ", ".join(names())
        raise AgentError(f"there is no agent {shown(spec)}{close}; there are {known}, and module:factory for your own")
    return _made(spec, _imported(spec, head, rest), ())


def _imported(spec: str, module: str, factory: str) -> Factory:
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)  # a program started as a script does not look where its user is
    try:
        found = getattr(import_module(module), factory)
    except Exception as error:  # importing runs code of others, which may raise anything
        raise AgentError(f"agent {shown(spec)} can't be imported: {_named(error)}") from error
    if not callable(found):
        raise AgentError(f"agent {shown(spec)} can't be made: {shown(factory)} is nothing to call")
    made: Factory = found
    return made


def _made(spec: str, factory: Factory, arguments: tuple[str, ...]) -> Agent:
    try:
        agent = factory(*arguments)
    except AgentError:
        raise
    except Exception as error:
        raise AgentError(f"agent {shown(spec)} can't be made: {_named(error)}") from error
    if not isinstance(agent, Agent):
        raise AgentError(f"agent {shown(spec)} can't be made: {shown(agent)} is no agents.Agent")
    return agent


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
