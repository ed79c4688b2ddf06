"""From sums by deal to a table of agents: shares and means, with 95% intervals by bootstrap over deals.

The hands of one deal are not independent (the same cards, all seats), deals are: so whole deals are drawn anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

from experiments.league.blocks import FIELDS, Sums

_RESAMPLES = 2000
_CONFIDENCE = 0.95

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class AgentRow:
    """What the table says of one agent. An interval is None where fewer than two deals were played."""

    name: str
    hands: int
    hands_won: int
    win_share: float
    win_share_ci: Interval | None
    mean_points: float
    mean_points_ci: Interval | None
    matches: int
    matches_won: int
    unfinished_matches: int
    in_hand: int
    opened_share: float
    mean_laps: float
    abandoned: int


def table_of(names: Sequence[str], sums: Sums, seed: int) -> list[AgentRow]:
    """One row an agent, in their order; ``seed`` is the bootstrap's. No rows where no deal was played."""
    if sums.shape[-1] == 0:
        return []
    by_agent = sums.sum(axis=1)
    return [_row(name, dict(zip(FIELDS, by_agent[:, at], strict=True)), seed) for at, name in enumerate(names)]


def _row(name: str, deals: dict[str, NDArray[np.int64]], seed: int) -> AgentRow:
    totals = {field: int(values.sum()) for field, values in deals.items()}
    hands = totals["hands"]
    return AgentRow(
        name=name,
        hands=hands,
        hands_won=totals["won"],
        win_share=totals["won"] / hands,
        win_share_ci=ratio_interval(deals["won"], deals["hands"], seed),
        mean_points=totals["points"] / hands,
        mean_points_ci=ratio_interval(deals["points"], deals["hands"], seed),
        matches=totals["matches"],
        matches_won=totals["matches_won"],
        unfinished_matches=totals["unfinished"],
        in_hand=totals["in_hand"],
        opened_share=totals["opened"] / hands,
        mean_laps=totals["laps"] / hands,
        abandoned=totals["abandoned"],
    )


def ratio_interval(parts: NDArray[np.int64], wholes: NDArray[np.int64], seed: int) -> Interval | None:
    """95% interval of ``parts.sum() / wholes.sum()`` by bootstrap over their places; None for fewer than two."""
    if len(parts) < 2:
        return None
    found: Any = bootstrap(
        (parts, wholes),
        _ratio,
        paired=True,
        vectorized=True,
        n_resamples=_RESAMPLES,
        batch=max(1, 4_000_000 // len(parts)),  # bounds the memory, not the result
        confidence_level=_CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def _ratio(parts: NDArray[Any], wholes: NDArray[Any], axis: int = -1) -> NDArray[Any]:
    ratio: NDArray[Any] = parts.sum(axis=axis) / wholes.sum(axis=axis)
    return ratio
