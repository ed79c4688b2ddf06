"""`check_env` passes the environment as it is, and fails every copy of it with a bug planted."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from scala40_env import Rules, scala40_v0, testing
from scala40_env.aec import Observation, Scala40AEC
from scala40_env.kernels.engine import start_match
from scala40_env.kernels.jit import JIT_DISABLED
from scala40_env.kernels.state import BUY, PLAY
from scala40_env.observation import schema_of
from scala40_env.rewards import HandOutcome
from scala40_env.rules.reading import number, numbers
from scala40_env.testing import check_env
from tests.walks import fewer

THREE = Rules(num_players=3)
MATCH = Rules(num_players=3, limit=61)
BUYING = Rules(num_players=4, buying=True, opening_points=0, hand_size=8, attaching_discard="allowed")
Check = Callable[..., None]


class LeaksAHand(Scala40AEC):
    """Shows in the observation whether the next seat holds jokers."""

    def observe(self, agent: str) -> Observation:
        seen = super().observe(agent)
        other = (self.possible_agents.index(agent) + 1) % self.rules.num_players
        seen["observation"][0] = int(self.games["one"][0, other]) & 1
        return seen


class LeaksInTheInfo(Scala40AEC):
    def step(self, action: int | None) -> None:
        super().step(action)
        for agent in self.infos:
            self.infos[agent] = {"jokers": numbers(self.games, "jokers")}


class LeaksInTheDrawing(Scala40AEC):
    def draw(self, mode: Any, seat: int | None = None) -> Any:
        return super().draw(mode, None)


class LeaksToWhoIsAsked(Scala40AEC):
    """Tells the seat that has drawn what the others hold, when one of them is asked whether it would buy."""

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        super().step(action)
        if agent in self.infos and number(self.games, "phase") == BUY:
            self.infos[agent] = {"one": numbers(self.games, "one")}


class DrawsNoPozzo(Scala40AEC):
    def draw(self, mode: Any, seat: int | None = None) -> Any:
        return "\n".join(line for line in str(super().draw(mode, seat)).splitlines() if "pozzo" not in line)


class BlindToThePozzo(Scala40AEC):
    def observe(self, agent: str) -> Observation:
        seen = super().observe(agent)
        for name, part in schema_of(self.rules).split(seen["observation"]).items():
            if name.startswith(("pozzo", "attaches")):
                part[:] = 0
        return seen


class HidesInTheState(Scala40AEC):
    def state(self) -> Any:
        state = super().state()
        state[:] = 0
        return state


class MaskForEverybody(Scala40AEC):
    def observe(self, agent: str) -> Observation:
        seen = super().observe(agent)
        seen["action_mask"] = super().observe(self.agent_selection)["action_mask"]
        return seen


class MaskLacksAnAction(Scala40AEC):
    """Nothing can be discarded but the lowest card."""

    def observe(self, agent: str) -> Observation:
        seen = super().observe(agent)
        if number(self.games, "phase") == PLAY and seen["action_mask"].any():
            first = int(np.flatnonzero(seen["action_mask"])[0])
            seen["action_mask"][first + 1 :] = 0
        return seen


class MaskAllowsTooMuch(Scala40AEC):
    def observe(self, agent: str) -> Observation:
        seen = super().observe(agent)
        if seen["action_mask"][0]:
            seen["action_mask"][1] = 1
        return seen


class MaskIsBool(Scala40AEC):
    def observe(self, agent: str) -> Observation:
        seen = super().observe(agent)
        seen["action_mask"] = seen["action_mask"].astype(np.int16)  # type: ignore[typeddict-item]
        return seen


class MaskIsEmpty(Scala40AEC):
    def observe(self, agent: str) -> Observation:
        seen = super().observe(agent)
        seen["action_mask"][2:] = 0
        return seen


class SharesItsBuffers(Scala40AEC):
    def observe(self, agent: str) -> Observation:
        seen = super().observe(agent)
        if seen["action_mask"].any():
            return {"observation": self._seen, "action_mask": seen["action_mask"]}
        return seen


class ForgetsTheLoser(Scala40AEC):
    """Pays nobody but who is selected: the learner whose opponent closes gets nothing."""

    def _pay(self, outcome: HandOutcome) -> None:
        super()._pay(outcome)
        for agent in self.agents:
            if agent != self.agent_selection:
                self._cumulative_rewards[agent] = 0.0


class DropsTheLoser(Scala40AEC):
    """Takes who has lost off the list before it could be told."""

    def _end_hand(self) -> None:
        super()._end_hand()
        if len(self.agents) > 1 and self.terminations[self.agents[-1]]:
            gone = self.agents.pop()
            for each in (self.terminations, self.truncations, self.rewards, self._cumulative_rewards, self.infos):
                del each[gone]


class NeverEliminates(Scala40AEC):
    def _go_on(self, outcome: HandOutcome) -> None:
        outcome.eliminated[:] = False
        super()._go_on(outcome)


class TruncatesClosedHands(Scala40AEC):
    def _end_hand(self) -> None:
        super()._end_hand()
        self.terminations, self.truncations = self.truncations, self.terminations


class ForgetsTheSeed(Scala40AEC):
    """The first seed holds for ever."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed if self.game_seed is None else self.game_seed)


