"""`Scala40Env`: Gymnasium's checks, what it gives, illegal actions, drawing, copies."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics

from scala40_env import Game, IllegalMove, Rules, render
from scala40_env.arguments import RENDER_MODES, BadArgument
from scala40_env.gym_registration import register_gymnasium
from scala40_env.observation import schema_of
from scala40_env.rules.moves import NUM_ACTIONS, NUM_ACTIONS_EXTENDED
from scala40_env.single import Scala40Env
from tests.optional import library
from tests.walks import fewer

ROOT = Path(__file__).parents[1]
TWO = Rules.fisca(num_players=2, hand_size=6, opening_points=20)


@pytest.fixture(autouse=True)
def registered() -> None:
    register_gymnasium()


SETTINGS: list[dict[str, Any]] = [
    {},
    {"rules": "casa", "opponents": "random", "seat": "rotate"},
    {"rules": TWO, "episode": "match", "reward": "match_win_loss", "max_hands": 3},
    {"rules": {"preset": "megajogos", "num_players": 3}, "seat": 2, "reward": "placement"},
    {"rules": Rules.fisca(num_players=4, buying=True), "opponents": ["random", "greedy", "random"]},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: "-".join(settings) or "default")
def test_the_checks_of_gymnasium(settings: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = gymnasium.make("Scala40-v0", **settings)
        check_env(made.unwrapped, skip_render_check=True)


@pytest.mark.once
@pytest.mark.parametrize("mode", RENDER_MODES)
def test_the_checks_of_gymnasium_of_drawing(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    for name in ("resvg_py", "pygame"):
        library(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = gymnasium.make("Scala40-v0", rules=TWO, render_mode=mode)
        check_env(made.unwrapped)
        made.reset(seed=1)
        drawn = made.render()
        assert {"rgb_array": np.ndarray, "human": type(None)}.get(mode, str) is type(drawn)
        made.close()


@pytest.mark.jit
def test_episodes_through_the_wrappers_of_gymnasium() -> None:
    """`make` adds its own checks of every step."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env: Any = FlattenObservation(RecordEpisodeStatistics(gymnasium.make("Scala40-v0", rules=TWO)))
        rng, ends = np.random.default_rng(0), 0
        observation, info = env.reset(seed=1)
        for _ in range(300):
            assert observation in env.observation_space
            action = env.action_space.sample(mask=info["action_mask"])
            assert env.unwrapped.action_masks()[action] == 1
            observation, reward, terminated, truncated, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
            if terminated or truncated:
                ends += 1
                assert info["episode"]["r"] == pytest.approx(reward)
                assert info["winner"] in (-1, 0, 1) and info["closing"] in ("none", "normal", "in_hand")
                assert not info["illegal_action"] and info["hand_points"].dtype == info["scores"].dtype == np.int64
                observation, info = env.reset()
        assert ends > 3


def test_what_it_gives() -> None:
    env = Scala40Env(TWO, "random")
    observation, info = env.reset(seed=7)
    assert observation.dtype == np.int8 and observation.shape == (schema_of(TWO).size,)
    assert info["action_mask"].dtype == np.int8 and (info["action_mask"] == env.action_masks()).all()
    assert env.action_space.n == NUM_ACTIONS == len(info["action_mask"])
    assert Scala40Env(Rules.fisca(buying=True), "random").action_space.n == NUM_ACTIONS_EXTENDED
    observation, reward, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
    assert (type(reward), type(terminated), type(truncated), type(info["seat"])) == (float, bool, bool, int)
    assert (reward, terminated, truncated) == (0.0, False, False)


def test_the_deal_is_that_of_the_game_with_the_seed() -> None:
    for seed in (0, 7, 2**64 - 1):
        env = Scala40Env(TWO, "random", episode="match")
        env.reset(seed=seed)
        game = Game(TWO, seed=seed)
        assert env.games["seed"][0] == seed and env.games["dealer"][0] == game.dealer
        if game.turn == env.seat:
            assert env.games[0].tobytes() == game.state[0].tobytes()


