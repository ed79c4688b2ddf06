"""How each library is played: libraries that are not installed here are stood in for by small ones of the same form."""

from __future__ import annotations

import ast
import io
import json
import random
import sys
import warnings
from collections import Counter
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from experiments.peers import worker
from experiments.peers.cases import CASES, LIBRARIES, PLAYERS, RESETS
from experiments.peers.players import nothing, ours
from scala40_env import Rules, scala40_v0
from scala40_env.testing import UNAVOIDABLE
from scala40_env.vector import SelfPlayVectorEnv

SETTINGS = {"core": None, "num_players": 2, "num_envs": 3, "observation_size": 30, "num_actions": 20}


def made(library: str) -> dict[str, Any]:
    return worker.Worker(str(PLAYERS / f"{library}.py"), SETTINGS).makers


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries that are not there have a version all the same."""
    monkeypatch.setattr(worker, "version", lambda name: "1")


# ---------------------------------------------------------------------------------------------------------------------
# The worker


def test_files_for_other_environments_import_nothing_of_this_project() -> None:
    files = [Path(worker.__file__), *(PLAYERS / f"{library}.py" for library in LIBRARIES if library != "ours")]
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or "."] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & {"experiments", "scala40_env", "agents", ""}, file


def test_every_case_has_its_players(versions: None, standing_in: Any) -> None:
    for library in LIBRARIES:
        assert set(made(library)) == {case.name for case in (*CASES, *RESETS) if case.library == library}


def test_time_is_taken_until_it_is_enough() -> None:
    """A decision takes a hundredth of a second by this clock: a run of one second has a hundred, or hardly more."""
    clock = SimpleNamespace(now=5.0)

    def play(decisions: int) -> int:
        clock.now += 0.01 * decisions
        return decisions

    decisions, took = worker.timed(play, 1.0, lambda: clock.now)
    assert 100 <= decisions <= 110 and took == pytest.approx(0.01 * decisions)


def test_a_clock_that_stands_still_at_first_is_waited_for() -> None:
    clock = SimpleNamespace(made=0)

    def play(decisions: int) -> int:
        clock.made += decisions
        return decisions

    decisions, took = worker.timed(play, 1.0, lambda: float(clock.made // 1000))
    assert took >= 1.0 and decisions >= 1000


def test_requests_are_answered_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "players.py").write_text(
        "LIBRARIES = ('numpy',)\nCASES = {'one': lambda loops, settings: lambda decisions: settings['n'] * decisions}\n"
    )
    asked = [json.dumps({"case": "one", "seconds": 0.001})] * 2 + [json.dumps({"case": "two", "seconds": 0.001})]
    answers = io.StringIO()
    worker.serve(io.StringIO("\n".join(asked)), answers, str(tmp_path / "players.py"), {"n": 7})
    first, *rates, last = map(json.loads, answers.getvalue().splitlines())
    assert first == {"cases": ["one"], "versions": {"numpy": np.__version__}}
    assert [answer["decisions"] % 7 for answer in rates] == [0, 0] and last == {"error": "KeyError: 'two'"}


def test_the_choice_is_legal_and_even() -> None:
    loops = worker.Loops()
    mask = np.zeros(50, np.int8)
    mask[[3, 17, 49]] = 1
    chosen = Counter(int(loops.choose_masked(mask)) for _ in range(3000))
    assert set(chosen) == {3, 17, 49} and min(chosen.values()) > 850
    assert {loops.choose(["a", "b"]) for _ in range(50)} == {"a", "b"}


def test_the_choice_for_many_rows_is_legal_and_even() -> None:
    choose = ours.RowChoice(3, 50)
    masks = np.zeros((3, 50), np.int8)
    masks[0, [3, 17, 49]] = masks[1, [0]] = masks[2, [0, 49]] = 1
    chosen = np.array([choose(masks) for _ in range(2000)])
    counts = [Counter(column.tolist()) for column in chosen.T]
    assert [set(count) for count in counts] == [{3, 17, 49}, {0}, {0, 49}]
    assert min(counts[0].values()) > 550 and min(counts[2].values()) > 850


# ---------------------------------------------------------------------------------------------------------------------
# Environments that do nothing


@pytest.mark.parametrize("wrap", [lambda env: env, nothing.wrapped])
def test_the_aec_environment_passes_pettingzoos_tests(wrap: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it imports old environments of its own
        from pettingzoo.test import api_test, seed_test
    with warnings.catch_warnings():
        for message in (*UNAVOIDABLE, "Environment has not defined a render"):
            warnings.filterwarnings("ignore", message)
        api_test(wrap(nothing.NothingAEC(3, 30, 20)), num_cycles=20)
        seed_test(lambda: wrap(nothing.NothingAEC(3, 30, 20)), num_cycles=20)


def test_observations_are_the_callers() -> None:
    env = nothing.NothingAEC(2, 30, 20)
    env.reset()
    env.observe("player_0")["observation"][:] = 2
    assert env.observe("player_0")["observation"].max() == 1
    assert env.observe("player_0")["action_mask"].sum() == nothing.LEGAL


def test_the_gymnasium_environment_passes_its_check() -> None:
    env = nothing.made_by_gymnasium(30, 20)
    check_env(env.unwrapped, skip_render_check=True)
    assert env.reset()[0].shape == (30,) and env.step(0)[4]["action_mask"].shape == (20,)


def test_they_are_wrapped_as_ours() -> None:
    def layers(env: Any) -> list[type]:
        return [type(env), *(layers(env.env) if hasattr(env, "env") else [])]

    assert layers(nothing.wrapped(nothing.NothingAEC(2, 30, 20)))[:-1] == layers(scala40_v0.env())[:-1]


def test_all_cases_of_nothing_are_played() -> None:
    for make in made("nothing").values():
        assert make(worker.Loops(), SETTINGS)(25) == 25


# ---------------------------------------------------------------------------------------------------------------------
# Ours


@pytest.mark.jit
def test_all_forms_of_ours_are_played() -> None:
    for name, make in ours.CASES.items():
        play = make(worker.Loops(), SETTINGS)
        asked = 2 if name.startswith("reset") else 500  # some hands long
        assert asked <= play(asked) < asked + 3, name


def test_the_aec_loop_goes_through_ends() -> None:
    env = scala40_v0.env(rules=Rules(num_players=2, max_laps=1))
    resets: list[int] = []
    reset = env.reset
    env.reset = lambda *args, **kwargs: (resets.append(1), reset(*args, **kwargs))[1]
    play = worker.Loops().aec(env)
    assert play(7) == 7 and play(20) == 20 and len(resets) > 3


def test_the_vector_is_played_by_its_masks() -> None:
    env = SelfPlayVectorEnv(3, Rules(num_players=2, max_laps=1))
    assert ours._vector(env)(10) == 12


# ---------------------------------------------------------------------------------------------------------------------
# Theirs


class _State:
    """A game of OpenSpiel's form: three chance nodes, then four decisions."""

    log: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        self.moves = 0

    def is_terminal(self) -> bool:
        return self.moves == 7

    def is_chance_node(self) -> bool:
        return self.moves < 3

    def current_player(self) -> int:
        return self.moves % 2

    def legal_actions(self) -> list[int]:
        return [2, 5]

    def apply_action(self, action: int) -> None:
        assert action in (2, 5) and not self.is_terminal()
        self.moves += 1
        self.log["applied"] += 1

    def observation_tensor(self) -> list[float]:
        self.log["tensor"] += 1
        return []


