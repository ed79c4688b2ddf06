"""Fitting the forecasts of the expert to lessons: a small net, its gradients by hand, the Adam optimizer.

Within a lesson only differences count: what all ends of a turn have in common says nothing on which one to choose.
Where turns are compared that have not come yet, as `search` does, their levels count too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.expert import PARTS, table_of
from agents.kernels.expert import FORECASTS
from agents.kernels.lessons import ENDS, OUTCOMES
from agents.kernels.outlook import CONTEXTS, FEATURES
from agents.kernels.units import HIDDEN, UNIT_SHIFT

__all__ = ["Lessons", "fit", "fit_unopened"]

Floats = NDArray[np.float32]

#: Whole numbers of a table for one unit of the net: of hidden units; of forecasts, hands won, points, unopened hands.
UNIT_SCALE, FORECAST_SCALE = 1 << 14, np.array([[1e5], [1e4], [1e4], [1e4], [1e4], [1e4], [1e4]])
#: In what is fitted points count less than hands won, so that they do not drown them, and what matters only under a
#: flat sum less than either.
_OUTCOME_SCALE = np.array([1, 30, 30, 1, 60, 1, 60], np.float32)
_BATCH, _DECAY = 512, 1e-3
#: What keeps least squares from giving giant weights to inputs that hardly differ, as part of the mean square.
_RIDGE = 1e-4
_FIRST_MOMENT, _SECOND_MOMENT, _TINY = 0.9, 0.999, 1e-8
#: Spreads of features are at least this: one that hardly ever differs must not get a giant weight.
_LEAST_SPREAD = 0.03
#: Lessons that the spreads of the features are measured on.
_MEASURED = 20_000


#: The parts of a table that make forecasts: of hidden units, of features, of contexts; and the first forecast that
#: counts only where a flat sum is charged.
_FORECAST_PARTS = ("forecasts_by_unit", "forecasts_by_feature", "forecasts_by_context")
UNOPENED = FORECASTS.index("own unopened")


@dataclass(frozen=True, slots=True)
class Lessons:
    """Lessons as `give_lessons` writes them."""

    features: NDArray[np.int16]
    contexts: NDArray[np.int8]
    outcomes: NDArray[np.int16]
    counts: NDArray[np.int8]

    @classmethod
    def room_for(cls, n: int) -> Lessons:
        """Empty ones."""
        features, outcomes = np.zeros((n, ENDS, len(FEATURES)), np.int16), np.zeros((n, ENDS, OUTCOMES), np.int16)
        return cls(features, np.zeros((n, ENDS), np.int8), outcomes, np.zeros(n, np.int8))

    @classmethod
    def joined(cls, parts: Sequence[Lessons]) -> Lessons:
        """All of these, in their order."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    @classmethod
    def load(cls, path: Path) -> Lessons:
        """Those of a file."""
        with np.load(path) as arrays:
            return cls(*(arrays[field.name] for field in fields(cls)))

    def save(self, path: Path) -> None:
        """Keep them in a file, as a whole or not at all."""
        new = path.with_suffix(".new.npz")
        np.savez(new, allow_pickle=False, **{field.name: getattr(self, field.name) for field in fields(self)})
        new.replace(path)

    def first(self, n: int) -> Lessons:
        """The first ``n``."""
        return Lessons(*(getattr(self, field.name)[:n] for field in fields(self)))


