"""Lessons for the expert: how the hands ended is noted right, and draws are taught too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
from agents.kernels.expert import FORECASTS
from agents.kernels.lessons import ENDS, give_lessons
from agents.kernels.outlook import FEATURES
from experiments.expert_net import Lessons
from scala40_env import Rules
from scala40_env.rules.reading import new_games

WIN, OWN, OTHERS, UNOPENED, UNOPENED_POINTS, OTHERS_UNOPENED, OTHERS_UNOPENED_POINTS = range(len(FORECASTS))
STOCK = FEATURES.index("stock")


def given(n: int, **rules: Any) -> Lessons:
    """The first lessons of some hands of the expert against the greedy player."""
    games = np.repeat(new_games(Rules.fisca(match="single_hand", **rules), 0), 300)
    games["seed"] = np.arange(300)
    made = (agents.make(name) for name in ("expert", "greedy"))
    players = [player for player in made if isinstance(player, agents.KernelAgent)]
    weights = np.array([player.weights for player in players])
    kinds = np.array([player.kernel_id for player in players])
    seating = np.tile(np.arange(rules["num_players"]) % 2, (300, 1))
    lessons = Lessons.room_for(n)
    arrays = lessons.features, lessons.contexts, lessons.outcomes, lessons.counts
    assert give_lessons(games, seating, kinds, weights, np.uint64(1), *arrays) == n
    return lessons


def ends_of(lessons: Lessons) -> Any:
    """The outcomes of all ends, one a row."""
    return lessons.outcomes[np.arange(ENDS) < lessons.counts[:, None]]


@pytest.mark.jit
@pytest.mark.parametrize("flat", [None, 100])
def test_points_of_unopened_hands_are_noted_apart(flat: int | None) -> None:
    """What their cards count, whether the rules charge a flat sum instead or not."""
    ends = ends_of(given(600, num_players=2, unopened_points=flat))
    won, unopened = ends[:, WIN] == 1, ends[:, UNOPENED] == 1
    assert 0.2 < won.mean() < 0.8 and 0.01 < unopened.mean() < 0.5
    assert not (won & unopened).any() and (ends[won, OWN] == 0).all() and (ends[~won, OTHERS] == 0).all()
    assert (ends[unopened, UNOPENED_POINTS] == ends[unopened, OWN]).all()
    assert (ends[~unopened, UNOPENED_POINTS] == 0).all()
    others = ends[:, OTHERS_UNOPENED] == 1
    assert others.any() and (ends[others, OTHERS_UNOPENED_POINTS] == ends[others, OTHERS]).all()
    assert (ends[~others, OTHERS_UNOPENED_POINTS] == 0).all()
    assert len(np.unique(ends[unopened, OWN])) > 10


@pytest.mark.jit
def test_others_are_added_up() -> None:
    ends = ends_of(given(300, num_players=4))
    assert set(np.unique(ends[:, OTHERS_UNOPENED])) == {0, 1, 2, 3}
    assert (ends[:, OTHERS_UNOPENED_POINTS] <= ends[:, OTHERS]).all()


@pytest.mark.jit
def test_draws_are_taught() -> None:
    """In some lessons the first end is after a card from the stock and the second after the pozzo card."""
    lessons = given(600, num_players=2)
    two = lessons.features[lessons.counts == 2][:, :2, STOCK]
    draws = two[:, 0] != two[:, 1]
    assert 10 < draws.sum() < 200 and (two[draws, 1] == two[draws, 0] + 1).all()
    more = lessons.features[lessons.counts > 2][:, :3, STOCK]
    assert (more == more[:, :1]).all()