class _RLCard:
    """An environment, and a game and its judge, of RLCard's form: games of five decisions."""

    def __init__(self) -> None:
        self.game = self.judge = self
        self.moves = self.begun = 0

    def reset(self) -> Any:
        self.moves, self.begun = 0, self.begun + 1
        return {"legal_actions": {2: None, 5: None}}, 0

    init_game = reset

    def get_legal_actions(self) -> list[int]:
        return [2, 5]

    def step(self, action: int) -> Any:
        assert action in (2, 5) and not self.is_over()
        self.moves += 1
        return {"legal_actions": {2: None, 5: None}}, 0

    def is_over(self) -> bool:
        return self.moves == 5

    def set_agents(self, agents: list[Any]) -> None:
        self.agents = agents

    def run(self, is_training: bool) -> None:
        state = self.reset()[0]
        while not self.is_over():
            state = self.step(self.agents[self.moves % 2].step(state))[0]


@pytest.fixture
def standing_in(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Small modules in the places of those that are not installed here."""

    def put(name: str, **contents: Any) -> None:
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)

    _State.log.clear()
    observer = SimpleNamespace(set_from=lambda state, player: _State.log.update(observer=player in (0, 1)))
    put("pyspiel", load_game=lambda name: SimpleNamespace(new_initial_state=_State))
    put("open_spiel")
    put("open_spiel.python")
    put("open_spiel.python.observation", make_observation=lambda game: observer)
    cards = _RLCard()
    put("rlcard", make=lambda name: cards)
    gin = SimpleNamespace(
        raw_env=lambda: nothing.NothingAEC(2, 30, 20), env=lambda: nothing.wrapped(nothing.NothingAEC(2, 30, 20))
    )
    put("pettingzoo.classic", gin_rummy_v4=gin)
    return cards


@pytest.mark.parametrize("case", ["openspiel_apply", "openspiel_tensor", "openspiel_observer"])
def test_openspiels_decisions_count_and_its_chance_does_not(versions: None, standing_in: Any, case: str) -> None:
    play = made("openspiel")[case](worker.Loops(), {})
    assert play(6) == 6
    assert _State.log["applied"] == 6 + 2 * 3
    assert _State.log["tensor"] == (6 if case == "openspiel_tensor" else 0)
    assert _State.log["observer"] == (6 if case == "openspiel_observer" else 0)


@pytest.mark.parametrize(("case", "decisions"), [("rlcard_run", 15), ("rlcard_step", 12), ("rlcard_game", 12)])
def test_rlcards_decisions_count(versions: None, standing_in: Any, case: str, decisions: int) -> None:
    assert made("rlcard")[case](worker.Loops(), {})(12) == decisions
    assert standing_in.begun == 3


@pytest.mark.parametrize("case", ["pettingzoo_raw_env", "pettingzoo_env", "pettingzoo_benchmark"])
def test_pettingzoos_decisions_count(versions: None, standing_in: Any, case: str) -> None:
    random.seed(1)
    assert made("pettingzoo")[case](worker.Loops(), {})(12) == 12
