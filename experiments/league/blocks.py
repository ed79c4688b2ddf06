"""Playing blocks of deals: what every agent did, by deal and line-up, and the records of the matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import agents
from agents import Agent, AgentError
from agents.arena import Arena, HandsEnded
from experiments.league.lineups import Lineup
from scala40_env import Rules
from scala40_env.kernels.state import CLOSED_IN_HAND, CLOSED_NORMAL, NONE
from scala40_env.rules.record import HandLog, record_from_log

#: What is summed by deal, for each agent over the seats that it had. Of hands: how many it played, those closed by its
#: side, the points charged. Of matches: how many, and those won.
FIELDS = ("hands", "won", "points", "matches", "matches_won")

#: What is summed by seat instead. Beside those: hands that it closed itself, in either way; those in which it opened;
#: the laps that they lasted; those abandoned; matches that reached the cap of hands.
SEAT_FIELDS = (*FIELDS, "closed_normal", "closed_in_hand", "opened", "laps", "abandoned", "unfinished")

#: What is counted by value: points charged in a hand; the laps of opening and of closing it, 0 where there was none.
HISTOGRAMS = ("points", "opening_lap", "closing_lap")

#: A match of more hands is left unfinished.
MOST_HANDS = 1000

Sums = NDArray[np.int64]
"""Shape (fields, line-ups, agents, deals)."""
SeatSums = NDArray[np.int64]
"""Shape (seat fields, line-ups, agents, seats)."""
Histogram = Counter[tuple[int, int, int]]
"""How many hands there were, by line-up, agent and value."""


class DealError(ValueError):
    """Deals that could not be played: `reason` says which agent failed and how; they are `count` from `deal` on."""

    def __init__(self, reason: str, deal: int, count: int = 1) -> None:
        super().__init__(reason, deal, count)
        self.reason = reason
        self.deal = deal
        self.count = count

    def __str__(self) -> str:
        deals = f"deal {self.deal}" if self.count == 1 else f"deals {self.deal} to {self.deal + self.count - 1}"
        return f"{deals}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Block:
    """Deals as they were played: the numbers of each agent, and the `records`, one line of JSON a match."""

    sums: Sums
    by_seat: SeatSums
    histograms: Mapping[str, Histogram]
    records: tuple[str, ...] = ()

    @classmethod
    def empty(cls, lineups: int, agents: int, seats: int, deals: int = 0) -> Block:
        """A block of nothing; numbers may be added to it in place."""
        return cls(
            np.zeros((len(FIELDS), lineups, agents, deals), np.int64),
            np.zeros((len(SEAT_FIELDS), lineups, agents, seats), np.int64),
            {name: Counter() for name in HISTOGRAMS},
        )

    @property
    def deals(self) -> int:
        """How many deals it has."""
        return int(self.sums.shape[-1])


def joined(blocks: Sequence[Block]) -> Block:
    """One block of several, without records: their deals one behind the other."""
    histograms: dict[str, Histogram] = {name: Counter() for name in HISTOGRAMS}
    for block in blocks:
        for name in HISTOGRAMS:
            histograms[name].update(block.histograms[name])
    by_seat: SeatSums = np.sum([block.by_seat for block in blocks], axis=0)
    return Block(np.concatenate([block.sums for block in blocks], axis=-1), by_seat, histograms)


def chance_of(seed: int, deals: range, keys: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The seeds of deals (uint64[deals]), and so many keys for each (uint64[deals, keys]).

    They depend on the seed and the deal's number alone, not on how deals make up blocks.
    """
    words = [np.random.SeedSequence(seed, spawn_key=(deal,)).generate_state(1 + keys, np.uint64) for deal in deals]
    chance = np.array(words, np.uint64)
    return chance[:, 0], chance[:, 1:]


@dataclass(frozen=True)
class Job:
    """All that decides what is played, in a form that goes to other processes.

    Attributes: the `rules` of the games; the agents by their `specs`, and the `names` that records call them; the
    `lineups` of indices into them; the `seed` of the tournament: a deal and what agents draw in it depend on that and
    the deal's number alone; `with_records`, keep them; `max_ms_per_move`, as `Arena` takes it.
    """

    rules: Rules
    specs: tuple[str, ...]
    names: tuple[str, ...]
    lineups: tuple[Lineup, ...]
    seed: int
    with_records: bool = False
    max_ms_per_move: float | None = None

    def player(self) -> BlockPlayer:
        """Who plays it. Raises `AgentError` for an agent that there is not, or that can't play the rules."""
        return BlockPlayer(self, [agents.make(spec) for spec in self.specs])


