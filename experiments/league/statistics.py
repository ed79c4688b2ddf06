"""Statistics over deals: 95% intervals by bootstrap, paired tests, Holm's correction.

The hands of one deal are not independent (the same cards, all seats), deals are: so whole deals are drawn anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

RESAMPLES = 2000
_QUANTILES = (0.025, 0.975)
#: Numbers that one step of the bootstrap holds at once; bounds the memory, not the result.
_AT_ONCE = 2_000_000

Interval = tuple[float, float]
Floats = NDArray[np.float64]


class Bootstrap:
    """Deals drawn anew with replacement, the same draws for every figure that is made of them.

    `scipy.stats.bootstrap` draws again for each figure; here one product of matrices gives the sums of all.

    Args:
        deals: how many there are to draw from.
        seed: of the draws.
    """

    def __init__(self, deals: int, seed: int) -> None:
        self._deals = deals
        self._seed = seed

    def sums(self, values: NDArray[Any]) -> Floats:
        """The sums over the last axis (deals), for every resample: shape (resamples, the other axes)."""
        flat = values.reshape(-1, self._deals).T.astype(np.float64)
        found = np.concatenate([counts @ flat for counts in self._counts()])
        return found.reshape(RESAMPLES, *values.shape[:-1])

    def _counts(self) -> Any:
        """How often each resample drew each deal, a batch of resamples at a time."""
        rng, n = np.random.default_rng(self._seed), self._deals
        step = max(1, _AT_ONCE // n)
        for first in range(0, RESAMPLES, step):
            rows = min(step, RESAMPLES - first)
            drawn = rng.integers(0, n, (rows, n), dtype=np.int64) + n * np.arange(rows)[:, None]
            yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def interval(values: Floats) -> Interval | None:
    """The middle 95% of what resamples gave; None if none gave anything."""
    known = values[np.isfinite(values)]
    if not len(known):
        return None
    low, high = np.quantile(known, _QUANTILES)
    return float(low), float(high)


def ratio(parts: Any, wholes: Any) -> Any:
    """``parts / wholes``, not a number where there is no whole."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.true_divide(parts, wholes)


def ratio_interval(parts: NDArray[Any], wholes: NDArray[Any], seed: int) -> Interval | None:
    """95% interval of ``parts.sum() / wholes.sum()`` by bootstrap over their places; None for fewer than two."""
    if len(parts) < 2:
        return None
    part, whole = Bootstrap(len(parts), seed).sums(np.stack([parts, wholes])).T
    return interval(ratio(part, whole))


def paired_p_value(differences: Floats) -> float | None:
    """Of a t test that paired differences are zero on average; None where their spread can't be told.

    Deals by the thousand make their mean normal, whatever the points of one deal look like.
    """
    if len(differences) < 2:
        return None
    if np.ptp(differences) == 0:
        return 1.0 if differences[0] == 0 else None
    return float(ttest_1samp(differences, 0.0).pvalue)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The p values of several tests, corrected by Holm's method: how sure all that are below a bound are together.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    ranked = sorted((value, at) for at, value in enumerate(p_values) if value is not None)
    corrected: list[float | None] = [None] * len(p_values)
    least = 0.0
    for tested, (value, at) in enumerate(ranked):
        least = max(least, min(1.0, value * (len(ranked) - tested)))
        corrected[at] = least
    return corrected
