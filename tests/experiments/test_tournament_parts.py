"""Line-ups and statistics of a tournament, on cases small enough to count by hand."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from experiments.league.blocks import FIELDS
from experiments.league.lineups import lineups
from experiments.league.statistics import ratio_interval, table_of


@pytest.mark.parametrize("agents", range(2, 7))
@pytest.mark.parametrize("seats", range(2, 7))
def test_every_agent_meets_every_other_equally_often(agents: int, seats: int) -> None:
    tables = lineups(agents, seats)
    seatings = [seating for table in tables for seating in table.seatings]
    assert len(set(seatings)) == len(seatings)
    assert all(len(seating) == seats for seating in seatings)
    meetings = Counter(
        (first, second)
        for table in tables
        for first, second in combinations(range(agents), 2)
        for _ in range(table.seats.count(first) * table.seats.count(second))
    )
    assert len(meetings) == agents * (agents - 1) // 2 and len(set(meetings.values())) == 1
    assert len({Counter(agent for table in tables for agent in table.seats)[agent] for agent in range(agents)}) == 1


@pytest.mark.parametrize("agents", range(2, 5))
@pytest.mark.parametrize("seats", range(2, 7))
def test_within_a_lineup_every_agent_has_every_seat_equally_often(agents: int, seats: int) -> None:
    for table in lineups(agents, seats):
        for agent in set(table.seats):
            times = [sum(seating[seat] == agent for seating in table.seatings) for seat in range(seats)]
            assert len(set(times)) == 1


def test_partners_are_the_same_agent() -> None:
    (table,) = lineups(2, 4)
    assert table.seatings == ((0, 1, 0, 1), (1, 0, 1, 0))


def test_the_interval_of_a_mean_is_about_two_standard_errors_wide() -> None:
    values = np.random.default_rng(1).integers(0, 100, 2000)
    ones = np.ones_like(values)
    interval = ratio_interval(values, ones, seed=0)
    assert interval is not None
    margin = 1.96 * values.std() / np.sqrt(len(values))
    assert interval == pytest.approx((values.mean() - margin, values.mean() + margin), abs=margin / 10)
    assert interval == ratio_interval(values, ones, seed=0) != ratio_interval(values, ones, seed=1)


def test_deals_that_are_all_alike_leave_no_doubt() -> None:
    assert ratio_interval(np.array([3, 3, 3]), np.array([4, 4, 4]), seed=0) == (0.75, 0.75)
    assert ratio_interval(np.array([3]), np.array([4]), seed=0) is None


def test_the_table_adds_up_lineups_and_deals() -> None:
    sums = np.zeros((len(FIELDS), 2, 2, 3), np.int64)
    for field, value in {"hands": 4, "won": 1, "points": 30, "laps": 20, "opened": 3, "matches": 4}.items():
        sums[FIELDS.index(field), :, 0] = value
        sums[FIELDS.index(field), 0, 1] = 2 * value
    first, second = table_of(["a", "b"], sums, seed=0)
    assert (first.hands, first.hands_won, first.win_share, first.mean_points) == (24, 6, 0.25, 7.5)
    assert (first.mean_laps, first.opened_share, first.matches, first.win_share_ci) == (5.0, 0.75, 24, (0.25, 0.25))
    assert second.hands == 24 and second.name == "b"
    assert table_of(["a", "b"], sums[..., :0], seed=0) == []
