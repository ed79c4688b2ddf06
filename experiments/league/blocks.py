"""Playing blocks of deals: what every agent did, summed by deal and line-up, and the records of the matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import Agent, KernelAgent
from agents.arena import Arena, HandsEnded
from experiments.league.lineups import Lineup
from scala40_env import Rules
from scala40_env.kernels.state import CLOSED_IN_HAND, NONE
from scala40_env.rules.record import HandLog, record_from_log

#: What is summed, for each agent over the seats that it had. Of hands: how many it played, those closed by its side,
#: the points charged, those that it closed in hand itself, those in which it opened, the laps that they lasted, those
#: abandoned. Of matches: how many, those won, those that reached the cap of hands.
FIELDS = ("hands", "won", "points", "in_hand", "opened", "laps", "abandoned", "matches", "matches_won", "unfinished")

#: A match of more hands is left unfinished.
MOST_HANDS = 1000

#: Games of a block. Blocks are what an interrupted run is whole in; agents of Python take much longer for a game.
_GAMES_OF_KERNELS, _GAMES_OF_PYTHON = 1024, 32

Sums = NDArray[np.int64]
"""Shape (fields, line-ups, agents, deals)."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of deals as it was played: its `sums`, and its `records`, one line of JSON a match."""

    sums: Sums
    records: tuple[str, ...]


class BlockPlayer:
    """Plays the deals of a tournament, every line-up in all its seatings on each of them.

    Args:
        rules: of the games.
        agents: who play; `names` are what records call them.
        lineups: of indices into the agents.
        seed: of the tournament. A deal and what agents draw in it depend on that and the deal's number alone.
        with_records: keep the records.
    """

    def __init__(
        self,
        rules: Rules,
        agents: Sequence[Agent],
        names: Sequence[str],
        lineups: Sequence[Lineup],
        seed: int,
        with_records: bool = False,
    ) -> None:
        self._rules = rules
        self._arena = Arena(rules, agents)
        self._names = tuple(names)
        self._seed = seed
        self._with_records = with_records
        self._num_lineups = len(lineups)
        self._seatings = np.array([seating for lineup in lineups for seating in lineup.seatings], np.int64)
        self._lineup_of = np.array([at for at, lineup in enumerate(lineups) for _ in lineup.seatings], np.int64)
        in_kernels = all(isinstance(agent, KernelAgent) for agent in agents)
        games = _GAMES_OF_KERNELS if in_kernels else _GAMES_OF_PYTHON
        self.deals_of_block: int = max(1, games // len(self._seatings))

    def play(self, first: int, count: int) -> Block:
        """Play ``count`` deals from number ``first`` on. Raises `AgentError` for an agent that fails."""
        seeds, keys = self._chance(range(first, first + count))
        per_deal = len(self._seatings)
        seating = np.tile(self._seatings, (count, 1))
        sums = np.zeros((len(FIELDS), self._num_lineups, len(self._names), count), np.int64)
        lineup, deal = np.tile(self._lineup_of, count), np.repeat(np.arange(count), per_deal)
        logs: list[list[HandLog]] = [[] for _ in seating]
        for ended in self._arena.play(seating, np.repeat(seeds, per_deal), keys, MOST_HANDS, self._with_records):
            at = ended.games
            places = lineup[at, None], seating[at], deal[at, None]
            for field, values in self._values(ended).items():
                np.add.at(sums[FIELDS.index(field)], places, values)
            for i, log in zip(at.tolist(), ended.logs, strict=self._with_records):
                logs[i].append(log)
        records = self._records(seating, np.repeat(seeds, per_deal), logs) if self._with_records else ()
        return Block(sums, records)

    def _chance(self, deals: range) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """The seeds of the deals, and the agents' keys by game and seat: independent of how deals make up blocks."""
        per_deal = self._seatings.size
        words = [
            np.random.SeedSequence(self._seed, spawn_key=(deal,)).generate_state(1 + per_deal, np.uint64)
            for deal in deals
        ]
        chance = np.array(words, np.uint64)
        return chance[:, 0], chance[:, 1:].reshape(-1, self._rules.num_players)

    def _values(self, ended: HandsEnded) -> dict[str, Any]:
        """What the hands that ended add to each field, by game and seat."""
        played = ended.played.astype(np.int64)
        seats = np.arange(self._rules.num_players)
        sides = self._rules.num_players // self._rules.team_size
        closed = ended.winner[:, None] != NONE
        in_hand = (ended.winner[:, None] == seats) & (ended.closing[:, None] == CLOSED_IN_HAND)
        laps = -(-ended.turns // played.sum(axis=1))  # the last one counts though it was cut short
        over = ended.match_over[:, None] * np.ones_like(played)
        capped = (~ended.match_over & (ended.hand_no + 1 == MOST_HANDS))[:, None] * np.ones_like(played)
        return {
            "hands": played,
            "won": played * (closed & (ended.winner[:, None] % sides == seats % sides)),
            "points": played * ended.points,
            "in_hand": in_hand,
            "opened": played * ended.opened,
            "laps": played * laps[:, None],
            "abandoned": played * ~closed,
            "matches": over + capped,
            "matches_won": over * ended.champions,
            "unfinished": capped,
        }

    def _records(
        self, seating: NDArray[np.int64], seeds: NDArray[np.uint64], logs: list[list[HandLog]]
    ) -> tuple[str, ...]:
        lines = []
        for agents, seed, hands in zip(seating.tolist(), seeds.tolist(), logs, strict=True):
            names = [self._names[agent] for agent in agents]
            lines.append(record_from_log(self._rules, seed, names, hands).to_json())
        return tuple(lines)