class ForgetsTheSeedAfterReset(Scala40AEC):
    """The next episodes are drawn by lot, whatever the seed was."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(secrets.randbits(32) if seed is None else seed)


class UsesTheGlobalGenerator(Scala40AEC):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed)
        self.games["seed"] = np.random.randint(1 << 30)
        start_match(self.games, 0)
        self.refresh()
        self._seat_agents()


class DropsACard(Scala40AEC):
    def step(self, action: int | None) -> None:
        super().step(action)
        if number(self.games, "stock_n") == 60:
            self.games["stock_n"] -= 1


class DoublesACard(Scala40AEC):
    def step(self, action: int | None) -> None:
        super().step(action)
        pile = self.games["pile"][0]
        pile[0] = pile[1]


class SelectsTheWrongSeat(Scala40AEC):
    def step(self, action: int | None) -> None:
        super().step(action)
        if self.agents and not self.terminations[self.agent_selection] and number(self.games, "turns_played") == 3:
            self.agent_selection = self.possible_agents[0]


class NewSpacesEveryTime(Scala40AEC):
    def action_space(self, agent: str) -> Any:
        return type(self.action_spaces[agent])(self.action_spaces[agent].n)  # type: ignore[attr-defined]

    def observation_space(self, agent: str) -> Any:
        return self._observation_space()


class CopiesShareTheGame(Scala40AEC):
    def __deepcopy__(self, memo: dict[int, Any]) -> Scala40AEC:
        twin = type(self)(self.rules)
        twin.__dict__.update(self.__dict__)
        return twin


class PicklesForgetTheGame(Scala40AEC):
    def __reduce__(self) -> Any:
        def_state = self.__getstate__()
        return _begun_anew, (type(self), def_state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Scala40AEC:
        twin = type(self)(self.rules)
        twin.__setstate__({**self.__getstate__(), **_copied(self)})
        return twin


def _begun_anew(kind: type[Scala40AEC], state: dict[str, Any]) -> Scala40AEC:
    twin = kind(state["rules"])
    twin.reset(0)
    return twin


def _copied(env: Scala40AEC) -> dict[str, Any]:
    from copy import deepcopy

    names = ("games", "agents", "rewards", "terminations", "truncations", "infos", "_cumulative_rewards", "_seen")
    return {name: deepcopy(getattr(env, name)) for name in (*names, "_mask")}


PLANTED: list[tuple[type[Scala40AEC], Check, Rules, str, str]] = [
    (LeaksAHand, testing.check_leaks, THREE, "hand", "observation of player_. shows cards"),
    (LeaksInTheInfo, testing.check_leaks, THREE, "hand", "info of player_. shows cards"),
    (LeaksInTheDrawing, testing.check_leaks, THREE, "hand", r"drawing \(ansi\) of player_. shows cards"),
    (LeaksToWhoIsAsked, testing.check_leaks, BUYING, "hand", "info of player_. shows cards.* after its action"),
    (BlindToThePozzo, testing.check_leaks, THREE, "hand", "observation of player_. does not show the top of the pozzo"),
    (DrawsNoPozzo, testing.check_leaks, THREE, "hand", r"drawing \(ansi\) of player_. does not show the top"),
    (HidesInTheState, testing.check_leaks, THREE, "hand", "does not show the hidden cards"),
    (MaskForEverybody, testing.check_masks, THREE, "hand", "not legal for it now"),
    (MaskLacksAnAction, testing.check_masks, THREE, "hand", "lacks the legal actions"),
    (MaskAllowsTooMuch, testing.check_masks, THREE, "hand", r"allows \[1\]"),
    (MaskIsBool, testing.check_masks, THREE, "hand", "not int8"),
    (MaskIsEmpty, testing.check_masks, THREE, "hand", "lacks the legal actions|is empty"),
    (SharesItsBuffers, testing.check_spaces, THREE, "hand", "writing into an observation"),
    (ForgetsTheLoser, testing.check_rewards, THREE, "hand", "has -?0.* coming"),
    (ForgetsTheLoser, testing.check_rewards, MATCH, "match", "has -?0.* coming"),
    (DropsTheLoser, testing.check_rewards, THREE, "hand", "gone before it was given its last reward"),
    (NeverEliminates, testing.check_rewards, MATCH, "match", r"not \(True, False\)|and still play"),
    (TruncatesClosedHands, testing.check_rewards, THREE, "hand", r"\(terminated, truncated\)"),
    (ForgetsTheSeed, testing.check_determinism, THREE, "hand", "same cards"),
    (ForgetsTheSeedAfterReset, testing.check_determinism, THREE, "hand", "second environment with the same seed"),
    (UsesTheGlobalGenerator, testing.check_determinism, THREE, "hand", "second environment with the same seed"),
    (DropsACard, testing.check_spaces, THREE, "hand", "cards are lost"),
    (DoublesACard, testing.check_spaces, THREE, "hand", "or made"),
    (SelectsTheWrongSeat, testing.check_spaces, THREE, "hand", "is selected, but player_"),
    (NewSpacesEveryTime, testing.check_spaces, THREE, "hand", "a space is not the same twice"),
    (CopiesShareTheGame, testing.check_copies, THREE, "hand", "changes the environment|go on as"),
    (PicklesForgetTheGame, testing.check_copies, THREE, "hand", "pickle does not stand"),
]


@pytest.mark.parametrize(
    ("kind", "check", "rules", "episode", "message"),
    PLANTED,
    ids=[f"{kind.__name__}-{episode}" for kind, _, _, episode, _ in PLANTED],
)
def test_a_planted_bug_is_caught(
    kind: type[Scala40AEC], check: Check, rules: Rules, episode: str, message: str
) -> None:
    make = partial(kind, rules=rules, episode=episode)
    with pytest.raises(AssertionError, match=message) as caught:
        check(make)
    assert "position: " in str(caught.value)  # says where
    if not JIT_DISABLED:
        with pytest.raises(AssertionError):
            check_env(make)


def test_pettingzoos_tests_are_run() -> None:
    class Loud(Scala40AEC):
        def observe(self, agent: str) -> Observation:
            seen = super().observe(agent)
            seen["observation"][:] = 0
            return seen

    with pytest.raises(AssertionError, match="PettingZoo warns: Observation numpy array is all zeros"):
        testing.check_pettingzoo(Loud)


def test_max_laps_are_max_cycles() -> None:
    class MoreLaps(Scala40AEC):
        def __init__(self, rules: Rules = THREE, **kwargs: Any) -> None:
            super().__init__(rules.replace(max_laps=rules.max_laps + 1), **kwargs)

    with pytest.raises(AssertionError):
        testing.check_pettingzoo(MoreLaps, decisions=10)


def test_an_episode_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(Scala40AEC):
        def _end_hand(self) -> None:
            self.reset()

    monkeypatch.setattr(testing, "MOST_STEPS", 2000)
    with pytest.raises(AssertionError, match="the episode does not end"):
        testing.check_determinism(Endless)


def test_rewards_that_should_sum_to_zero_and_do_not() -> None:
    with pytest.raises(AssertionError, match="sum to"):
        testing.check_rewards(partial(scala40_v0.env, rules=THREE, reward="negative_points"), zero_sum=True)
    testing.check_rewards(partial(scala40_v0.env, rules=THREE, reward="negative_points"))


def test_other_environments_are_refused() -> None:
    class Other:
        unwrapped = None

    with pytest.raises(AssertionError, match="variants of Scala40AEC, not for NoneType"):
        testing.check_masks(lambda: _unwrapped(Other()))


def _unwrapped(env: Any) -> Any:
    env.reset = lambda seed=None: None
    env.agents = ["player_0"]
    return env


@pytest.mark.parametrize("make", [scala40_v0.env, scala40_v0.raw_env])
@pytest.mark.parametrize("episode", ["hand", "match"])
def test_the_environment_passes(make: Any, episode: str) -> None:
    check_env(partial(make, rules=THREE, episode=episode), decisions=fewer(200), render_modes=("ansi", "svg"))
