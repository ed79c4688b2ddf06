"""Rewards: worked examples by hand, sums, teams, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scala40_env import Rules
from scala40_env.kernels.state import HAND_OVER, MATCH_OVER
from scala40_env.rewards import (
    REWARDS,
    ZERO_SUM,
    BadReward,
    HandOutcome,
    match_win_loss,
    negative_points,
    outcome_of,
    pay,
    placement,
    points_and_win,
    reward_function,
    win_loss,
    zero_sum_points,
)
from scala40_env.rules.reading import number
from tests.walks import RULE_SETS, fewer, name_of, walk


def outcome(
    points: list[int], winner: int | None = 0, rules: Rules | None = None, out: tuple[int, ...] = (), **changes: Any
) -> HandOutcome:
    """A hand with these charges; `out` were out before it."""
    n = len(points)
    seats = np.arange(n)
    made = HandOutcome(
        rules=rules or Rules(num_players=n),
        hand_points=np.array(points),
        scores=np.array(points),
        played=~np.isin(seats, out),
        eliminated=np.zeros(n, bool),
        winner=winner,
        closing="none" if winner is None else "normal",
        match_over=False,
        champions=np.zeros(n, bool),
    )
    return replace(made, **changes)


def flags(*values: int) -> Any:
    return np.array(values, bool)


def test_zero_sum_points() -> None:
    assert zero_sum_points(outcome([0, 30])).tolist() == [0.3, -0.3]
    # the mean of 10, 20 and 60 is 30; of 0, 20, 60 it is 80 / 3
    assert zero_sum_points(outcome([0, 10, 20, 60])) == pytest.approx([0.3, 80 / 300 - 0.1, 70 / 300 - 0.2, 0.1 - 0.6])


def test_zero_sum_points_leaves_out_who_did_not_play() -> None:
    assert zero_sum_points(outcome([0, 0, 50], winner=0, out=(1,))).tolist() == [0.5, 0, -0.5]


def test_negative_points() -> None:
    assert negative_points(outcome([0, 10, 125])).tolist() == [0, -0.1, -1.25]
    assert negative_points(outcome([-100, 10, 0], out=(2,))).tolist() == [1, -0.1, 0]


def test_win_loss() -> None:
    assert win_loss(outcome([0, 10, 20], winner=0)).tolist() == [1, -0.5, -0.5]
    assert win_loss(outcome([0, 10, 20], winner=None)).tolist() == [0, 0, 0]
    assert win_loss(outcome([5, 0, 0], winner=2, out=(1,))).tolist() == [-1, 0, 1]


def test_points_and_win() -> None:
    assert points_and_win(outcome([0, 30], winner=0)).tolist() == pytest.approx([0.8, -0.8])
    assert points_and_win(outcome([10, 30], winner=None)).tolist() == pytest.approx([0.2, -0.2])


def test_placement() -> None:
    assert placement(outcome([0, 30, 20, 10])).tolist() == pytest.approx([1, -1, -1 / 3, 1 / 3])
    assert placement(outcome([0, 10, 10])).tolist() == [1, -0.5, -0.5]  # the two places below share
    assert placement(outcome([7, 7], winner=None)).tolist() == [0, 0]
    assert placement(outcome([3, 0, 9], winner=2, out=(1,))).tolist() == [1, 0, -1]


def test_match_win_loss() -> None:
    assert match_win_loss(outcome([0, 10, 20])).tolist() == [0, 0, 0]
    goes = outcome([0, 10, 99], eliminated=flags(0, 0, 1))
    assert match_win_loss(goes).tolist() == [0, 0, -0.5]
    ends = outcome([0, 95, 0], out=(2,), match_over=True, champions=flags(1, 0, 0), eliminated=flags(0, 1, 0))
    assert match_win_loss(ends).tolist() == [1, -0.5, 0]  # with the hand before: 1, -0.5, -0.5


def test_match_win_loss_of_a_tie() -> None:
    tie = outcome([5, 5, 9], winner=None, match_over=True, champions=flags(1, 1, 0))
    assert match_win_loss(tie).tolist() == [0.5, 0.5, -1]
    everybody = outcome([5, 5], winner=None, match_over=True, champions=flags(1, 1))
    assert match_win_loss(everybody).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("score", "sides"),
    [("sum", [10, 50]), ("worst", [10, 30])],
)
def test_a_team_is_charged_as_the_rules_say(score: str, sides: list[int]) -> None:
    rules = Rules(num_players=4, team_size=2, team_score=score)
    hand = outcome([0, 20, 10, 30], winner=0, rules=rules)
    assert hand.side_points.tolist() == sides
    gain = (sides[1] - sides[0]) / 100
    assert zero_sum_points(hand).tolist() == [gain, -gain, gain, -gain]
    assert win_loss(hand).tolist() == placement(hand).tolist() == [1, -1, 1, -1]


@pytest.mark.parametrize("score", ["sum", "worst"])
def test_a_bonus_comes_off_the_teams_charge(score: str) -> None:
    rules = Rules(num_players=4, team_size=2, team_score=score, closing_bonus=100)
    assert outcome([-100, 20, 15, 30], rules=rules).side_points[0] == -85


def ended_hands(rules: Rules, decisions: int) -> list[HandOutcome]:
    return [
        outcome_of(games, 0, rules) for games, actions in walk(rules, 3, decisions, eagerness=0.9) if actions is None
    ]


@pytest.mark.parametrize("rules", RULE_SETS, ids=name_of)
def test_zero_sum_rewards_sum_to_zero_over_every_hand(rules: Rules) -> None:
    for hand in ended_hands(rules, fewer(3000)):
        for name in ZERO_SUM:
            paid = pay(REWARDS[name], hand)
            assert sum(paid) == pytest.approx(0, abs=1e-12), name
            assert not any(reward for reward, played in zip(paid, hand.played, strict=True) if not played)


@pytest.mark.parametrize(
    "rules", [Rules(num_players=5, limit=61), Rules.fisca(num_players=4, team_size=2)], ids=name_of
)
def test_match_win_loss_sums_to_zero_over_every_match(rules: Rules) -> None:
    total, matches = 0.0, 0
    for hand in ended_hands(rules, fewer(20_000, by=20)):
        total += sum(match_win_loss(hand))
        if hand.match_over:
            assert total == pytest.approx(0)
            total, matches = 0.0, matches + 1
    assert matches


@pytest.mark.parametrize("rules", [Rules(num_players=4, limit=61), Rules.casa(num_players=3, limit=61)], ids=name_of)
def test_the_charges_of_the_sides_are_what_the_totals_grow_by(rules: Rules) -> None:
    before = np.zeros(rules.num_players, int)
    for hand in ended_hands(rules, fewer(4000)):
        grown = hand.scores - before
        same = hand.by_seat(hand.side_points) == grown
        assert (same | (rules.reentries != 0) | ~hand.played).all()
        before = np.zeros_like(before) if hand.match_over else hand.scores


def test_an_outcome_says_who_played_and_who_went_out() -> None:
    rules = Rules(num_players=4, limit=41)
    out: set[int] = set()
    for games, actions in walk(rules, 5, fewer(6000), eagerness=0.9):
        if actions is not None:
            continue
        assert number(games, "phase") in (HAND_OVER, MATCH_OVER)
        hand = outcome_of(games, 0, rules)
        assert set(np.flatnonzero(~hand.played)) == out
        out |= set(np.flatnonzero(hand.eliminated))
        assert (hand.champions.sum() == 1) == hand.match_over
        if hand.match_over:
            out = set()


def test_rewards_go_by_name_or_are_functions() -> None:
    assert reward_function("placement") is placement

    def mine(outcome: HandOutcome) -> list[int]:
        return [1] * len(outcome.played)

    assert pay(reward_function(mine), outcome([0, 1])) == [1.0, 1.0]


@pytest.mark.parametrize("wrong", ["zero_sum", None, 7, ""])
def test_an_unknown_reward_is_refused(wrong: Any) -> None:
    with pytest.raises(BadReward, match="allowed are zero_sum_points, negative_points, win_loss, placement"):
        reward_function(wrong)


def test_a_near_miss_is_suggested() -> None:
    with pytest.raises(BadReward, match="did you mean 'win_loss'"):
        reward_function("winloss")


@pytest.mark.parametrize("given", [None, 1.0, [1.0], [0.0, float("nan")], [0, float("inf")], "ab", [[1], [2]]])
def test_a_reward_gives_a_finite_number_for_each_seat(given: Any) -> None:
    with pytest.raises(BadReward, match="it has to give 2 finite numbers, one a seat"):
        pay(lambda outcome: given, outcome([0, 10]))
