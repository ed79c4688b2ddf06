"""`TrainingGames`: many games at once in which a learner sits on some of the seats, and others on the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import KernelAgent
from agents.kernels.choice import NUM_WEIGHTS
from agents.kernels.foresight import foresee
from agents.kernels.selfplay import TABLE, begin_tables, step_tables
from experiments.training.teacher import unpacked
from scala40_env import Rules
from scala40_env.kernels.observation import GRID
from scala40_env.kernels.rewards import REWARD_NAMES
from scala40_env.kernels.state import GAME
from scala40_env.observation import schema_of
from scala40_env.rules.moves import num_actions
from scala40_env.rules.reading import new_games

__all__ = ["LEARNER", "Lineups", "TrainingGames", "hidden_size"]

LEARNER = 0
"""The player's row that learns; the others follow."""
_OUTSIDE = -1


def hidden_size(rules: Rules) -> int:
    """Numbers of what the other seats hold: two planes each, then their jokers."""
    return (rules.num_players - 1) * (2 * GRID + 1)


@dataclass(frozen=True, eq=False)
class Lineups:
    """Who may sit together, and how often.

    Attributes: `players`, row 0 the learner and row ``k`` the agent ``players[k - 1]``, None for one that is asked
    outside; `seats` int64[line-ups, seats], rows of players, rotated by lot; `odds` float64[line-ups].
    """

    players: tuple[KernelAgent | None, ...]
    seats: NDArray[np.int64]
    odds: NDArray[np.float64]

    def kernels(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers and weights of all players' kernels, as `step_tables` takes them."""
        kinds = np.full(1 + len(self.players), _OUTSIDE, np.int64)
        weights = np.zeros((1 + len(self.players), NUM_WEIGHTS), np.int64)
        for row, agent in enumerate(self.players, 1):
            if agent is not None:
                kinds[row], weights[row] = agent.kernel_id, agent.weights
        return kinds, weights


class TrainingGames:
    """Hands without end. After `begin` and every `step` each game is at a decision with two legal actions or more.

    Args:
        rules: of the hands.
        num: how many games.
        seed: decides all deals and line-ups, and the chance of scripted seats.
        reward: a name in `scala40_env.rewards.REWARDS`.
        with_hidden: write what the others hold too.

    Attributes: `observations` int8[num, size]; `masks`, packed, uint8[num, bytes]; `hidden` int8[num, width];
    `tables`, dtype `agents.kernels.selfplay.TABLE`. All are overwritten by the next step.
    """

    def __init__(self, rules: Rules, num: int, seed: int, reward: str, with_hidden: bool = False) -> None:
        self.rules = rules.replace(match="single_hand", num_hands=None)
        self.num, self.actions = num, num_actions(rules)
        self._schema, self._seed, self._pays = schema_of(rules), np.uint64(seed), REWARD_NAMES.index(reward)
        self.games = new_games(self.rules, 0).repeat(num)
        self.tables = np.zeros(num, TABLE)
        self._views = np.zeros(1, GAME)
        self.observations = self._schema.empty(num)
        self.masks = np.zeros((num, -(-self.actions // 8)), np.uint8)
        self.hidden = np.zeros((num, hidden_size(rules) if with_hidden else 0), np.int8)

    def begin(self, lineups: Lineups) -> None:
        """Deal the first hands."""
        begin_tables(self.games, self.tables, self._seed, lineups.seats, lineups.odds)
        self.step(np.full(self.num, -1, np.int64), lineups)

    def step(self, actions: NDArray[np.int64], lineups: Lineups) -> None:
        """Play an action in every game, and on to the next decisions; hands that begin take these line-ups."""
        step_tables(
            *(self.games, self.tables, self._views, actions, self._seed, lineups.seats, lineups.odds),
            *(*lineups.kernels(), self._pays, self._schema.layout, self.observations, self.masks, self.hidden),
        )

    def foresee(
        self, which: NDArray[np.int64], candidates: NDArray[np.int64], lineups: Lineups, guide: KernelAgent
    ) -> NDArray[np.float32]:
        """What hands bring to who is asked, by what it does now, if then ``guide`` plays on for all asked outside.

        The cards that lie hidden are those that there are: who learns must not see it, but may learn from it.

        Args:
            which: of the games, int64[n].
            candidates: legal actions, int64[n, most]; -1: none.
            lineups: of the hands that are played.
            guide: who plays on.

        Returns float32[n, most], the rewards of the hands; 0 where there is no candidate.
        """
        kinds, weights = lineups.kernels()
        outside = kinds < 0
        kinds[outside], weights[outside] = guide.kernel_id, guide.weights
        outcomes: NDArray[np.float32] = np.zeros(candidates.shape, np.float32)
        foresee(self.games, self.tables, which, candidates, kinds, weights, self._pays, outcomes)
        return outcomes

    @property
    def seats(self) -> NDArray[np.int64]:
        """Who is asked in each game."""
        return self.tables["seat"].astype(np.int64)

    @property
    def asked(self) -> NDArray[np.int64]:
        """The player (a row of the line-ups) that is asked in each game."""
        return self.tables["seating"][np.arange(self.num), self.seats].astype(np.int64)

    def unpacked_masks(self) -> NDArray[np.uint8]:
        """The masks as uint8[num, actions]."""
        return unpacked(self.masks, self.actions)

    _KEPT = ("games", "tables", "observations", "masks", "hidden")

    def state(self) -> dict[str, NDArray[np.uint8]]:
        """All that has to be kept to go on later, as bytes."""
        seed: NDArray[np.uint64] = np.array([self._seed], np.uint64)
        return {name: _bytes_of(getattr(self, name)) for name in self._KEPT} | {"seed": _bytes_of(seed)}

    def restore(self, state: dict[str, NDArray[np.uint8]]) -> None:
        """Go on from a `state`."""
        self._seed = state["seed"].view(np.uint64)[0]
        for name in self._KEPT:
            array = getattr(self, name)
            array[...] = state[name].view(array.dtype).reshape(array.shape)


def _bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    flat: NDArray[np.uint8] = np.ascontiguousarray(array).reshape(-1).view(np.uint8).copy()
    return flat


def duel_lineups(rules: Rules, players: Sequence[KernelAgent | None], shares: Sequence[float]) -> Lineups:
    """The learner against itself and against each of the players.

    Where there are more than two seats, it meets a player once alone among its copies and once on every other seat.

    Args:
        rules: for the number of seats.
        players: the others.
        shares: of the hands that go to self-play, and to each of the players; at least one is above 0.
    """
    n = rules.num_players
    rows, odds = [[LEARNER] * n], [float(shares[0])]
    for row, share in enumerate(shares[1:], 1):
        tables = [[LEARNER] + [row] * (n - 1)]
        if n > 2:
            tables.append([LEARNER if seat % 2 == 0 else row for seat in range(n)])
        rows += tables
        odds += [share / len(tables)] * len(tables)
    return Lineups(tuple(players), np.array(rows, np.int64), np.array(odds) / sum(odds))
