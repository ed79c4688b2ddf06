"""The AEC environment: PettingZoo's tests on every preset, ends and rewards in scripted hands, arguments, copies."""

from __future__ import annotations

import copy
import importlib
import pickle
import random
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pettingzoo
import pytest
from gymnasium.spaces import Box, Dict, Discrete

from scala40_env import Game, IllegalMove, Rules, registration, scala40_v0
from scala40_env.aec import Scala40AEC
from scala40_env.arguments import RENDER_MODES, BadArgument, episode_rules, following_seed
from scala40_env.observation import schema_of, state_schema_of
from scala40_env.rewards import BadReward, HandOutcome
from scala40_env.rules.config import PRESET_MAX_PLAYERS, PRESETS
from scala40_env.rules.errors import BadRules
from scala40_env.rules.moves import NUM_ACTIONS, NUM_ACTIONS_EXTENDED
from scala40_env.rules.position import from_position
from scala40_env.rules.reading import numbers
from scala40_env.testing import _pettingzoo_tests, check_env, check_leaks, check_masks, check_pettingzoo
from tests.optional import library
from tests.walks import RULE_SETS, fewer, name_of

ROOT = Path(__file__).parents[1]
DOCS = (ROOT / "docs" / "environment.md").read_text()
TABLES = [
    Rules.from_preset(preset, num_players=players)
    for preset in PRESETS
    for players in range(2, PRESET_MAX_PLAYERS.get(preset, 6) + 1)
]
SPECIAL = [
    Rules(num_players=4, team_size=2, limit=151),
    Rules(num_players=6, team_size=3, team_score="worst", limit=61),
    Rules(num_players=4, buying=True, opening_points=0, attaching_discard="allowed"),
    Rules(num_players=3, match="hands", num_hands=2),
    Rules(num_players=3, match="total", limit=61),
    Rules(num_players=3, dead_hand_reshuffles=1, abandoned_hand="void", hand_size=5, limit=61),
    Rules.casa(num_players=5, reentries=None, limit=61, max_laps=8),
]


def to_the_end(env: Any, rng: random.Random | None = None) -> dict[str, float]:
    """Play to the end at random; what `last` has paid every agent, its terminal step too."""
    rng = rng or random.Random(0)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, _ = env.last()
        paid[agent] += reward
        legal = np.flatnonzero(seen["action_mask"]).tolist()
        env.step(None if terminated or truncated else rng.choice(legal))
    return paid


