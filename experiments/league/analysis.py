"""What results say: of each agent, of each two, of each line-up, with 95% intervals by bootstrap over deals.

A line-up that played fewer deals than others counts as much as they do, so that an agent's figures do not depend on
whom it met most often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.league.blocks import FIELDS, SEAT_FIELDS
from experiments.league.ratings import ratings
from experiments.league.results import Played, Results, played
from experiments.league.statistics import Bootstrap, Floats, Interval, holm, interval, paired_p_value, ratio
from scala40_env import Rules


@dataclass(frozen=True, slots=True)
class AgentRow:
    """Of one agent. An interval is None where fewer than two deals were played."""

    name: str
    hands: int
    hands_won: int
    win_share: float
    win_share_ci: Interval | None
    mean_points: float
    mean_points_ci: Interval | None
    rating: float
    rating_ci: Interval | None
    matches: int
    matches_won: int
    unfinished_matches: int
    in_hand: int
    opened_share: float
    mean_laps: float
    abandoned: int


@dataclass(frozen=True, slots=True)
class PairRow:
    """Of two agents, on the deals of the line-ups where both sat.

    `share` is that of `name` in the hands that one of the two won, as if both had as many seats; `lead` how many points
    a hand fewer it was charged, on average over deals; `p_value` that of a paired t test of this lead, `p_holm` the
    same corrected for all pairs.
    """

    name: str
    other: str
    deals: int
    share: float | None
    share_ci: Interval | None
    lead: float
    lead_ci: Interval | None
    p_value: float | None
    p_holm: float | None


@dataclass(frozen=True, slots=True)
class LineupRow:
    """Of an agent in a line-up. `fair_share` is what it would win of its hands if all were equally strong."""

    seats: tuple[str, ...]
    name: str
    deals: int
    hands: int
    win_share: float
    win_share_ci: Interval | None
    fair_share: float
    mean_points: float
    mean_points_ci: Interval | None


@dataclass(frozen=True)
class Analysis:
    """What results say; `seats` int64[seat fields, agents, seats] and `histograms` count by agent and value."""

    agents: tuple[AgentRow, ...]
    pairs: tuple[PairRow, ...]
    lineups: tuple[LineupRow, ...]
    seats: NDArray[np.int64]
    histograms: Mapping[str, tuple[Counter[int], ...]]
    deals: int

    @property
    def table(self) -> list[dict[str, Any]]:
        """The rows of agents as JSON takes them."""
        return [asdict(row) for row in self.agents]

    def as_json(self) -> dict[str, Any]:
        """Rows of agents, pairs and line-ups as JSON takes them."""
        return {
            "agents": self.table,
            "pairs": [asdict(row) for row in self.pairs],
            "lineups": [asdict(row) for row in self.lineups],
        }


def analyse(results: Results, seed: int = 0) -> Analysis:
    """What results say; ``seed`` is the bootstrap's. No rows where no deal was played."""
    table = played(results)
    if not table.block.deals:
        return Analysis((), (), (), table.block.by_seat.sum(axis=1), {}, 0)
    sums = _Sums(table, seed)
    return Analysis(
        agents=tuple(_agent_rows(sums, seed)),
        pairs=tuple(_pair_rows(sums, seed)),
        lineups=tuple(_lineup_rows(sums, Rules.from_dict(results.rules).team_size)),
        seats=table.block.by_seat.sum(axis=1),
        histograms={kind: _by_agent(table, kind) for kind in table.block.histograms},
        deals=table.block.deals,
    )


def leads_by_deal(results: Results, name: str, other: str) -> Floats:
    """How many points a hand fewer one agent was charged than another: float64[deals], nan where they did not meet.

    Raises `ValueError` for an agent that did not play.
    """
    table = played(results)
    a, b = table.names.index(name), table.names.index(other)
    return _leads(table, _common(table, a, b), a, b)


def _by_agent(table: Played, kind: str) -> tuple[Counter[int], ...]:
    counts: tuple[Counter[int], ...] = tuple(Counter() for _ in table.names)
    for (_, agent, value), times in table.block.histograms[kind].items():
        counts[agent][value] += times
    return counts


