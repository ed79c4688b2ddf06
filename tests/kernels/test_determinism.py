"""Same seed, same bytes: whatever else runs, wherever the game lies, however it was copied."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from scala40_env import Game, Rules
from scala40_env.kernels import engine
from scala40_env.kernels.state import GAME, HAND_OVER, MATCH_OVER
from scala40_env.rules.position import to_position
from scala40_env.rules.reading import Games, new_games
from tests.walks import RULE_SETS, choose, go_on, legal_ids, name_of, played, started

SETS = RULE_SETS[::6]
ROOT = Path(__file__).parents[2]


def digest(games: Games) -> str:
    return hashlib.sha256(games.tobytes()).hexdigest()


@pytest.mark.parametrize("rules", SETS, ids=name_of)
def test_same_seed_same_bytes(rules: Rules) -> None:
    first, second = (played(rules, 6, 150) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    assert first.tobytes() != played(rules, 7, 150).tobytes()


def test_the_seed_alone_decides_the_deal() -> None:
    """What lay in the record before makes no difference."""
    rules = Rules.fisca(num_players=3)
    used = played(rules, 1, 300)
    used["seed"] = 9
    engine.start_match(used, 0)
    assert to_position(used, rules) == to_position(started(rules, 9), rules)
    assert Game(rules, seed=9).state.tobytes() == started(rules, 9).tobytes()


def test_global_generators_have_no_effect_and_are_left_alone() -> None:
    rules = Rules.casa(num_players=3)
    expected = digest(played(rules, 3, 200))
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tolist()
    games = started(rules, 3)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before
    assert digest(played(rules, 3, 200)) == expected
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before
    random.random()
    np.random.random()
    assert started(rules, 3).tobytes() == games.tobytes()
    assert digest(played(rules, 3, 200)) == expected


def go_on_with(games: Games, decisions: int) -> Games:
    """Play on with choices of its own."""
    rng = random.Random(77)
    for _ in range(decisions):
        if not go_on(games):
            engine.step(games, 0, choose(legal_ids(games), rng, 0.5))
    return games


def test_copies_go_on_alike() -> None:
    for rules in SETS:
        games = played(rules, 8, 90)
        ways = [games.copy(), copy.deepcopy(games), pickle.loads(pickle.dumps(games))]
        two = np.zeros(3, GAME)
        engine.copy_game(games, 0, two, 1)
        ends = {go_on_with(way, 60).tobytes() for way in [*ways, two[1:2]]}
        assert ends == {go_on_with(games, 60).tobytes()}
        assert not two[0].tobytes().strip(b"\0") and not two[2].tobytes().strip(b"\0")


def test_games_of_the_door_go_on_alike() -> None:
    game = Game(Rules.tavolo(num_players=3), seed=4)
    rng = random.Random(2)
    twins: list[Game] = []
    for at in range(90):
        if at == 40:
            twins = [game.copy(), copy.copy(game), copy.deepcopy(game), pickle.loads(pickle.dumps(game))]
        action = choose(game.legal_actions(), rng)
        for each in [game, *twins]:
            each.play_action(action)
    assert [each.state.tobytes() for each in twins] == [game.state.tobytes()] * 4
    assert [each.record().to_json() for each in twins] == [game.record().to_json()] * 4


def test_a_game_in_an_array_is_not_touched_by_the_others() -> None:
    """Three matches played in turns in one array end as they do alone."""
    sets = [Rules.fisca(num_players=2), Rules.casa(num_players=4), Rules.megajogos(num_players=3)]
    batch = np.concatenate([new_games(rules, seed) for seed, rules in enumerate(sets)])
    for at in range(3):
        engine.start_match(batch, at)
    generators = [random.Random(at) for at in range(3)]
    order = random.Random(5)
    for _ in range(400):
        at = order.randrange(3)
        one = batch[at : at + 1]
        others = np.delete(batch, at).tobytes()
        if batch["phase"][at] == HAND_OVER:
            engine.next_hand(batch, at)
        elif batch["phase"][at] != MATCH_OVER:
            engine.step(batch, at, choose(legal_ids(one), generators[at], 0.5))
        assert np.delete(batch, at).tobytes() == others
    for at, rules in enumerate(sets):
        alone, rng = started(rules, at), random.Random(at)
        for _ in range(400):
            if alone.tobytes() == batch[at : at + 1].tobytes():
                break
            if not go_on(alone):
                engine.step(alone, 0, choose(legal_ids(alone), rng, 0.5))
        else:
            raise AssertionError(f"game {at} never stood like that when played alone")


def test_asking_changes_nothing() -> None:
    """Neither the list of legal moves nor the mask leaves a trace in the record."""
    for rules in SETS:
        games = played(rules, 10, 60)
        before = games.tobytes()
        mask = np.zeros(1045, np.int8)
        engine.write_mask(games, 0, mask)
        legal_ids(games)
        assert games.tobytes() == before


SCRIPT = """
from tests.kernels.test_determinism import SETS, digest
from tests.walks import played
print([digest(played(rules, 21, 100, 0.6)) for rules in SETS])
"""


def digests_of(jit: bool) -> str:
    """The digests as another process gets them, with the JIT on or off."""
    setting = {"NUMBA_DISABLE_JIT": "0" if jit else "1"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env={**os.environ, **setting, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.jit
def test_the_jit_makes_no_difference() -> None:
    here = str([digest(played(rules, 21, 100, 0.6)) for rules in SETS])
    assert digests_of(jit=False) == here == digests_of(jit=True)
