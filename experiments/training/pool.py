"""The pool: whom the learner meets, and how often. Those that are harder to beat are met more often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import agents
from agents import AgentError, KernelAgent
from agents.ppo.network import CardNetwork
from experiments.training.games import Lineups, duel_lineups
from scala40_env import Rules

__all__ = ["Pool", "scripted_player"]

#: What the results against somebody are remembered by: the weight of one more hand.
_MEMORY = 0.002
#: A reward by which somebody is harder makes it e times as frequent, at most so many times.
_STEEPNESS, _MOST = 0.1, 4.0


class Pool:
    """The learner itself, scripted agents, and past selves.

    Args:
        rules: of the hands.
        scripted: names of agents that are kernels. Raises `AgentError` for one that is not.
        frozen: places for past selves.
        self_share: share of the hands in which the learner has all seats.
        reward_scale: what rewards were multiplied by.
    """

    def __init__(
        self, rules: Rules, scripted: Sequence[str], frozen: int, self_share: float, reward_scale: float
    ) -> None:
        self.names = ("itself", *scripted, *(f"past {k + 1}" for k in range(frozen)))
        self._rules, self._self_share, self._scale = rules, self_share, reward_scale
        self._scripted = [scripted_player(name, rules) for name in scripted]
        self._frozen: list[CardNetwork | None] = [None] * frozen
        self._times_frozen = 0
        self.results = np.zeros(len(self.names))
        #: Whom the learner meets in each line-up: the one other player in it, or itself.
        self._opponent_of: list[int] = self.lineups().seats.max(axis=1).tolist()

    def freeze(self, network: CardNetwork) -> None:
        """Take in the network as it is now, in place of the oldest past self."""
        if not self._frozen:
            return
        self._put(self._times_frozen % len(self._frozen), network.state_dict(), network)
        self._times_frozen += 1

    def _put(self, place: int, weights: Any, like: CardNetwork) -> None:
        past = CardNetwork(like.layout, like.num_actions, like.size).to(next(like.parameters()).device)
        past.load_state_dict(weights)
        self._frozen[place] = past.eval()

    def frozen(self) -> dict[int, CardNetwork]:
        """The past selves by their row among the players."""
        first = 1 + len(self._scripted)
        return {first + k: each for k, each in enumerate(self._frozen) if each is not None}

    def shares(self) -> list[float]:
        """The share of the hands that goes to self-play and to each of the others."""
        there = [True] * len(self._scripted) + [each is not None for each in self._frozen]
        hardness = np.exp(-self.results[1:] / self._scale / _STEEPNESS).clip(1 / _MOST, _MOST) * there
        if not hardness.any():
            return [1.0, *np.zeros(len(there)).tolist()]
        return [self._self_share, *(hardness / hardness.sum() * (1 - self._self_share)).tolist()]

    def lineups(self) -> Lineups:
        """The line-ups for the hands that begin now."""
        players: list[KernelAgent | None] = [*self._scripted, *(None for _ in self._frozen)]
        return duel_lineups(self._rules, players, self.shares())

    def note(self, ended: Sequence[tuple[int, float]]) -> None:
        """Take in how hands ended: their line-up, and what they brought to the learner."""
        for lineup, reward in ended:
            player = self._opponent_of[lineup]
            self.results[player] += _MEMORY * (reward - self.results[player])

    def state(self) -> dict[str, Any]:
        """All that has to be kept to go on later."""
        return {
            "results": self.results.tolist(),
            "times_frozen": self._times_frozen,
            "frozen": [None if each is None else each.state_dict() for each in self._frozen],
        }

    def restore(self, state: dict[str, Any], like: CardNetwork) -> None:
        """Go on from a `state`; past selves are of the kind of ``like``."""
        self.results = np.array(state["results"])
        self._times_frozen = state["times_frozen"]
        for place, weights in enumerate(state["frozen"]):
            if weights is not None:
                self._put(place, weights, like)


def scripted_player(name: str, rules: Rules) -> KernelAgent:
    """The scripted agent of this name; `AgentError` if it is none, or can't play by these rules."""
    agent = agents.make(name)
    agent.check_rules(rules)
    if not isinstance(agent, KernelAgent):
        raise AgentError("is no kernel, and the pool takes those only: they play without coming back to Python", name)
    return agent