class _Sums:
    """Sums over deals, and those of every resample: arrays [fields, line-ups, agents], the second with resamples first.

    `weights` make line-ups equal that played unequal numbers of deals.
    """

    def __init__(self, table: Played, seed: int) -> None:
        self.table = table
        self.once = table.block.sums.sum(axis=-1)
        self.drawn = Bootstrap(table.block.deals, seed).sums(table.block.sums) if table.block.deals > 1 else None
        self.weights: Floats = table.deals_of.max() / table.deals_of

    def share(self, field: str, lineups: Any, agent: int) -> tuple[float, Interval | None]:
        """What an agent has of a field a hand, in these line-ups, with its interval."""
        known = self.drawn is not None
        return float(self._share(self.once, field, lineups, agent)), (
            interval(self._share(self.drawn, field, lineups, agent)) if known else None
        )

    def between(self, lineups: Any, agent: int, other: int) -> tuple[float | None, Interval | None]:
        """The share of the hands won by one of two agents, with its interval; None where neither won one."""
        once = self._between(self.once, lineups, agent, other)
        drawn = None if self.drawn is None else interval(self._between(self.drawn, lineups, agent, other))
        return (float(once) if np.isfinite(once) else None), drawn

    def _between(self, sums: Floats, lineups: Any, agent: int, other: int) -> Any:
        wins, losses = (self._share(sums, "won", lineups, who) for who in (agent, other))
        return ratio(wins, wins + losses)

    def _share(self, sums: Any, field: str, lineups: Any, agent: int) -> Any:
        weights = self.weights[lineups]
        parts, wholes = (sums[..., FIELDS.index(name), lineups, agent] @ weights for name in (field, "hands"))
        return ratio(parts, wholes)


def _agent_rows(sums: _Sums, seed: int) -> list[AgentRow]:
    table = sums.table
    rated = ratings(table, seed)
    rows = []
    for at, name in enumerate(table.names):
        where = [index for index, seats in enumerate(table.lineups) if at in seats]
        total = dict(zip(SEAT_FIELDS, table.block.by_seat[:, :, at].sum(axis=(1, 2)).tolist(), strict=True))
        rows.append(_agent_row(sums, name, at, where, total, rated[at]))
    return rows


def _agent_row(sums: _Sums, name: str, at: int, where: list[int], total: dict[str, int], rated: Any) -> AgentRow:
    win_share, win_share_ci = sums.share("won", where, at)
    mean_points, mean_points_ci = sums.share("points", where, at)
    return AgentRow(
        name=name,
        hands=total["hands"],
        hands_won=total["won"],
        win_share=win_share,
        win_share_ci=win_share_ci,
        mean_points=mean_points,
        mean_points_ci=mean_points_ci,
        rating=rated.value,
        rating_ci=rated.ci,
        matches=total["matches"],
        matches_won=total["matches_won"],
        unfinished_matches=total["unfinished"],
        in_hand=total["closed_in_hand"],
        opened_share=total["opened"] / total["hands"],
        mean_laps=total["laps"] / total["hands"],
        abandoned=total["abandoned"],
    )


def _pair_rows(sums: _Sums, seed: int) -> list[PairRow]:
    pairs = []
    for a, b in combinations(range(len(sums.table.names)), 2):
        where = _common(sums.table, a, b)
        if where:
            pairs.append((a, b, where, _leads(sums.table, where, a, b)))
    tested = [paired_p_value(leads[np.isfinite(leads)]) for *_, leads in pairs]
    return [
        _pair_row(sums, pair, p_value, corrected, seed)
        for pair, p_value, corrected in zip(pairs, tested, holm(tested), strict=True)
    ]


def _common(table: Played, a: int, b: int) -> list[int]:
    """The line-ups in which both sit."""
    return [at for at, seats in enumerate(table.lineups) if a in seats and b in seats]


def _leads(table: Played, where: list[int], a: int, b: int) -> Floats:
    """How many points a hand fewer ``a`` was charged than ``b``, by deal; not a number where they did not meet."""
    points, hands = (table.block.sums[FIELDS.index(field), where] for field in ("points", "hands"))
    lead = ratio(points[:, b], hands[:, b]) - ratio(points[:, a], hands[:, a])
    met = np.isfinite(lead)
    found: Floats = ratio(np.where(met, lead, 0.0).sum(axis=0), met.sum(axis=0))
    return found


def _pair_row(sums: _Sums, pair: Any, p_value: float | None, corrected: float | None, seed: int) -> PairRow:
    a, b, where, leads = pair
    share, share_ci = sums.between(where, a, b)
    known = leads[np.isfinite(leads)]
    means = Bootstrap(len(known), seed).sums(known) / len(known) if len(known) > 1 else None
    return PairRow(
        name=sums.table.names[a],
        other=sums.table.names[b],
        deals=len(known),
        share=share,
        share_ci=share_ci,
        lead=float(known.mean()),
        lead_ci=None if means is None else interval(means),
        p_value=p_value,
        p_holm=corrected,
    )


def _lineup_rows(sums: _Sums, team_size: int) -> list[LineupRow]:
    table = sums.table
    rows = []
    for at, seats in enumerate(table.lineups):
        for agent in sorted(set(seats)):
            win_share, win_share_ci = sums.share("won", [at], agent)
            mean_points, mean_points_ci = sums.share("points", [at], agent)
            rows.append(
                LineupRow(
                    seats=tuple(table.names[who] for who in seats),
                    name=table.names[agent],
                    deals=int(table.deals_of[at]),
                    hands=int(sums.once[FIELDS.index("hands"), at, agent]),
                    win_share=win_share,
                    win_share_ci=win_share_ci,
                    fair_share=team_size / len(seats),
                    mean_points=mean_points,
                    mean_points_ci=mean_points_ci,
                )
            )
    return rows
