"""The sums of the expert's net in vector instructions against their plain twins, and what rows they read."""

from __future__ import annotations

import numpy as np
import pytest

from agents.kernels.outlook import FEATURES, NUM_FEATURES, ROOM, ROW
from agents.kernels.units import HIDDEN, UNIT_SHIFT, sum_units, value_of_features, value_of_units
from scala40_env.kernels.jit import Records, entry

#: The most that weights may be (`agents.expert`), and more than any number is.
_WEIGHT, _NUMBER = 1 << 25, 1 << 14


@entry
def sum_rows(table: np.ndarray, rows: Records, summed: np.ndarray, units: np.ndarray, sums: np.ndarray) -> None:
    """Sum the units for one row after the other, as the ends of a turn are gone through."""
    for at in range(len(rows)):
        sum_units(table, rows[at], summed, units)
        sums[at] = units


@entry
def worth_of_row(rows: Records, weights: np.ndarray) -> int:
    return value_of_features(rows[0], weights)


@entry
def worth_of_units(units: np.ndarray, biases: np.ndarray, weights: np.ndarray) -> int:
    return value_of_units(units, biases, weights)


def _rows(numbers: np.ndarray) -> np.ndarray:
    rows = np.zeros(len(numbers), ROW)
    for at, name in enumerate(FEATURES):
        rows[name] = numbers[:, at]
    return rows


def test_a_row_holds_the_features_in_their_order() -> None:
    numbers = np.arange(1, NUM_FEATURES + 1)[None]
    words = np.frombuffer(_rows(numbers).tobytes(), np.int64)
    assert words.tolist() == [*range(1, NUM_FEATURES + 1), *[0] * (ROOM - NUM_FEATURES)]


@pytest.mark.parametrize("changing", [0, 1, 5, NUM_FEATURES])
def test_units_are_the_sums_of_the_row_in_hand(changing: int) -> None:
    """Whatever changes from row to row: nothing, few features or all, by the largest weights there are."""
    rng = np.random.default_rng(changing)
    numbers = np.repeat(rng.integers(-_NUMBER, _NUMBER, (1, NUM_FEATURES)), 20, axis=0)
    for row in numbers[1:]:
        row[rng.choice(NUM_FEATURES, changing, replace=False)] += rng.integers(1, _NUMBER)
    table = rng.integers(-_WEIGHT, _WEIGHT + 1, (NUM_FEATURES, HIDDEN))
    sums = np.zeros((20, HIDDEN), np.int64)
    sum_rows(table.ravel(), _rows(numbers), np.zeros(ROOM, np.int64), np.zeros(HIDDEN, np.int64), sums)
    assert np.array_equal(sums, numbers @ table)


def test_what_lies_behind_the_weights_of_features_counts_nothing() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(-_NUMBER, _NUMBER, (1, NUM_FEATURES))
    weights = rng.integers(-(1 << 40), 1 << 40, ROOM)
    assert worth_of_row(_rows(numbers), weights) == int((numbers[0] * weights[:NUM_FEATURES]).sum())


def test_units_below_zero_are_worth_nothing() -> None:
    rng = np.random.default_rng(1)
    units, biases = rng.integers(-(1 << 40), 1 << 40, (2, HIDDEN))
    weights = rng.integers(-(1 << 20), 1 << 20, HIDDEN)
    biased = (units + biases).tolist()
    expected = sum(
        (unit >> UNIT_SHIFT) * weight for unit, weight in zip(biased, weights.tolist(), strict=True) if unit > 0
    )
    assert worth_of_units(units, biases, weights) == expected
    assert worth_of_units(-np.abs(units), -np.abs(biases), weights) == 0