def fit(
    table: Mapping[str, Any], lessons: Lessons, passes: int, seed: int, rate: float = 1e-3, levels: float = 0.0
) -> dict[str, Any]:
    """The table fitted to lessons, beginning with its own weights and this rate of learning; its stakes stay.

    ``levels`` is the weight of how hands ended, beside that of the differences between the ends of a turn.
    """
    scaling = _Scaling.of(lessons)
    weights = scaling.floats(table)
    optimizer, rng = _Adam(weights, passes * -(-len(lessons.counts) // _BATCH), rate), np.random.default_rng(seed)
    for _ in range(passes):
        for batch in _batches(lessons, scaling, rng):
            optimizer.step(_gradients(weights, batch, levels))
    return table_of(table["stakes"], scaling.whole(weights))


def fit_unopened(table: Mapping[str, Any], lessons: Lessons) -> dict[str, Any]:
    """The table with its forecasts of unopened hands fitted to lessons, by least squares; all else stays as it is."""
    scaling = _Scaling.of(lessons)
    weights = scaling.floats(table)
    inputs = HIDDEN + len(FEATURES) + len(CONTEXTS)
    squares, products = np.zeros((inputs, inputs)), np.zeros((inputs, OUTCOMES))
    for batch in _batches(lessons, scaling, np.random.default_rng(0)):
        x = np.concatenate([_units(weights, batch), batch.features, batch.contexts], axis=2)
        x, y = _centred(x, batch.real), _centred(batch.outcomes, batch.real)
        squares += _outer(x, x)
        products += _outer(x, y)
    squares += _RIDGE * np.trace(squares) / inputs * np.eye(inputs)
    solved = np.linalg.solve(squares, products).T.astype(np.float32)
    parts = np.split(solved, [HIDDEN, HIDDEN + len(FEATURES)], axis=1)
    for name, part in zip(_FORECAST_PARTS, parts, strict=True):
        weights[name][UNOPENED:] = part[UNOPENED:]
    whole, kept = scaling.whole(weights), {part: np.array(table[part]) for part in PARTS}
    for name in _FORECAST_PARTS:
        kept[name][UNOPENED:] = whole[name][UNOPENED:]
    return table_of(table["stakes"], kept)


# ---------------------------------------------------------------------------------------------------------------------
# Scales


@dataclass(frozen=True, slots=True)
class _Scaling:
    """Between features as they are, with whole weights, and features of mean 0 and spread 1, with floats."""

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def of(cls, lessons: Lessons) -> _Scaling:
        some = lessons.first(_MEASURED)
        real = some.features[np.arange(ENDS) < some.counts[:, None]]
        return cls(real.mean(axis=0), real.std(axis=0) + _LEAST_SPREAD)

    def scaled(self, features: NDArray[np.int16]) -> Floats:
        return ((features - self.mean) / self.spread).astype(np.float32)

    def floats(self, table: Mapping[str, Any]) -> dict[str, Floats]:
        """The weights of a table, for scaled features."""
        units = np.array(table["units_by_feature"], float) / UNIT_SCALE
        direct = np.array(table["forecasts_by_feature"], float) / FORECAST_SCALE
        weights = {
            "units_by_feature": units * self.spread[:, None],
            "units_by_context": np.array(table["units_by_context"], float) / UNIT_SCALE + self.mean @ units,
            "forecasts_by_unit": np.array(table["forecasts_by_unit"], float) / FORECAST_SCALE * self._shift(),
            "forecasts_by_feature": direct * self.spread,
            "forecasts_by_context": np.array(table["forecasts_by_context"], float) / FORECAST_SCALE
            + (direct @ self.mean)[:, None],
        }
        for name in weights:
            if name.startswith("forecasts"):
                weights[name] = weights[name] / _OUTCOME_SCALE[:, None]
        return {name: values.astype(np.float32) for name, values in weights.items()}

    def whole(self, weights: Mapping[str, Floats]) -> dict[str, NDArray[np.int64]]:
        """Back to whole numbers for features as they are."""
        found = {name: values.astype(float) for name, values in weights.items()}
        for name in found:
            if name.startswith("forecasts"):
                found[name] = found[name] * _OUTCOME_SCALE[:, None] * FORECAST_SCALE
        units = found["units_by_feature"] / self.spread[:, None]
        direct = found["forecasts_by_feature"] / self.spread
        whole = {
            "units_by_feature": units * UNIT_SCALE,
            "units_by_context": (found["units_by_context"] - self.mean @ units) * UNIT_SCALE,
            "forecasts_by_unit": found["forecasts_by_unit"] / self._shift(),
            "forecasts_by_feature": direct,
            "forecasts_by_context": found["forecasts_by_context"] - (direct @ self.mean)[:, None],
        }
        return {part: np.rint(whole[part]).astype(np.int64) for part in PARTS}

    @staticmethod
    def _shift() -> float:
        """What a whole unit of a forecast stands for, of hidden units as the kernel shifts them."""
        return UNIT_SCALE / (1 << UNIT_SHIFT)


# ---------------------------------------------------------------------------------------------------------------------
# Learning


@dataclass(frozen=True, slots=True)
class _Batch:
    """Ends of some lessons: scaled features, contexts as unit vectors, outcomes, and 1 where there is an end."""

    features: Floats
    contexts: Floats
    outcomes: Floats
    real: Floats


def _batches(lessons: Lessons, scaling: _Scaling, rng: np.random.Generator) -> Iterator[_Batch]:
    order = rng.permutation(len(lessons.counts))
    ones = np.eye(PARTS["units_by_context"][0], dtype=np.float32)
    for at in range(0, len(order), _BATCH):
        rows = order[at : at + _BATCH]
        real = (np.arange(ENDS) < lessons.counts[rows, None])[:, :, None].astype(np.float32)
        outcomes = lessons.outcomes[rows].astype(np.float32) / _OUTCOME_SCALE
        yield _Batch(scaling.scaled(lessons.features[rows]), ones[lessons.contexts[rows]], outcomes, real)


def _centred(values: Floats, real: Floats) -> Floats:
    """Values less their mean over the ends of the lesson."""
    mean = (values * real).sum(axis=1, keepdims=True) / real.sum(axis=1, keepdims=True)
    centred: Floats = (values - mean) * real
    return centred


def _units(weights: Mapping[str, Floats], batch: _Batch) -> Floats:
    """The hidden units."""
    summed = batch.features @ weights["units_by_feature"] + batch.contexts @ weights["units_by_context"]
    return np.maximum(summed, np.float32(0))


def _gradients(weights: Mapping[str, Floats], batch: _Batch, levels: float) -> dict[str, Floats]:
    """How the squared error of the differences, and that of the levels with their weight, changes with the weights."""
    x, c = batch.features, batch.contexts
    units = _units(weights, batch)
    forecasts = units @ weights["forecasts_by_unit"].T + x @ weights["forecasts_by_feature"].T
    forecasts += c @ weights["forecasts_by_context"].T
    missed = (forecasts - batch.outcomes) * batch.real
    off = _centred(missed, batch.real) + np.float32(levels) * missed
    off *= 2 / batch.real.sum()
    off_units = (off @ weights["forecasts_by_unit"]) * (units > 0).astype(np.float32)
    return {
        "units_by_feature": _outer(x, off_units),
        "units_by_context": _outer(c, off_units),
        "forecasts_by_unit": _outer(off, units),
        "forecasts_by_feature": _outer(off, x),
        "forecasts_by_context": _outer(off, c),
    }


def _outer(left: NDArray[Any], right: NDArray[Any]) -> Floats:
    """The sum over all ends of products of two rows."""
    product: Floats = left.reshape(-1, left.shape[2]).T @ right.reshape(-1, right.shape[2])
    return product


class _Adam:
    """Adam (Kingma and Ba 2015) with decay of the weights, at a rate that falls to nothing over all steps."""

    def __init__(self, weights: dict[str, Floats], steps: int, rate: float) -> None:
        self.weights, self.steps, self.rate, self.done = weights, steps, rate, 0
        self.first = {name: np.zeros_like(values) for name, values in weights.items()}
        self.second = {name: np.zeros_like(values) for name, values in weights.items()}

    def step(self, gradients: Mapping[str, Floats]) -> None:
        """Move the weights against the gradients."""
        rate = np.float32(self.rate * (1 - self.done / self.steps))
        self.done += 1
        for name, gradient in gradients.items():
            self.first[name] += (1 - _FIRST_MOMENT) * (gradient - self.first[name])
            self.second[name] += (1 - _SECOND_MOMENT) * (gradient**2 - self.second[name])
            first = self.first[name] / (1 - _FIRST_MOMENT**self.done)
            second = self.second[name] / (1 - _SECOND_MOMENT**self.done)
            self.weights[name] -= rate * (first / (np.sqrt(second) + _TINY) + _DECAY * self.weights[name])