def leave(env: Any) -> dict[str, tuple[float, bool, bool]]:
    """Let the agents leave that are done: what `last` told each of them, in order."""
    told = {}
    while env.agents and (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
        _, reward, terminated, truncated, _ = env.last()
        told[env.agent_selection] = (reward, terminated, truncated)
        env.step(None)
    return told


def at_position(env: Any, position: dict[str, Any]) -> Any:
    """The environment with its game as the position says."""
    raw = env.unwrapped
    env.reset(seed=5)
    rules = episode_rules(raw.rules, raw.episode).to_dict()
    raw.games[:] = from_position({"rules": rules, **position})
    raw.refresh()
    raw.agent_selection = raw.possible_agents[int(raw.games["turn"][0])]
    return env


def play(env: Any, text: str) -> None:
    """Play moves in notation."""
    raw = env.unwrapped
    for move in text.split("; "):
        before = Game._of_state(raw.games.copy(), episode_rules(raw.rules, raw.episode))
        for action in list(before.copy().play(move)._tape):
            env.step(action)


# -- PettingZoo's tests ---------------------------------------------------------------------------------------------


every_table = pytest.mark.parametrize(
    ("rules", "episode"),
    [(r, e) for r in TABLES for e in ("hand", "match")],
    ids=[f"{name_of(r)}-{e}" for r in TABLES for e in ("hand", "match")],
)


@every_table
def test_pettingzoos_tests_pass(rules: Rules, episode: str) -> None:
    """Its api, seed, max_cycles and render tests."""
    check_pettingzoo(partial(scala40_v0.env, rules=rules, episode=episode), decisions=fewer(150))
    check_pettingzoo(partial(scala40_v0.raw_env, rules=rules, episode=episode), decisions=fewer(50))


@every_table
def test_pettingzoos_performance_benchmark_runs(
    rules: Rules, episode: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For fifty cycles, which its clock takes for five seconds."""
    _pettingzoo_tests()  # imports them without the warnings of environments of its own
    module: Any = importlib.import_module("pettingzoo.test.performance_benchmark")
    for make in (scala40_v0.env, scala40_v0.raw_env):
        ticks = iter(np.arange(0, 10, 0.1).tolist())
        monkeypatch.setattr(module, "time", SimpleNamespace(time=ticks.__next__))
        module.performance_benchmark(make(rules=rules, episode=episode))
        assert "Finished performance benchmark" in capsys.readouterr().out


@pytest.mark.jit
@pytest.mark.parametrize("episode", ["hand", "match"])
@pytest.mark.parametrize("rules", SPECIAL, ids=name_of)
def test_all_checks_pass(rules: Rules, episode: str) -> None:
    cap = {"max_hands": 3} if episode == "match" else {}
    check_env(partial(scala40_v0.raw_env, **{"rules": rules, "episode": episode, **cap}), decisions=fewer(100))


@pytest.mark.once
def test_pettingzoos_tests_and_ours_pass_in_every_render_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    for name in ("resvg_py", "pygame"):
        library(name)
    make = partial(scala40_v0.env, rules=Rules(num_players=3, buying=True), episode="match")
    check_pettingzoo(make, decisions=10, render_modes=RENDER_MODES)
    check_leaks(make, decisions=12, render_modes=("rgb_array",))


@pytest.mark.parametrize("rules", RULE_SETS, ids=name_of)
def test_masks_are_the_legal_moves_under_every_rule_set(rules: Rules) -> None:
    """As long as the space, int8, and nothing but zeros for who is not on move."""
    check_masks(partial(scala40_v0.raw_env, rules=rules, episode="match"), decisions=fewer(120))


# -- interface ------------------------------------------------------------------------------------------------------


def test_metadata_and_names() -> None:
    env = scala40_v0.env(rules=Rules(num_players=3))
    assert str(env) == env.metadata["name"] == "scala40_v0"
    assert env.metadata["is_parallelizable"] is False
    assert env.metadata["render_fps"] > 0
    assert set(env.metadata["render_modes"]) == {"ansi", "svg", "rgb_array", "human"}
    assert env.possible_agents == ["player_0", "player_1", "player_2"]
    assert env.max_num_agents == 3
    assert isinstance(env.unwrapped, Scala40AEC)


@pytest.mark.parametrize(
    ("rules", "n"),
    [(Rules(), NUM_ACTIONS), (Rules(buying=True), NUM_ACTIONS_EXTENDED), (Rules.casa(), NUM_ACTIONS_EXTENDED)],
)
def test_spaces(rules: Rules, n: int) -> None:
    env = scala40_v0.raw_env(rules=rules)
    for agent in env.possible_agents:
        space = env.observation_space(agent)
        assert isinstance(space, Dict)
        observation, mask = space["observation"], space["action_mask"]
        assert isinstance(observation, Box) and isinstance(mask, Box)
        assert observation.dtype == mask.dtype == np.int8
        assert (observation.shape, mask.shape) == ((schema_of(rules).size,), (n,))
        assert env.action_space(agent) == Discrete(n)
    assert env.state_space.shape == (state_schema_of(rules).size,)
    first, second = (env.observation_space(agent) for agent in env.possible_agents[:2])
    assert first is not second  # each with a generator of its own


def test_the_first_seed_deals_as_game_does_and_leads_to_the_next() -> None:
    env = scala40_v0.raw_env(rules="fisca")
    env.reset(seed=42)
    assert numbers(env.games, "one") == numbers(Game(Rules(), seed=42).state, "one")
    env.reset()
    assert env.game_seed == following_seed(42)
    assert numbers(env.games, "one") == numbers(Game(Rules(), seed=following_seed(42)).state, "one")


def test_following_seeds_are_64_bits_and_do_not_repeat() -> None:
    seeds = [0]
    for _ in range(1000):
        seeds.append(following_seed(seeds[-1]))
    assert len(set(seeds)) == 1001
    assert max(seeds).bit_length() == 64
    assert seeds[1] == 0xE220A8397B1DCDAF  # SplitMix64's first number for 0


def test_without_any_seed_the_first_game_is_drawn_by_lot() -> None:
    seeds = set()
    for _ in range(3):
        env = scala40_v0.raw_env()
        env.reset()
        seeds.add(env.game_seed)
    assert len(seeds) == 3


def test_configuration_survives_reset() -> None:
    env = scala40_v0.env(rules=Rules.casa(num_players=3), episode="match", max_hands=1, reward="placement")
    for _ in range(2):
        env.reset(seed=3)
        paid = to_the_end(env)
        assert sum(paid.values()) == pytest.approx(0)
        assert max(paid.values()) <= 1
        assert env.unwrapped.rules == Rules.casa(num_players=3)


@pytest.mark.parametrize("rules", [{"preset": "casa", "num_players": 3}, Rules.casa(num_players=3)])
def test_rules_come_in_several_forms(rules: Any) -> None:
    assert scala40_v0.raw_env(rules).rules == Rules.casa(num_players=3)
    assert scala40_v0.raw_env("casa").rules == Rules.casa()
    assert scala40_v0.raw_env().rules == Rules()


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"rules": "cassa"}, BadRules, "did you mean 'casa'"),
        ({"rules": 4}, BadRules, "allowed are a Rules object, the name of a preset .*, or a dict"),
        ({"rules": {"players": 4}}, BadRules, "players"),
        ({"episode": "game"}, BadArgument, "episode = 'game': allowed are hand, match"),
        ({"episode": None}, BadArgument, "episode = None"),
        ({"reward": "points"}, BadReward, "reward = 'points': allowed are zero_sum_points"),
        ({"render_mode": "svgg"}, BadArgument, "did you mean 'svg'"),
        ({"render_seat": 4}, BadArgument, "render_seat = 4: allowed is an integer from 0 to 3"),
        ({"render_seat": True}, BadArgument, "render_seat = True"),
        ({"max_hands": 3}, BadArgument, "only a match has several hands"),
        ({"max_hands": 0, "episode": "match"}, BadArgument, "max_hands = 0: allowed is an integer from 1"),
        ({"max_hands": 2.0, "episode": "match"}, BadArgument, r"max_hands = 2\.0"),
    ],
)
def test_wrong_arguments_are_refused(wrong: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        scala40_v0.env(**wrong)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "7", True])
def test_wrong_seeds_are_refused(seed: Any) -> None:
    with pytest.raises(BadArgument, match=r"seed = .*: allowed is an integer from 0 to 18446744073709551615"):
        scala40_v0.raw_env().reset(seed=seed)


def test_order_of_calls() -> None:
    env = scala40_v0.raw_env(rules=Rules(num_players=2), render_mode="ansi")
    for call in (lambda: env.step(0), lambda: env.observe("player_0"), env.state, env.render):
        with pytest.raises(BadArgument, match=r"before reset\(\)"):
            call()
    env.reset(seed=0)
    for call in (lambda: env.observe("player_2"), lambda: env.action_space("x"), lambda: env.observation_space("")):
        with pytest.raises(BadArgument, match="the agents are player_0, player_1"):
            call()
    to_the_end(env)
    with pytest.raises(BadArgument, match=r"call reset\(\)"):
        env.step(0)
    assert env.observe("player_0")["action_mask"].sum() == 0  # any seat can still be looked at
    assert isinstance(env.render(), str)


@pytest.mark.parametrize(("action", "message"), [(1, "pozzo"), (635, "actions are integers from 0 to 634"), (-1, "-1")])
def test_an_illegal_action_raises_and_changes_nothing(action: int, message: str) -> None:
    env = scala40_v0.raw_env()
    env.reset(seed=1)
    before = env.state().tobytes()
    with pytest.raises(IllegalMove, match=message) as caught:
        env.step(action)
    assert caught.value.position is not None
    assert env.state().tobytes() == before
    env.step(np.int64(0))


@pytest.mark.parametrize("action", [None, "stock", 1.0])
def test_what_is_no_action_raises(action: Any) -> None:
    env = scala40_v0.raw_env()
    env.reset(seed=1)
    with pytest.raises(IllegalMove, match="no action of this space"):
        env.step(action)


def test_in_the_wrappers_an_illegal_action_ends_the_game() -> None:
    env = scala40_v0.env(rules=Rules(num_players=3))
    env.reset(seed=1)
    player = env.agent_selection
    env.step(1)
    paid = to_the_end(env)
    assert paid.pop(player) == scala40_v0.ILLEGAL_REWARD
    assert set(paid.values()) == {0}
    with pytest.raises(AssertionError, match="not in action space"):
        env.reset(seed=1)
        env.step(9999)


# -- rewards and ends ----------------------------------------------------------------------------------------------

SCRIPT = """stock; discard 6d
stock; meld 8h *9h Th; meld 3c 4c 5c 6c 7c; discard 9c
stock; discard 3h
stock; discard 9c
stock; meld 3s 3h 3c; meld Ts Js Qs Ks; swap 9h 1; meld 5h *6h 7h; discard Kc
stock; attach As 4 high; discard Ac
stock; discard 9d
pozzo; meld 8d 9d Td; discard 2s
pozzo; meld 2s 2h *2c; discard 4s"""


@pytest.mark.parametrize(
    ("reward", "paid"),
    [
        ("zero_sum_points", (0.02, -0.02)),
        ("negative_points", (0.0, -0.02)),
        ("win_loss", (1.0, -1.0)),
        ("placement", (1.0, -1.0)),
        ("match_win_loss", (1.0, -1.0)),
    ],
)
@pytest.mark.parametrize("make", [scala40_v0.env, scala40_v0.raw_env])
def test_a_scripted_hand_pays_the_closer_and_who_was_waiting(make: Any, reward: str, paid: tuple[float, ...]) -> None:
    env = make(rules=Rules.fisca(num_players=2), reward=reward)
    env.reset(seed=391)
    for turn in SCRIPT.splitlines():
        assert set(env.rewards.values()) == {0}
        play(env, turn)
    assert tuple(env.rewards.values()) == paid
    assert env.infos["player_1"] == {"hand_points": (0, 2), "scores": (0, 2), "winner": 0, "closing": "normal"}
    told = leave(env)
    assert told == {"player_0": (paid[0], True, False), "player_1": (paid[1], True, False)}
    assert env.agents == []


def test_a_reward_of_ones_own() -> None:
    def closed(outcome: HandOutcome) -> list[int]:
        return [int(seat == outcome.winner) for seat in range(outcome.rules.num_players)]

    env = at_position(scala40_v0.env(rules=Rules(num_players=3), reward=closed), CLOSES)
    play(env, "discard 9d")
    assert {agent: reward for agent, (reward, *_) in leave(env).items()} == {
        "player_0": 1,
        "player_1": 0,
        "player_2": 0,
    }


def test_a_wrong_reward_is_told_when_it_pays() -> None:
    env = at_position(scala40_v0.raw_env(rules=Rules(num_players=3), reward=lambda outcome: 1.0), CLOSES)
    with pytest.raises(BadReward, match="3 finite numbers"):
        play(env, "discard 9d")


CLOSES = {"turn": 0, "phase": "play", "hands": ["9d", "6h", "Ac"], "opened": [True] * 3}


def match_at(scores: list[int], rules: Rules | None = None, **kwargs: Any) -> Any:
    """A match of which seat 0 can close the hand with 9d: the others have 6 and 11 points in hand."""
    env = scala40_v0.env(rules=rules or Rules(num_players=3), episode="match", **kwargs)
    return at_position(env, {**CLOSES, "scores": scores})


def test_who_is_eliminated_leaves_and_the_others_go_on() -> None:
    env = match_at([10, 97, 40])
    play(env, "discard 9d")
    assert env.agent_selection == "player_1"
    assert leave(env) == {"player_1": (pytest.approx(0.055 - 0.06), True, False)}
    assert env.agents == ["player_0", "player_2"]
    assert set(env.rewards) == set(env.infos) == set(env.agents)
    assert numbers(env.unwrapped.games, "hand_n") == [13, 0, 13]
    first = env.agent_selection
    _, reward, terminated, truncated, info = env.last()
    assert reward == pytest.approx({"player_0": 0.085, "player_2": 0.03 - 0.11}[first])  # comes at its next turn
    assert not terminated and not truncated
    assert info["scores"] == (10, 103, 51)
    assert env.observe("player_1")["action_mask"].sum() == 0
    paid = to_the_end(env)
    assert env.agents == [] and paid["player_1"] == 0


def test_two_go_out_at_once_and_the_last_one_in_has_won() -> None:
    env = match_at([10, 97, 97], reward="match_win_loss")
    play(env, "discard 9d")
    assert leave(env) == {
        "player_0": (1.0, True, False),
        "player_1": (-0.5, True, False),
        "player_2": (-0.5, True, False),
    }
    assert env.unwrapped.outcome.match_over
    assert env.agents == []


def test_who_comes_back_in_does_not_leave() -> None:
    env = match_at([10, 97, 40], Rules(num_players=3, reentries=1))
    play(env, "discard 9d")
    assert leave(env) == {}
    assert len(env.agents) == 3
    assert env.infos["player_1"]["scores"] == (10, 51, 51)


def test_a_team_goes_out_as_one() -> None:
    rules = Rules(num_players=6, team_size=2)
    env = scala40_v0.env(rules=rules, episode="match", reward="win_loss")
    hands = ["9d", "6h", "Ac", "2s", "Ad", "3h"]
    position = {"turn": 0, "phase": "play", "hands": hands, "opened": [True] * 6, "scores": [10, 97, 40] * 2}
    at_position(env, position)
    play(env, "discard 9d")
    assert leave(env) == {"player_1": (-0.5, True, False), "player_4": (-0.5, True, False)}
    assert env.agents == ["player_0", "player_2", "player_3", "player_5"]


def test_max_hands_truncates_who_is_still_in() -> None:
    env = match_at([10, 97, 40], max_hands=1)
    play(env, "discard 9d")
    ends = {agent: end for agent, (_, *end) in leave(env).items()}
    assert ends == {"player_0": [False, True], "player_1": [True, False], "player_2": [False, True]}
    assert env.agents == []


def test_max_hands_counts_hands() -> None:
    env = scala40_v0.raw_env(rules=Rules(limit=100_000, max_laps=5), episode="match", max_hands=3)
    env.reset(seed=0)
    to_the_end(env)
    assert int(env.games["hand_no"][0]) == 2


@pytest.mark.parametrize("cap", [{"max_laps": 2}, {"dead_hand_reshuffles": 1, "hand_size": 3, "max_laps": 1000}])
def test_an_abandoned_hand_truncates(cap: dict[str, int]) -> None:
    env = scala40_v0.raw_env(rules=Rules(num_players=2, opening_points=1_000, first_lap_closing=True, **cap))
    for seed in range(30):
        env.reset(seed=seed)
        while not env.truncations[env.agent_selection] and not env.terminations[env.agent_selection]:
            env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
        assert env.outcome is not None
        abandoned = env.outcome.closing == "none"
        told = leave(env)
        assert {end for _, *end in told.values() for end in [tuple(end)]} == {(not abandoned, abandoned)}
        assert sum(reward for reward, *_ in told.values()) == pytest.approx(0)
    assert abandoned


def test_an_abandoned_hand_is_no_end_of_a_match() -> None:
    env = scala40_v0.raw_env(rules=Rules(num_players=2, max_laps=1, limit=100_000), episode="match", max_hands=5)
    env.reset(seed=0)
    while int(env.games["hand_no"][0]) == 0:
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
    assert env.infos["player_0"]["closing"] == "none"
    assert not any([*env.truncations.values(), *env.terminations.values()])
    env.step(0)
    assert env.infos["player_0"] == {}  # for one step only
    assert set(env.rewards.values()) == {0}


def test_who_can_buy_is_asked_out_of_turn() -> None:
    env = scala40_v0.env(rules=Rules(num_players=3, buying=True))
    hands = ["2s 4d 9h", "7s 7h Kd", "3c 5c Jd"]
    position = {"turn": 0, "phase": "draw", "hands": hands, "opened": [False, True, False], "pozzo": "7d"}
    at_position(env, {**position, "turns_played": 6})
    assert env.agent_selection == "player_0"
    play(env, "stock")
    assert env.agent_selection == "player_1"
    assert env.observe("player_0")["action_mask"].sum() == 0
    play(env, "pass")
    assert env.agent_selection == "player_0"


# -- drawing ---------------------------------------------------------------------------------------------------------


def test_drawing_as_text_and_svg() -> None:
    rules = Rules(num_players=2)
    env = scala40_v0.env(rules=rules, render_mode="ansi")
    env.reset(seed=391)
    assert "seat 0" in env.render()
    env = scala40_v0.env(rules=rules, render_mode="svg", render_seat=1)
    env.reset(seed=391)
    svg = env.render()
    assert svg.lstrip().startswith("<svg")
    assert svg == env.unwrapped.draw("svg", 1) != env.unwrapped.draw("svg", 0)
    env.close()


def test_without_a_mode_nothing_is_drawn() -> None:
    env = scala40_v0.raw_env()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert env.render() is None


@pytest.mark.once
def test_pixels_and_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    library("resvg_py")
    pygame = library("pygame")
    env = scala40_v0.env(rules=Rules(num_players=2), render_mode="rgb_array", render_seat=1)
    env.reset(seed=391)
    pixels = env.render()
    assert pixels.shape == (720, 960, 3) and pixels.dtype == np.uint8
    assert (pixels == env.unwrapped.draw("rgb_array", 1)).all()
    assert (pixels != env.unwrapped.draw("rgb_array", 0)).any()
    window = scala40_v0.env(rules=Rules(num_players=2), render_mode="human", render_seat=1)
    window.reset(seed=391)
    on_screen = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    assert (on_screen == pixels).all()
    window.step(0)
    assert (pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1) != pixels).any()
    window.close()
    assert pygame.display.get_surface() is None


def test_a_window_is_shown_at_every_step_closed_and_never_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    from scala40_env import render

    class Window:
        def __init__(self) -> None:
            self.shown, self.closed = 0, False

        def show(self, what: Any) -> None:
            self.shown += 1

        def close(self) -> None:
            self.closed = True

        def __deepcopy__(self, memo: Any) -> Any:
            raise AssertionError("a window was copied")

    windows: list[Window] = []
    monkeypatch.setattr(render, "Window", lambda: windows.append(Window()) or windows[-1])
    env = scala40_v0.env(render_mode="human")
    env.reset(seed=0)
    env.step(0)
    copy.deepcopy(env).close()
    assert env.render() is None
    assert [window.shown for window in windows] == [3]
    env.close()
    env.close()
    assert windows[0].closed
    env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))  # usable still: opens another
    assert len(windows) == 2


# -- copies and registration ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [scala40_v0.env, scala40_v0.raw_env])
def test_copies_in_mid_game(make: Any) -> None:
    env = match_at([10, 97, 40]) if make is scala40_v0.env else make(rules=Rules(num_players=3), episode="match")
    if make is scala40_v0.env:
        play(env, "discard 9d")  # somebody has to leave
    else:
        env.reset(seed=8)
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), copy.copy(env.unwrapped)]
    paid = to_the_end(env, random.Random(1))
    for twin in twins:
        assert to_the_end(twin, random.Random(1)) == paid


def test_pettingzoo_makes_it() -> None:
    registration.register_pettingzoo()
    registration.register_pettingzoo()  # once is enough, and twice does no harm
    if not hasattr(pettingzoo, "make"):
        pytest.skip("PettingZoo before 1.27 has no registry")
    env = pettingzoo.make("aec", registration.PETTINGZOO_ID, rules="casa", episode="match")
    assert env.unwrapped.rules == Rules.casa()
    assert pettingzoo.spec("aec", "scala40").name == "scala40"


@pytest.mark.parametrize(
    "imports",
    ["from scala40_env import registration; R(); import pettingzoo", "import pettingzoo; R()"],
)
def test_registering_waits_for_the_import(imports: str) -> None:
    code = "import sys\nfrom scala40_env import registration\nR = registration.register_when_loaded\n"
    first, rest = imports.rsplit("; ", 1)
    light = "assert not {'pettingzoo', 'gymnasium', 'numpy'} & set(sys.modules)\n" if first.endswith("R()") else ""
    check = "assert not hasattr(pettingzoo, 'make') or pettingzoo.spec('aec', 'scala40_v0')"
    script = f"{code}{first}\n{light}{rest}\n{check}\nassert pettingzoo.__spec__.loader.__class__.__name__[0] == 'S'"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


# -- documentation ----------------------------------------------------------------------------------------------------


def test_the_page_has_its_headings() -> None:
    headings = [line[3:] for line in DOCS.splitlines() if line.startswith("## ")]
    assert headings == [
        "Import",
        "Agents",
        "Action space",
        "Observation",
        "Rewards",
        "Episodes and ends",
        "Arguments",
        "Variants",
        "Version history",
    ]


def test_the_table_of_the_observation_is_the_schemas() -> None:
    assert schema_of(Rules()).table() in DOCS, "put schema_of(Rules()).table() into docs/environment.md"
    assert f"{schema_of(Rules()).size} numbers" in DOCS
