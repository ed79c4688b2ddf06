"""Line-ups and statistics of a tournament, on cases small enough to count by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from experiments.league.analysis import analyse, leads_by_deal
from experiments.league.blocks import FIELDS, SEAT_FIELDS, Block
from experiments.league.lineups import LINEUP_KINDS, LineupKind, TooManyLineups, lineups
from experiments.league.results import Part, Results, ResultsError, merge, read_results, write_results
from experiments.league.statistics import holm, paired_p_value, ratio_interval


@pytest.mark.parametrize("kind", LINEUP_KINDS)
@pytest.mark.parametrize("agents", range(2, 7))
@pytest.mark.parametrize("seats", range(2, 7))
def test_every_agent_meets_every_other_equally_often(agents: int, seats: int, kind: LineupKind) -> None:
    tables = lineups(agents, seats, kind)
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


@pytest.mark.parametrize("kind", LINEUP_KINDS)
@pytest.mark.parametrize("agents", range(2, 5))
@pytest.mark.parametrize("seats", range(2, 7))
def test_within_a_lineup_every_agent_has_every_seat_equally_often(agents: int, seats: int, kind: LineupKind) -> None:
    for table in lineups(agents, seats, kind):
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


@pytest.mark.parametrize("kind", LINEUP_KINDS)
def test_a_side_is_one_agent(kind: LineupKind) -> None:
    for table in lineups(3, 6, kind, team_size=2):
        assert all(seating[:3] == seating[3:] for seating in table.seatings)


def test_more_line_ups_than_anybody_plays() -> None:
    with pytest.raises(TooManyLineups, match="20 agents at 6 seats make 38,760 line-ups"):
        lineups(20, 6)


def test_holm_on_a_known_case() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([None, 0.5, 0.9]) == [None, 1.0, 1.0] and holm([]) == []


def test_p_values_of_paired_differences() -> None:
    noise = np.random.default_rng(1).normal(0, 1, 400)
    assert (paired_p_value(noise + 1) or 1) < 1e-10 and (paired_p_value(noise - noise.mean()) or 0) > 0.99
    assert paired_p_value(np.zeros(5)) == 1.0
    assert paired_p_value(np.ones(5)) is None and paired_p_value(np.ones(1)) is None


def made(
    points: dict[str, list[int]], seed: int = 0, first: int = 0, lineup: tuple[int, ...] = (0, 1), **rules: int
) -> Results:
    """Results of two agents: two hands a deal each, these points by deal."""
    names, deals = tuple(points), len(next(iter(points.values())))
    block = Block.empty(1, len(names), len(lineup), deals)
    for agent in range(len(names)):
        block.sums[FIELDS.index("hands"), 0, agent] = 2
        block.sums[FIELDS.index("points"), 0, agent] = points[names[agent]]
        block.sums[FIELDS.index("won"), 0, agent] = 1
        block.by_seat[SEAT_FIELDS.index("hands"), 0, agent] = deals
    made_by = {"command": "scala40 tournament a b", "settings": {}, "versions": {"scala40_env": "1"}, "machine": {}}
    part = Part(made_by, names, (lineup,), seed, first, block)
    whole = {"preset": "fisca", "num_players": len(lineup), **rules}
    return Results(whole, "hand", {name: name for name in names}, (part,))


def test_figures_of_agents_pairs_and_lineups() -> None:
    results = made({"a": [2, 4, 6, 8], "b": [12, 10, 20, 30]})
    found = analyse(results)
    assert leads_by_deal(results, "a", "b").tolist() == [5, 3, 7, 11]
    a, b = found.agents
    assert (a.hands, a.win_share, a.mean_points, b.mean_points) == (8, 0.5, 2.5, 9.0)
    assert a.win_share_ci == (0.5, 0.5) and a.rating > 25 > b.rating and a.rating_ci is not None
    (pair,) = found.pairs
    assert (pair.name, pair.other, pair.deals, pair.share, pair.lead) == ("a", "b", 4, 0.5, 6.5)
    assert pair.p_value == pair.p_holm and 0 < (pair.p_value or 0) < 0.1
    assert pair.lead_ci is not None and pair.lead_ci[0] <= 6.5 <= pair.lead_ci[1]
    assert [(row.name, row.fair_share, row.deals) for row in found.lineups] == [("a", 0.5, 4), ("b", 0.5, 4)]
    assert analyse(made({"a": [], "b": []})).agents == ()


def test_ratings_of_equals_are_equal() -> None:
    a, b = analyse(made({"a": [0, 9] * 40, "b": [9, 0] * 40})).agents
    assert a.rating_ci is not None and a.rating_ci[0] < b.rating < a.rating_ci[1]
    a, b = analyse(made({"a": [5] * 40, "b": [5] * 40})).agents
    assert a.rating == pytest.approx(b.rating)


def test_parts_of_a_tournament_make_the_whole_again() -> None:
    whole = made({"a": [2, 4, 6, 8], "b": [12, 10, 20, 30]})
    parts = {"x": made({"a": [6, 8], "b": [20, 30]}, first=2), "y": made({"b": [12, 10], "a": [2, 4]})}
    merged = merge(parts)
    assert len(merged.parts) == 2 == len(merge(dict(reversed(parts.items()))).parts)
    by_name = {row.name: row for row in analyse(merged).agents}
    assert {row.name: row.mean_points for row in analyse(whole).agents} == {
        name: row.mean_points for name, row in by_name.items()
    }


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (made({"a": [1], "b": [1]}, first=1), "both hold deals 1 to 1 of seed 0 for the line-up a, b"),
        (made({"b": [1], "a": [1]}), "both hold deals 0 to 0"),
        (made({"a": [1], "b": [1]}, first=9, opening_points=30), "opening_points is None in the first, 30"),
        (replace(made({"a": [1], "b": [1]}, first=9), episode="match"), "episode is 'hand' in the first, 'match'"),
        (replace(made({"a": [1], "b": [1]}, first=9), agents={"a": "m:a", "b": "b"}), "the agent 'a' is 'a'"),
    ],
)
def test_what_does_not_go_together(other: Results, words: str) -> None:
    with pytest.raises(ResultsError, match="x and y can't be merged: .*" + words):
        merge({"x": made({"a": [1, 2], "b": [3, 4]}), "y": other})


@pytest.mark.parametrize("name", ["results.json", "results.json.gz"])
def test_a_file_reads_back(tmp_path: Path, name: str) -> None:
    results = made({"a": [2, 4], "b": [12, 10]}, seed=5, first=7)
    results.parts[0].block.histograms["points"][0, 1, -20] = 3
    write_results(results, tmp_path / name)
    first = (tmp_path / name).read_bytes()
    write_results(read_results(tmp_path / name), tmp_path / name)
    assert (tmp_path / name).read_bytes() == first
    assert analyse(read_results(tmp_path / name)).as_json() == analyse(results).as_json()
    with pytest.raises(ResultsError, match="no such file"):
        read_results(tmp_path / "nothing")