class BlockPlayer:
    """Plays the deals of a tournament, every line-up in all its seatings on each of them."""

    def __init__(self, job: Job, players: Sequence[Agent]) -> None:
        self._job = job
        self._seats = job.rules.num_players
        self._arena = Arena(job.rules, players, job.max_ms_per_move)
        self._seatings = np.array([seating for lineup in job.lineups for seating in lineup.seatings], np.int64)
        self._lineup_of = np.array([at for at, lineup in enumerate(job.lineups) for _ in lineup.seatings], np.int64)
        self.deals_of_block: int = max(1, min(agent.batch_games for agent in players) // len(self._seatings))

    def watch(self, asking: NDArray[np.uint64]) -> None:
        """Write into this array which agent of Python is thinking, as `Arena.asking` does."""
        self._arena.asking = asking

    def seeds(self, first: int, count: int) -> list[int]:
        """The seeds of the games of these deals."""
        seeds: list[int] = self._chance(range(first, first + count))[0].tolist()
        return seeds

    def play(self, first: int, count: int) -> Block:
        """Play ``count`` deals from number ``first`` on. Raises `DealError` for an agent that fails."""
        seeds, keys = self._chance(range(first, first + count))
        try:
            return self._play(seeds, keys)
        except AgentError as error:
            raise DealError(str(error), first + seeds.tolist().index(error.seed)) from error

    def _play(self, deal_seeds: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Block:
        count, per_deal = len(deal_seeds), len(self._seatings)
        seating, seeds = np.tile(self._seatings, (count, 1)), np.repeat(deal_seeds, per_deal)
        lineup, deal = np.tile(self._lineup_of, count), np.repeat(np.arange(count), per_deal)
        block = Block.empty(len(self._job.lineups), len(self._job.names), self._seats, count)
        logs: list[list[HandLog]] = [[] for _ in seating]
        for ended in self._arena.play(seating, seeds, keys, MOST_HANDS, self._job.with_records):
            at = ended.games
            self._add(block, ended, lineup[at], seating[at], deal[at])
            for i, log in zip(at.tolist(), ended.logs, strict=self._job.with_records):
                logs[i].append(log)
        records = self._records(seating, seeds, logs) if self._job.with_records else ()
        return Block(block.sums, block.by_seat, block.histograms, records)

    def _chance(self, deals: range) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """The seeds of the deals, and the agents' keys by game and seat."""
        seeds, keys = chance_of(self._job.seed, deals, self._seatings.size)
        return seeds, keys.reshape(-1, self._seats)

    def _add(
        self,
        block: Block,
        ended: HandsEnded,
        lineup: NDArray[np.int64],
        seating: NDArray[np.int64],
        deal: NDArray[np.int64],
    ) -> None:
        """Add the hands that ended to the numbers of a block."""
        for field, values in self._values(ended).items():
            if field in FIELDS:
                np.add.at(block.sums[FIELDS.index(field)], (lineup[:, None], seating, deal[:, None]), values)
            by_seat = block.by_seat[SEAT_FIELDS.index(field)]
            np.add.at(by_seat, (lineup[:, None], seating, np.arange(self._seats)), values)
        counted = {
            "points": ended.points,
            "opening_lap": ended.opening_lap,
            "closing_lap": _laps(ended)[:, None] * _closers(ended),
        }
        for name in HISTOGRAMS:
            _count(block.histograms[name], ended.played, lineup, seating, counted[name])

    def _values(self, ended: HandsEnded) -> dict[str, Any]:
        """What the hands that ended add to each field, by game and seat."""
        rules = self._job.rules
        played = ended.played.astype(np.int64)
        seats = np.arange(rules.num_players)
        sides = rules.num_players // rules.team_size
        closed = ended.winner[:, None] != NONE
        closer = _closers(ended)
        over = ended.match_over[:, None] * np.ones_like(played)
        capped = (~ended.match_over & (ended.hand_no + 1 == MOST_HANDS))[:, None] * np.ones_like(played)
        return {
            "hands": played,
            "won": played * (closed & (ended.winner[:, None] % sides == seats % sides)),
            "points": played * ended.points,
            "matches": over + capped,
            "matches_won": over * ended.champions,
            "closed_normal": closer & (ended.closing[:, None] == CLOSED_NORMAL),
            "closed_in_hand": closer & (ended.closing[:, None] == CLOSED_IN_HAND),
            "opened": played * ended.opened,
            "laps": played * _laps(ended)[:, None],
            "abandoned": played * ~closed,
            "unfinished": capped,
        }

    def _records(
        self, seating: NDArray[np.int64], seeds: NDArray[np.uint64], logs: list[list[HandLog]]
    ) -> tuple[str, ...]:
        lines = []
        for row, seed, hands in zip(seating.tolist(), seeds.tolist(), logs, strict=True):
            names = [self._job.names[agent] for agent in row]
            lines.append(record_from_log(self._job.rules, seed, names, hands).to_json())
        return tuple(lines)


def _laps(ended: HandsEnded) -> NDArray[np.int64]:
    """How many laps each hand lasted; the last one counts though it was cut short."""
    laps: NDArray[np.int64] = -(-ended.turns // ended.played.sum(axis=1))
    return laps


def _closers(ended: HandsEnded) -> NDArray[np.bool_]:
    """Which seat closed, by game and seat."""
    closers: NDArray[np.bool_] = ended.winner[:, None] == np.arange(ended.played.shape[1])
    return closers


def _count(
    histogram: Histogram,
    played: NDArray[np.bool_],
    lineup: NDArray[np.int64],
    seating: NDArray[np.int64],
    values: NDArray[np.int64],
) -> None:
    """Count the values (by game and seat) of those seats that played."""
    game, seat = np.nonzero(played)
    found = values[game, seat]
    lowest, agents_there = int(found.min(initial=0)), int(seating.max(initial=0)) + 1
    span = int(found.max(initial=0)) - lowest + 1
    codes, times = np.unique(
        (lineup[game] * agents_there + seating[game, seat]) * span + found - lowest, return_counts=True
    )
    for code, number in zip(codes.tolist(), times.tolist(), strict=True):
        place, value = divmod(code, span)
        histogram[*divmod(place, agents_there), value + lowest] += number
