"""A thousand hands of every agent under every preset, with two to six seats and in teams: no illegal move, no stall."""

from __future__ import annotations

import pytest

import agents
from scala40_env import Rules
from scala40_env.rules.config import PRESET_MAX_PLAYERS, PRESETS
from tests.agents.tables import play, records

HANDS = 1000
#: Of each agent that moves by a budget, one so small that it can play them all.
SLOW = ["search:playouts=4,threads=1"]


def tables() -> list[Rules]:
    """Every preset with all its numbers of seats, and its teams."""
    singles = [
        Rules.from_preset(name, num_players=seats, match="single_hand")
        for name in PRESETS
        for seats in range(2, PRESET_MAX_PLAYERS.get(name, 6) + 1)
    ]
    pairs = [Rules.from_preset(name, num_players=4, team_size=2, match="single_hand") for name in PRESETS]
    sixes = [Rules.fisca(num_players=6, team_size=size, match="single_hand") for size in (2, 3)]
    return [*singles, *pairs, *sixes]


def endure(spec: str, rules: Rules) -> None:
    """All seats are the agent's; every hand has to end, and its record is refused if a move is not legal."""
    rounds = play(rules, [agents.make(spec)], [[0] * rules.num_players] * HANDS, logs=True)
    assert sum(len(ended.games) for ended in rounds) == HANDS
    for record in records(rules, rounds, HANDS):
        record.check()


@pytest.mark.jit
@pytest.mark.once
@pytest.mark.parametrize("rules", tables(), ids=repr)
@pytest.mark.parametrize("name", ["random", "greedy", "expert"])
def test_kernel_agents(name: str, rules: Rules) -> None:
    endure(name, rules)


@pytest.mark.slow
@pytest.mark.parametrize("rules", tables(), ids=repr)
@pytest.mark.parametrize("spec", SLOW)
def test_agents_that_think(spec: str, rules: Rules) -> None:
    endure(spec, rules)
