"""Means and shares of groups, with 95% intervals by bootstrap over whole hands or deals.

What happens within a hand hangs together, so hands are drawn anew and not the moments in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from experiments.league.statistics import Bootstrap, Floats, ratio

__all__ = ["Estimates", "means_by", "ratios_by", "shares_of"]

_QUANTILES = (0.025, 0.975)


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates of groups: `value`, from `low` to `high` with 95%; `count`, how many cases each is made of.

    A group without a case is not a number.
    """

    value: Floats
    low: Floats
    high: Floats
    count: NDArray[np.int64]

    @property
    def errors(self) -> Floats:
        """How far the interval goes down and up, as `Axes.errorbar` takes it: float64[2, groups]."""
        return np.stack([self.value - self.low, self.high - self.value]).clip(min=0)

    def text(self, group: int = 0, form: str = ".1f", scale: float = 1.0) -> str:
        """A value with its interval in words: ``41.2 (39.8 to 42.6)``."""
        value, low, high = (scale * float(each[group]) for each in (self.value, self.low, self.high))
        return f"{value:{form}} ({low:{form}} to {high:{form}})"


def means_by(groups: Any, values: Any, units: Any, num_groups: int | None = None, seed: int = 0) -> Estimates:
    """The mean of the values in every group.

    Args:
        groups: of every case, from 0; -1 leaves it out. One number puts all into it.
        values: of every case; booleans give shares.
        units: what is drawn anew: the hand, or the deal, of every case.
        num_groups: as many as there are if left out.
        seed: of the bootstrap.
    """
    return ratios_by(groups, values, np.ones(len(np.asarray(units))), units, num_groups, seed)


def ratios_by(
    groups: Any, parts: Any, wholes: Any, units: Any, num_groups: int | None = None, seed: int = 0
) -> Estimates:
    """The sum of the parts over the sum of the wholes in every group; the rest is as in `means_by`."""
    units = np.unique(np.asarray(units), return_inverse=True)[1]
    groups = np.broadcast_to(np.asarray(groups, np.int64), units.shape)
    if num_groups is None:
        num_groups = int(groups.max(initial=-1)) + 1
    shape, there = (num_groups, int(units.max(initial=-1)) + 1), groups >= 0
    places = groups[there] * shape[1] + units[there]
    sums = np.stack([_sums(each, there, places, shape) for each in (parts, wholes)])
    value = ratio(*sums.sum(axis=-1))
    drawn = ratio(*np.moveaxis(Bootstrap(shape[1], seed).sums(sums), 1, 0))
    low, high = _middle(drawn)
    return Estimates(value, low, high, np.bincount(groups[there], minlength=num_groups))


def shares_of(hits: Sequence[int], totals: Sequence[int]) -> Estimates:
    """Shares of independent cases, with Wilson's intervals: they also say something where there is no hit at all."""
    ends = [binomtest(int(k), int(n)).proportion_ci(method="wilson") for k, n in zip(hits, totals, strict=True)]
    counts = np.array(totals, np.int64)
    low, high = np.array([[end.low, end.high] for end in ends]).reshape(-1, 2).T
    return Estimates(ratio(np.array(hits), counts), low, high, counts)


def _sums(values: Any, there: NDArray[np.bool_], places: NDArray[np.int64], shape: tuple[int, int]) -> Floats:
    """The sums by group and unit."""
    chosen = np.broadcast_to(np.asarray(values, np.float64), there.shape)[there]
    return np.bincount(places, chosen, shape[0] * shape[1]).astype(np.float64).reshape(shape)


def _middle(drawn: Floats) -> tuple[Floats, Floats]:
    """The middle 95% of resamples (resamples, groups), those left out in which a group has no case."""
    empty = np.isnan(drawn).all(axis=0)
    quantiles = np.nanquantile(np.where(empty, 0.0, drawn), _QUANTILES, axis=0)
    low, high = np.where(empty, np.nan, quantiles)
    return low, high