def test_an_illegal_action() -> None:
    env = Scala40Env(TWO, "random")
    env.reset(seed=0)
    before = env.games.tobytes()
    observation, reward, terminated, truncated, info = env.step(634)
    assert (reward, terminated, truncated, info["illegal_action"]) == (-1.0, True, False, True)
    assert env.games.tobytes() == before and observation in env.observation_space and not info["action_mask"].any()
    with pytest.raises(ResetNeeded):
        env.step(0)
    strict = Scala40Env(TWO, "random", illegal_action="raise")
    with pytest.raises(ResetNeeded):
        strict.step(0)
    strict.reset(seed=0)
    before = strict.games.tobytes()
    for action in (634, -1, NUM_ACTIONS, 2**40):
        with pytest.raises(IllegalMove):
            strict.step(action)
    wrong: list[Any] = [1.5, None, "stock"]
    for action in wrong:
        with pytest.raises(BadArgument, match="action = "):
            strict.step(action)
    assert strict.games.tobytes() == before
    strict.step(int(strict.action_masks().argmax()))


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "x"])
def test_seeds_that_are_none(seed: Any) -> None:
    with pytest.raises((ValueError, gymnasium.error.Error)):
        Scala40Env(TWO, "random").reset(seed=seed)


@pytest.mark.parametrize("episode", ["hand", "match"])
@pytest.mark.parametrize("opponents", ["greedy", "random"])
def test_copies_go_on_alike(opponents: str, episode: Any) -> None:
    env = Scala40Env(TWO, opponents, episode=episode)
    env.reset(seed=3)
    for _ in range(5):
        env.step(int(env.action_masks().argmax()))
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    played = []
    for each in (env, *twins):
        kept = []
        for _ in range(fewer(60)):
            masks = each.action_masks()
            result = each.step(int(masks.argmax())) if masks.any() else each.reset()
            kept.append(repr(result))
        played.append(kept)
    assert played[0] == played[1] == played[2]


def test_names_come_from_whatever_makes_them() -> None:
    import agents

    named: list[str] = []

    def make(name: str) -> Any:
        named.append(name)
        return agents.make("random")

    Scala40Env("casa", "bot", make_opponent=make)
    assert named == ["bot"]
    Scala40Env("casa", "random", make_opponent="agents:make")


def test_the_environment_stands_without_agents() -> None:
    """Only the name of an opponent loads `agents`, and the registration loads no kernel."""
    code = (
        "import sys, gymnasium\n"
        "from scala40_env.gym_registration import register_gymnasium\n"
        "register_gymnasium()\n"
        "gymnasium.spec('Scala40-v0')\n"
        "assert not {'numba', 'agents', 'pettingzoo'} & set(sys.modules)\n"
        "class Bot:\n"
        "    name = 'bot'\n"
        "    def act_batch(self, views, rngs):\n"
        "        return [view.legal_actions()[0] for view in views]\n"
        "env = gymnasium.make('Scala40-v0', rules='casa', opponents=Bot())\n"
        "env.reset(seed=0)\n"
        "assert 'numba' in sys.modules and 'agents' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_drawing() -> None:
    env = Scala40Env(TWO, "random", render_mode="ansi")
    assert Scala40Env(TWO, "random").render() is None
    with pytest.raises(ResetNeeded):
        env.render()
    env.reset(seed=1)
    view = Game._of_state(env.games, TWO).view(env.seat)
    assert env.render() == render.ansi_of(view)
    with pytest.raises(BadArgument, match="render_mode"):
        Scala40Env(TWO, "random", render_mode="png")  # type: ignore[arg-type]
    svg: Any = Scala40Env(TWO, "random", render_mode="svg")
    svg.reset(seed=1)
    assert svg.render().startswith("<svg")
    svg.close()
