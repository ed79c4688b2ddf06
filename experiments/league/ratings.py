"""Ratings: openskill's Plackett-Luce model over the deals.

A game of the rating is one deal that one line-up played from all its seats: its agents are ranked by what they were
charged a hand (in matches first by those that they won), and ties stay ties. So luck with cards and seats is out before
anything is rated, as in duplicate bridge.

The model is updated game by game, so its outcome depends on their order. Agents do not change, so there is no order
that is right: the deals are drawn anew with replacement and shuffled, a number of times, each time from the start, and
the rating is the mean of these runs. How far they lie apart is its uncertainty: it holds the chance of the deals and
that of the order. All of it follows from the seed. The model's own sigma is left out: it takes the order as given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from openskill.models import PlackettLuce
from scipy.stats import rankdata

from experiments.league.blocks import FIELDS
from experiments.league.results import Played
from experiments.league.statistics import Interval, ratio

#: Runs, and games of a run at most: more would take long and change little.
_RUNS, _MOST_GAMES = 24, 4000


@dataclass(frozen=True, slots=True)
class Rating:
    """On openskill's scale: all begin at 25; the interval, 95%, is None where fewer than two deals were played."""

    value: float
    ci: Interval | None


def ratings(played: Played, seed: int) -> list[Rating]:
    """The ratings of the agents, in their order; ``seed`` is that of the runs. None (an empty list) without a deal."""
    deals = played.block.deals
    if not deals:
        return []
    games = [_Games(played, at) for at in range(len(played.lineups))]
    rng = np.random.default_rng(seed)
    runs = np.array([_run(games, len(played.names), _drawn(games, deals, rng)) for _ in range(_RUNS)])
    means, spreads = runs.mean(axis=0), 1.96 * runs.std(axis=0, ddof=1)
    known = deals > 1
    return [
        Rating(float(mean), (float(mean - spread), float(mean + spread)) if known else None)
        for mean, spread in zip(means, spreads, strict=True)
    ]


class _Games:
    """The deals of one line-up: who sat there, and their ranks, int[agents, deals]; `there`, was the deal played."""

    def __init__(self, played: Played, at: int) -> None:
        self.agents = sorted(set(played.lineups[at]))
        sums = dict(zip(FIELDS, played.block.sums[:, at, self.agents], strict=True))
        self.there: NDArray[np.bool_] = sums["hands"].sum(axis=0) > 0
        charged = ratio(sums["points"], sums["hands"])
        won = ratio(sums["matches_won"], sums["matches"]) if sums["matches"].any() else np.zeros_like(charged)
        worse = rankdata(np.nan_to_num(charged), axis=0, method="dense") - np.nan_to_num(won) * (len(played.names) + 1)
        self.ranks: NDArray[np.int64] = rankdata(worse, axis=0, method="min").astype(np.int64)


def _drawn(games: list[_Games], deals: int, rng: np.random.Generator) -> Iterator[tuple[_Games, int]]:
    """Games of deals drawn anew, shuffled."""
    drawn = rng.integers(0, deals, min(deals, max(1, _MOST_GAMES // len(games))))
    pairs = np.stack([np.repeat(np.arange(len(games)), len(drawn)), np.tile(drawn, len(games))], axis=1)
    for at, deal in rng.permutation(pairs).tolist():
        if games[at].there[deal]:
            yield games[at], deal


def _run(games: list[_Games], agents: int, drawn: Iterator[tuple[_Games, int]]) -> list[float]:
    """The ratings after one run through games."""
    model = PlackettLuce(tau=0.0)  # tau is for players who change
    state: list[Any] = [model.rating() for _ in range(agents)]
    for table, deal in drawn:
        rated = model.rate([[state[agent]] for agent in table.agents], ranks=table.ranks[:, deal].tolist())
        for agent, (new,) in zip(table.agents, rated, strict=True):
            state[agent] = new
    return [player.mu for player in state]
