"""Estimates with intervals, and the switch for the size of the notebooks."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.console import BadUsage
from experiments.notebooks.estimates import means_by, ratios_by, shares_of
from experiments.notebooks.show import SIZE, full_or_small


def test_means_of_groups() -> None:
    found = means_by([0, 0, 1, -1], [1.0, 3.0, 5.0, 100.0], [0, 1, 1, 2], 3)
    assert found.value[:2].tolist() == [2.0, 5.0] and np.isnan(found.value[2]) and np.isnan(found.low[2])
    assert found.count.tolist() == [2, 1, 0]


def test_ratios_weigh_by_the_wholes() -> None:
    assert ratios_by(0, [1, 3], [2, 8], [0, 1]).value.tolist() == [0.4]


def test_units_are_drawn_and_not_cases() -> None:
    """A thousand copies of one case say no more than one."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=100)
    once, copied = means_by(0, values, np.arange(100)), means_by(0, values.repeat(50), np.arange(100).repeat(50))
    assert copied.low[0] == pytest.approx(once.low[0]) and copied.high[0] == pytest.approx(once.high[0])
    assert once.errors.shape == (2, 1) and once.low[0] < once.value[0] < once.high[0]


def test_the_interval_holds_what_it_should() -> None:
    rng = np.random.default_rng(1)
    found = [means_by(0, rng.normal(size=60), np.arange(60), seed=k) for k in range(100)]
    held = sum(bool(one.low[0] <= 0 <= one.high[0]) for one in found)
    assert 86 <= held <= 100


def test_shares_say_something_about_nothing() -> None:
    found = shares_of([0, 50], [100, 100])
    assert found.low[0] == 0 and 0.02 < found.high[0] < 0.06
    assert found.text(1, ".0f", 100) == "50 (40 to 60)"


def test_the_size_is_full_or_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SIZE, raising=False)
    assert full_or_small(10, 1) == 10
    monkeypatch.setenv(SIZE, "small")
    assert full_or_small(10, 1) == 1
    monkeypatch.setenv(SIZE, "tiny")
    with pytest.raises(BadUsage, match="SCALA40_NOTEBOOKS=tiny: allowed are full and small"):
        full_or_small(10, 1)
