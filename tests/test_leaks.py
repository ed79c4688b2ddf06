"""All that a seat gets, from every form of the environment: no hidden card changes it, and what is public does.

Observations and views are looked at more closely in tests of their own; this is about all doors at once.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scala40_env import Game, Rules, View, scala40_v0
from scala40_env.arguments import episode_rules
from scala40_env.kernels.state import PHASES
from scala40_env.render import rgb_array_of
from scala40_env.rules.reading import Games, number, numbers
from scala40_env.single import Scala40Env
from scala40_env.vector import Scala40VectorEnv
from tests.optional import library
from tests.rules.test_view import KNOWN, RULES, everything, reshuffled
from tests.walks import fewer, name_of, walk

Doors = Callable[[Games, int, Rules], Iterator[tuple[str, Any]]]
FORMS: dict[Rules, tuple[Any, ...]] = {}


def forms(rules: Rules) -> tuple[Any, ...]:
    """An environment of each form, begun; of these the games are overwritten."""
    if rules not in FORMS:
        aec = scala40_v0.raw_env(rules=rules, episode="match")
        single = Scala40Env(rules, "random", episode="match", render_mode="svg")
        vector = Scala40VectorEnv(2, rules, "random", episode="match", render_mode="ansi")
        for env in (aec, single, vector):
            env.reset(seed=1)
        FORMS[rules] = aec, single, vector
    return FORMS[rules]


def doors(games: Games, seat: int, rules: Rules) -> Iterator[tuple[str, Any]]:
    """Everything that `seat` gets of a game, by name."""
    aec, single, vector = forms(rules)
    aec.games[:] = games
    aec.refresh()
    agent = aec.possible_agents[seat]
    observed = aec.observe(agent)
    yield "observation", observed["observation"].tobytes()
    yield "mask", observed["action_mask"].tobytes()
    yield "info", repr(aec.infos[agent])
    yield "string", str(View.of(games, seat, rules))
    yield "view", everything(View.of(games, seat, rules))
    for mode in ("ansi", "svg"):
        yield mode, aec.draw(mode, seat)
    for env in (single, vector):
        env.games[:] = games
        env._batch.episodes["learner"] = seat
    yield "drawing of the learner", single.render()
    yield "drawings of the learners", vector.render()


def pixels(games: Games, seat: int, rules: Rules) -> Iterator[tuple[str, Any]]:
    yield "pixels", rgb_array_of(View.of(games, seat, rules), size=(500, 375)).tobytes()


def same(one: Games, other: Games, seat: int, rules: Rules, through: Doors = doors) -> list[str]:
    """The doors through which two games look alike."""
    here, there = dict(through(one, seat, rules)), dict(through(other, seat, rules))  # one after the other
    return [name for name in here if here[name] == there[name]]


def holder_but(games: Games, seat: int) -> int:
    """The other seat that holds most cards: at the end of a hand one may hold none."""
    return max(
        (other for other in range(number(games, "num_players")) if other != seat),
        key=numbers(games, "hand_n").__getitem__,
    )


NAMES = [
    *("observation", "mask", "info", "string", "view", "ansi", "svg"),
    *("drawing of the learner", "drawings of the learners"),
]


@pytest.mark.parametrize("rules", RULES, ids=name_of)
def test_no_hidden_card_comes_through_any_door(rules: Rules) -> None:
    """In every phase, buying and finished hands too, for every seat."""
    rng, phases = random.Random(3), set()
    for step, (games, actions) in enumerate(walk(rules, 21, fewer(500, 2), 0.9)):
        phase = PHASES[number(games, "phase")]
        if step % 12 and actions is not None and phase != "buy":
            continue
        phases.add(phase)
        for seat in range(rules.num_players):
            assert same(games.copy(), reshuffled(games, seat, rng), seat, rules) == NAMES, (step, seat, phase)
    assert {"draw", "play", "hand_over"} <= phases
    assert rules.buying == ("buy" in phases)


@pytest.mark.once
def test_no_hidden_card_changes_a_pixel() -> None:
    for name in ("resvg_py", "pygame"):
        library(name)
    rules, rng, phases = RULES[-1], random.Random(3), set()
    for games, _ in walk(rules, 21, 500, 0.9):
        phase = PHASES[number(games, "phase")]
        if phase not in phases:
            phases.add(phase)
            for seat in range(rules.num_players):
                other, holder = reshuffled(games, seat, rng), holder_but(games, seat)
                assert same(games, other, seat, rules, pixels) == ["pixels"]
                assert not same(games, other, holder, rules, pixels)
    assert {"draw", "play", "buy", "hand_over"} <= phases


PUBLIC: dict[str, dict[str, Any]] = {
    "the top of the pozzo": {"pozzo": "3h 9h"},
    "a meld": {"table": ["5s 6s 7s"]},
    "a joker on the table": {"table": ["5s 6s 7s", "Jd Qd *Kd"]},
    "scores": {"scores": [10, 20, 31]},
    "who has opened": {"opened": [True, False, False]},
    "known cards": {"known": ["", "", ""]},
    "who is on move": {"turn": 1},
    "the own hand": {"hands": ["9s 2c Qd", "8d Ts 7h", "4d 4h"]},
    "the size of another hand": {"hands": ["9s 2c Kd", "8d Ts 7h", "4d 4h 4c"]},
    "the size of the stock": {"stock": "As Ah"},
    "the size of the pozzo": {"pozzo": "3h 3s 8s", "discarded_by": [None, 1, 2]},
    "the phase": {"phase": "play"},
}


@pytest.mark.parametrize("change", PUBLIC)
def test_what_is_public_shows_at_every_door_but_the_mask(change: str) -> None:
    """The mask says what is legal, and the info is of the hand before: they need not change."""
    one, other = (Game.from_position({**KNOWN, **more}) for more in ({}, PUBLIC[change]))
    rules = episode_rules(one.rules, "match")
    assert set(same(one.state.copy(), other.state.copy(), 0, rules)) <= {"mask", "info"}


def test_the_mask_follows_what_is_public() -> None:
    """With nothing to use the 3h for it can't be taken."""
    one, other = (Game.from_position({**KNOWN, "pozzo": f"3c {top}", "opened": [True] * 3}) for top in ("8s", "3h"))
    assert same(one.state.copy(), other.state.copy(), 0, one.rules) == ["info"]


@pytest.mark.parametrize("phase", ["draw", "hand_over"])
def test_a_hole_in_any_door_is_seen(phase: str) -> None:
    """The same games do look otherwise to who holds the cards."""
    rules, rng = Rules.fisca(num_players=3), random.Random(5)
    for games, _ in walk(rules, 4, 2000, 0.9):
        if PHASES[number(games, "phase")] == phase:
            seen = same(games.copy(), reshuffled(games, 0, rng), holder_but(games, 0), rules)
            assert set(seen) <= {"mask", "info"}
            return
    pytest.fail(f"no {phase} in so many decisions")
