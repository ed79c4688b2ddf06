"""Conformance checks for the environment, and for variants of it that you write.

`check_env` runs them all: PettingZoo's own tests with warnings as errors, and what those do not look at. Each check is
a function of its own as well. They raise `AssertionError` with what is wrong, and the position where it is.

>>> from scala40_env import scala40_v0
>>> check_env(scala40_v0.env, decisions=50, pettingzoo=False)
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import pickle
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from pettingzoo import ParallelEnv
from pettingzoo.utils.wrappers import BaseWrapper

from scala40_env.aec import Observation, Scala40AEC
from scala40_env.arguments import RenderMode, episode_rules
from scala40_env.kernels import engine
from scala40_env.kernels.state import HAND_OVER, MATCH_OVER, PACK
from scala40_env.rewards import REWARDS, ZERO_SUM, HandOutcome, outcome_of, pay, reward_function
from scala40_env.rules.cards import JOKER, NUM_NATURALS
from scala40_env.rules.errors import IllegalMove
from scala40_env.rules.moves import POZZO, SLOTS
from scala40_env.rules.position import to_position
from scala40_env.rules.reading import (
    Games,
    hand_of,
    known_of,
    legal_ids,
    melds_of,
    number,
    numbers,
    pozzo_of,
    stock_of,
    words_in,
)

__all__ = [
    "check_copies",
    "check_determinism",
    "check_env",
    "check_leaks",
    "check_masks",
    "check_pettingzoo",
    "check_rewards",
    "check_spaces",
]

Env: TypeAlias = Any
"""A PettingZoo `AECEnv`, wrapped or not; PettingZoo ships no types."""
EnvFunction = Callable[..., Env]

_EAGERNESS = 0.7
"""How often random play lays, attaches or takes from the pozzo where it can: enough for hands to get somewhere."""

_DEALS = 50
"""How often hidden cards are dealt anew to find a deal in which the same seat is asked whether it would buy."""

MOST_STEPS = 1_000_000
"""No episode is longer: a match of a hundred hands of a hundred laps of six players has a third of that."""

UNAVOIDABLE = (
    "Observation space for each agent probably should be",  # it is a Dict, as every masked environment's is
    "Observation is not a NumPy array",  # the same
    "Action mask numpy array is all zeros",  # of agents that are done: there is nothing for them to do
)
"""PettingZoo's warnings that no environment with action masks is without, but for those that it knows by name."""


def check_env(
    env_fn: EnvFunction,
    *,
    seed: int = 0,
    decisions: int = 300,
    render_modes: tuple[RenderMode, ...] = ("ansi",),
    zero_sum: bool | None = None,
    pettingzoo: bool = True,
) -> None:
    """Run all checks. Raises `AssertionError` with what is wrong and where.

    Args:
        env_fn: makes the environment, wrapped or not: `scala40_v0.env`, a subclass of `Scala40AEC`, or a function of
            its keyword arguments (`functools.partial` fixes some).
        seed: of the games and of the random play.
        decisions: how many decisions each check looks at, more or less; whole episodes where it has to.
        render_modes: the modes to draw in; leave out those whose libraries are not installed.
        zero_sum: do the rewards of a hand sum to zero? None: known by the name of the reward.
        pettingzoo: run PettingZoo's own tests too.
    """
    if pettingzoo:
        check_pettingzoo(env_fn, decisions=decisions, render_modes=render_modes)
    check_spaces(env_fn, seed=seed, decisions=decisions)
    check_masks(env_fn, seed=seed, decisions=decisions)
    check_rewards(env_fn, seed=seed, zero_sum=zero_sum)
    check_determinism(env_fn, seed=seed)
    check_copies(env_fn, seed=seed, decisions=decisions)
    check_leaks(env_fn, seed=seed, decisions=decisions, render_modes=render_modes)


# -- the environment under test -----------------------------------------------------------------------------------


def _raw(env: Env) -> Scala40AEC:
    raw = env.unwrapped
    assert isinstance(raw, Scala40AEC), f"check_env is for variants of Scala40AEC, not for {type(raw).__name__}"
    return raw


def _require(holds: bool, env: Env, what: str) -> None:
    """Raise `AssertionError` with the position if something does not hold."""
    if not holds:
        raise AssertionError(f"{what}\n{_where(_raw(env))}")


def _where(raw: Scala40AEC) -> str:
    try:
        position = json.dumps(to_position(raw.games, episode_rules(raw.rules, raw.episode)), ensure_ascii=False)
    except Exception as error:  # a record that is broken may be none that can be told
        position = f"cannot be told: {type(error).__name__}: {error}"
    return f"seed of the game: {raw.game_seed}\nposition: {position}"


def _over(raw: Scala40AEC) -> bool:
    return number(raw.games, "phase") in (HAND_OVER, MATCH_OVER)


def _done(env: Env, agent: str) -> bool:
    return bool(env.terminations[agent] or env.truncations[agent])


def _mask(env: Env, agent: str) -> NDArray[np.int8]:
    return cast(Observation, env.observe(agent))["action_mask"]


def _choose(env: Env, rng: random.Random) -> int | None:
    """A random legal action for the agent selected, from its mask, or None if that agent is done."""
    agent = env.agent_selection
    if _done(env, agent):
        return None
    actions = np.flatnonzero(_mask(env, agent)).tolist()
    _require(bool(actions), env, f"the mask of {agent}, who is on move, is empty")
    eager = [action for action in actions if action == POZZO or action >= SLOTS]
    return int(rng.choice(eager if eager and rng.random() < _EAGERNESS else actions))


def _walk(env_fn: EnvFunction, seed: int, decisions: int) -> Iterator[Env]:
    """Play at random, episode after episode: yields the environment before every step, of agents that are done too."""
    env, rng = env_fn(), random.Random(seed)
    env.reset(seed=seed)
    for _ in range(decisions):
        if not env.agents:
            env.reset()
        yield env
        _step(env, _choose(env, rng))
    env.close()


def _step(env: Env, action: int | None) -> None:
    """Play an action that the mask allows."""
    agent = env.agent_selection
    try:
        env.step(action)
    except IllegalMove as error:
        raise AssertionError(f"step() refuses an action that the mask of {agent} allows: {error}") from error


def _to_the_end(env: Env) -> Iterator[int]:
    """The numbers of the steps of an episode, until no agent is left."""
    for at in range(MOST_STEPS):
        if not env.agents:
            return
        yield at
    _require(False, env, f"the episode does not end: {MOST_STEPS} steps")


# -- PettingZoo's own -----------------------------------------------------------------------------------------------


def check_pettingzoo(
    env_fn: EnvFunction, *, decisions: int = 300, render_modes: tuple[RenderMode, ...] = ("ansi",)
) -> None:
    """PettingZoo's api, seed, max_cycles and render tests; their warnings fail, but for the `UNAVOIDABLE`."""
    tests = _pettingzoo_tests()
    cycles = max(decisions // _raw(env_fn()).rules.num_players, 10)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("error")
        for message in UNAVOIDABLE:
            warnings.filterwarnings("ignore", message)
        try:
            tests.api_test(env_fn(), num_cycles=cycles)
            tests.seed_test(env_fn, num_cycles=cycles)
            tests.max_cycles_test(_turns_module(env_fn))
            tests.render_test(lambda render_mode: _with_modes(env_fn(render_mode=render_mode), render_modes))
        except Warning as warning:
            raise AssertionError(f"PettingZoo warns: {warning}") from warning
        except IllegalMove as error:
            raise AssertionError(f"in PettingZoo's tests step() refuses what the mask allows: {error}") from error


def _pettingzoo_tests() -> Any:
    with warnings.catch_warnings():  # it imports some old environments of its own
        warnings.simplefilter("ignore")
        from pettingzoo import test
    return test


def _with_modes(env: Env, render_modes: tuple[RenderMode, ...]) -> Env:
    """The environment as one that draws in these modes only."""
    env.metadata = {**env.metadata, "render_modes": list(render_modes)}
    return env


class _Turns(BaseWrapper):
    """A step is a whole turn without laying: what PettingZoo's max_cycles test takes a cycle to be.

    That test plays any action, masked or not, and wants every agent to step once a cycle.
    """

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if _done(self, agent):
            super().step(None)
            return
        while self.agents and self.agent_selection == agent and not _done(self, agent):
            super().step(int(np.flatnonzero(_mask(self, agent))[0]))  # the lowest: the stock, then a discard


class _ParallelTurns(ParallelEnv):
    """`_Turns` for PettingZoo's parallel loop: a step is a lap."""

    def __init__(self, turns: _Turns) -> None:
        self._turns = turns

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self._turns.reset(seed, options)
        return {}, {}

    @property
    def agents(self) -> list[str]:
        return list(self._turns.agents)

    def action_space(self, agent: str) -> Any:
        return self._turns.action_space(agent)

    def step(self, actions: dict[str, int | None]) -> Any:
        for agent in actions:
            if not _done(self._turns, agent):
                self._turns.step(None)
        ends = dict(self._turns.terminations), dict(self._turns.truncations)
        return {}, dict(self._turns.rewards), *ends, {}


def _turns_module(env_fn: EnvFunction) -> Any:
    """A module as PettingZoo's max_cycles test takes one; `max_laps` are its cycles, in matches those of one hand."""
    raw = _raw(env_fn())
    form = {"episode": "hand", "max_hands": None} if raw.episode == "hand" else {"episode": "match", "max_hands": 1}

    def env(max_cycles: int) -> _Turns:
        rules = raw.rules.replace(max_laps=max_cycles, dead_hand_reshuffles=None)
        return _Turns(env_fn(rules=rules, **form))

    return SimpleNamespace(env=env, parallel_env=lambda max_cycles: _ParallelTurns(env(max_cycles)))


# -- spaces, seats and cards ------------------------------------------------------------------------------------------


def check_spaces(env_fn: EnvFunction, *, seed: int = 0, decisions: int = 300) -> None:
    """Observations and states lie in their spaces and are the caller's own; seats take turns; 108 cards stay 108."""
    for env in _walk(env_fn, seed, decisions):
        _check_seats(env)
        _check_cards(env)
        for agent in env.possible_agents:
            _require(env.observation_space(agent) is env.observation_space(agent), env, "a space is not the same twice")
            seen = env.observe(agent)
            _require(env.observation_space(agent).contains(seen), env, f"what {agent} observes is not in its space")
            _check_ownership(env, agent)
        _require(_raw(env).state_space.contains(env.state()), env, "the state is not in its space")


def _check_seats(env: Env) -> None:
    """Who is selected is the seat on move, or an agent that has to leave."""
    raw, agent = _raw(env), env.agent_selection
    _require(agent in env.agents, env, f"{agent} is selected and is not among the agents {env.agents}")
    turn = env.possible_agents[number(raw.games, "turn")]
    waiting = [other for other in env.agents if _done(env, other)]
    right = agent in waiting if waiting else agent == turn and not _over(raw)
    _require(right, env, f"{agent} is selected, but {turn} is on move, and {waiting} have to leave")
    out = {env.possible_agents[seat] for seat, flag in enumerate(numbers(raw.games, "out")) if flag}
    playing_on = out & {other for other in env.agents if not _done(env, other)}
    _require(not playing_on, env, f"{sorted(playing_on)} are out of the match and still play")


def _check_cards(env: Env) -> None:
    """Every natural card is there twice, every joker of the pack once, and the sizes of the hands are right."""
    raw = _raw(env)
    games, rules = raw.games, raw.rules
    hands = [hand_of(games, seat) for seat in range(rules.num_players)]
    there = Counter([card for hand in hands for card in hand] + stock_of(games) + pozzo_of(games))
    for meld in melds_of(games):
        there.update(JOKER if card.is_joker else card.card for card in meld.cards())
    wanted = Counter({**dict.fromkeys(range(NUM_NATURALS), 2), JOKER: rules.num_jokers})
    lacking, extra = wanted - there, there - wanted
    _require(not lacking and not extra, env, f"cards are lost {dict(lacking)} or made {dict(extra)}")
    sizes = numbers(games, "hand_n")
    _require([len(hand) for hand in hands] == sizes, env, f"hand_n = {sizes}, but the hands are others")


def _check_ownership(env: Env, agent: str) -> None:
    """Writing into an observation changes nothing inside."""
    first, kept = cast(Observation, env.observe(agent)), _shown(env.observe(agent))
    for array in first.values():
        cast(NDArray[np.int8], array).fill(1)
    _require(_shown(env.observe(agent)) == kept, env, f"writing into an observation of {agent} changes the next one")


def _shown(observation: Observation | None) -> tuple[bytes, bytes]:
    seen = cast(Observation, observation)
    return seen["observation"].tobytes(), seen["action_mask"].tobytes()


# -- masks ----------------------------------------------------------------------------------------------------------


def check_masks(env_fn: EnvFunction, *, seed: int = 0, decisions: int = 300) -> None:
    """Masks are the legal moves of the seat on move and nothing for everybody else; int8, as long as the space."""
    for env in _walk(env_fn, seed, decisions):
        raw = _raw(env)
        turn = None if _over(raw) else env.possible_agents[number(raw.games, "turn")]
        for agent in env.possible_agents:
            mask = _mask(env, agent)
            right = mask.dtype == np.int8 and mask.shape == (cast(Any, env.action_space(agent)).n,)
            _require(right, env, f"the mask of {agent} is {mask.dtype}{mask.shape}, not int8 as long as the space")
            _check_mask(env, agent, mask, legal_ids(raw.games) if agent == turn else [])


def _check_mask(env: Env, agent: str, mask: NDArray[np.int8], legal: list[int]) -> None:
    allowed = np.flatnonzero(mask).tolist()
    missing, more = sorted(set(legal) - set(allowed)), sorted(set(allowed) - set(legal))
    _require(not missing, env, f"the mask of {agent} lacks the legal actions {missing}")
    _require(not more, env, f"the mask of {agent} allows {more}, which are not legal for it now")
    _require(set(mask.tolist()) <= {0, 1}, env, f"the mask of {agent} holds other values than 0 and 1")


# -- rewards and ends -------------------------------------------------------------------------------------------------


@dataclass
class _Account:
    """What an agent has coming, and what it has got."""

    owed: float = 0.0
    got: float = 0.0
    ended: bool = False


def check_rewards(env_fn: EnvFunction, *, seed: int = 0, episodes: int = 3, zero_sum: bool | None = None) -> None:
    """`last` pays every agent all that the hands were worth to it, the last hand too; and episodes end as they should.

    The hands are played on a copy of the record, and paid by the reward function.
    """
    env, rng = env_fn(), random.Random(seed)
    for episode in range(episodes):
        env.reset(seed=seed + episode)
        accounts = {agent: _Account() for agent in env.agents}
        for _ in _to_the_end(env):
            _check_last(env, accounts)
            action = _choose(env, rng)
            outcome = None if action is None else _outcome_after(env, action)
            _step(env, action)
            if outcome is not None:
                _charge(env, outcome, accounts)
        left = [agent for agent, account in accounts.items() if not account.ended]
        _require(not left, env, f"{left} never were given their last reward")
        if _is_zero_sum(env, zero_sum) and _raw(env).episode == "hand":
            total = sum(account.got for account in accounts.values())
            _require(abs(total) < 1e-9, env, f"the rewards of a hand sum to {total}, not to 0")


def _is_zero_sum(env: Env, given: bool | None) -> bool:
    reward = _raw(env).reward
    return given if given is not None else any(reward in (name, REWARDS[name]) for name in ZERO_SUM)


def _check_last(env: Env, accounts: dict[str, _Account]) -> None:
    agent = env.agent_selection
    _, reward, terminated, truncated, _ = env.last(observe=False)
    account = accounts[agent]
    _require(abs(reward - account.owed) < 1e-9, env, f"last() gives {agent} {reward}, but it has {account.owed} coming")
    _require(not account.ended, env, f"{agent} comes back after its end")
    account.owed, account.got = 0.0, account.got + reward
    account.ended = terminated or truncated


def _outcome_after(env: Env, action: int) -> HandOutcome | None:
    """The outcome of the hand if this action ends it, found on a copy."""
    raw = _raw(env)
    games = raw.games.copy()
    engine.step(games, 0, action)
    return outcome_of(games, 0, raw.rules) if number(games, "phase") in (HAND_OVER, MATCH_OVER) else None


def _charge(env: Env, outcome: HandOutcome, accounts: dict[str, _Account]) -> None:
    """Enter what a hand was worth, and check who had to end with it."""
    raw = _raw(env)
    paid = pay(reward_function(raw.reward), outcome)
    for agent, reward, out in zip(env.possible_agents, paid, outcome.eliminated.tolist(), strict=True):
        if accounts[agent].ended:
            continue
        accounts[agent].owed += reward
        _require(agent in env.agents, env, f"{agent} is gone before it was given its last reward")
        ends = env.terminations[agent], env.truncations[agent]
        wanted = _wanted_end(raw, outcome, out)
        _require(ends == wanted, env, f"{agent} is (terminated, truncated) = {ends} after the hand, not {wanted}")


def _wanted_end(raw: Scala40AEC, outcome: HandOutcome, out: bool) -> tuple[bool, bool]:
    if outcome.match_over:
        abandoned = raw.episode == "hand" and outcome.closing == "none"
        return not abandoned, abandoned
    capped = raw.max_hands is not None and number(raw.games, "hand_no") + 1 >= raw.max_hands and _over(raw)
    return out, capped and not out


# -- determinism ------------------------------------------------------------------------------------------------------


def check_determinism(env_fn: EnvFunction, *, seed: int = 0, episodes: int = 2) -> None:
    """The seed of `reset` alone decides everything, whatever was played before and whoever draws random numbers."""
    env = env_fn()
    first = _traces(env, seed, episodes)
    _check_same(first, _traces(env_fn(), seed, episodes), env, "a second environment with the same seed plays")
    _check_same(first, _traces(env, seed, episodes), env, "after other episodes the same seed plays")
    others = [_traces(env, seed + other, 1)[0][:2] for other in range(1, 5)]
    _require(any(other != first[0][:2] for other in others), env, f"seeds {seed} to {seed + 4} deal the same cards")
    _require(first[0][:2] != first[1][:2], env, "reset() without a seed deals the same cards again")


def _traces(env: Env, seed: int, episodes: int) -> list[list[Any]]:
    """All that an environment gives in some episodes; the global generators are disturbed on the way."""
    rng, traces = random.Random(seed), []
    for episode in range(episodes):
        env.reset(seed=seed if episode == 0 else None)
        random.seed(None)
        np.random.seed(None)  # the global one is meant
        trace: list[Any] = [_glance(env)]
        for _ in _to_the_end(env):
            _step(env, _choose(env, rng))
            trace.append(_glance(env))
        traces.append(trace)
    return traces


def _glance(env: Env) -> Any:
    """Everything that an environment gives now."""
    if not env.agents:
        return "over"
    agent = env.agent_selection
    seen, *rest = env.last()
    return agent, _shown(seen), rest, env.state().tobytes()


def _check_same(first: list[list[Any]], second: list[list[Any]], env: Env, what: str) -> None:
    for episode, (one, other) in enumerate(zip(first, second, strict=True)):
        same = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
        at = min(len(one), len(other)) if same is None else same
        _require(one == other, env, f"{what} differently from step {at} of episode {episode} on")


# -- copies -----------------------------------------------------------------------------------------------------------


def check_copies(env_fn: EnvFunction, *, seed: int = 0, decisions: int = 300) -> None:
    """Deep copies and pickles made in mid-game go on alike, and leave the original alone."""
    for at, env in enumerate(_walk(env_fn, seed, decisions)):
        if at % max(decisions // 5, 1) == 0:
            for name, twin in (("deep copy", copy.deepcopy(env)), ("pickle", pickle.loads(pickle.dumps(env)))):
                before = _glance(env)
                other = copy.deepcopy(env)
                _require(_glance(twin) == before, env, f"a {name} does not stand as the environment does")
                one, two = _played_on(twin, seed), _played_on(other, seed)
                _require(one == two, env, f"a {name} does not go on as the environment does")
                _require(_glance(env) == before, env, f"playing on a {name} changes the environment")


def _played_on(env: Env, seed: int) -> list[Any]:
    """What comes of some more steps, into the next episode too."""
    rng, trace = random.Random(seed), []
    for _ in range(60):
        if not env.agents:
            env.reset()
        _step(env, _choose(env, rng))
        trace.append(_glance(env))
    return trace


# -- leaks ------------------------------------------------------------------------------------------------------------


def check_leaks(
    env_fn: EnvFunction, *, seed: int = 0, decisions: int = 300, render_modes: tuple[RenderMode, ...] = ("ansi",)
) -> None:
    """What a seat gets does not change, byte for byte, when the cards are dealt anew that it can't see.

    Its observation, mask, info, reward and drawing, now and after a step of its own; `state` does change, and so do
    the observation and the drawing with what everybody sees.
    """
    rng = random.Random(seed)
    for env in _walk(env_fn, seed, decisions):
        agents = env.possible_agents if rng.random() < 0.2 else [env.agent_selection]
        for agent in agents:
            _check_leak(env, agent, rng, render_modes)
        if len(agents) > 1:
            _check_public(env, render_modes)


def _check_public(env: Env, render_modes: tuple[RenderMode, ...]) -> None:
    """Every seat sees which card lies on the pozzo, and its drawing shows it."""
    other = copy.deepcopy(env)
    games = _raw(other).games
    pile, top, stock = games["pile"][0], PACK - number(games, "pozzo_n"), number(games, "stock_n")
    if top == PACK or not stock or pile[top] == pile[stock - 1]:
        return
    pile[[top, stock - 1]] = pile[[stock - 1, top]]
    _raw(other).refresh()
    for agent in env.possible_agents:
        for (name, here), (_, there) in zip(
            *(_outputs(each, agent, render_modes) for each in (env, other)), strict=True
        ):
            public = name == "observation" or name.startswith("drawing")
            _require(not public or here != there, env, f"the {name} of {agent} does not show the top of the pozzo")


def _check_leak(env: Env, agent: str, rng: random.Random, render_modes: tuple[RenderMode, ...]) -> None:
    other = _dealt_anew(env, agent, rng)
    if other is None:
        return
    _compare(env, other, agent, render_modes, "")
    _require(env.state().tobytes() != other.state().tobytes(), env, "state() does not show the hidden cards")
    if agent == env.agent_selection and not _done(env, agent):
        _check_leak_of_a_step(env, other, rng, render_modes)


def _dealt_anew(env: Env, agent: str, rng: random.Random) -> Env | None:
    """A copy in which the cards lie otherwise that an agent can't see; None where there is no other way."""
    other = copy.deepcopy(env)
    if not _reshuffle(_raw(other).games, env.possible_agents.index(agent), rng):
        return None
    _raw(other).refresh()
    return other


def _check_leak_of_a_step(
    env: Env, other: Env | None, rng: random.Random, render_modes: tuple[RenderMode, ...]
) -> None:
    """The agent selected may learn nothing by a step of its own but what everybody may: who is asked to buy then.

    With buying, that depends on the cards of the others. So they are dealt until the same seat is asked.
    """
    agent, action = env.agent_selection, _choose(env, rng)
    one = copy.deepcopy(env)
    _step(one, action)
    if _over(_raw(one)) or number(_raw(one).games, "hand_no") != number(_raw(env).games, "hand_no"):
        return  # the hand is over: what the others are charged is for all to know
    for _ in range(_DEALS if _raw(env).rules.buying else 1):
        if other is None:
            return
        _step(other, action)
        if not _raw(env).rules.buying or one.agent_selection == other.agent_selection:
            _compare(one, other, agent, render_modes, f" after its action {action}")
            return
        other = _dealt_anew(env, agent, rng)


def _compare(one: Env, other: Env, agent: str, render_modes: tuple[RenderMode, ...], when: str) -> None:
    for (name, here), (_, there) in zip(
        _outputs(one, agent, render_modes), _outputs(other, agent, render_modes), strict=True
    ):
        _require(here == there, one, f"the {name} of {agent} shows cards that it can't see{when}")


def _outputs(env: Env, agent: str, render_modes: tuple[RenderMode, ...]) -> Iterator[tuple[str, Any]]:
    """All that a seat gets, by name."""
    observation, mask = _shown(env.observe(agent))
    yield "observation", observation
    yield "mask", mask
    yield "info", repr(env.infos.get(agent))
    yield "reward", (env.rewards.get(agent), env._cumulative_rewards.get(agent))
    raw = _raw(env)
    for mode in render_modes:
        drawn = raw.draw(mode, raw.possible_agents.index(agent))
        yield f"drawing ({mode})", drawn.tobytes() if isinstance(drawn, np.ndarray) else drawn


def _reshuffle(games: Games, seat: int, rng: random.Random) -> bool:
    """Deal anew, in place, all cards that a seat can't see, but for the next of the stock; has any hand changed?

    The next card stays, so that the seat can draw it and then still see the same.
    """
    others = [other for other in range(number(games, "num_players")) if other != seat]
    hidden = {other: Counter(hand_of(games, other)) - Counter(known_of(games, other)) for other in others}
    stock = stock_of(games)
    pool = [card for cards in hidden.values() for card in cards.elements()] + stock[:-1]
    dealt = rng.sample(pool, len(pool))
    before = [hand_of(games, other) for other in others]
    for other in others:
        cards = [dealt.pop() for _ in range(hidden[other].total())] + known_of(games, other)
        for name, value in zip(("one", "two", "jokers"), words_in(cards), strict=True):
            games[name][0, other] = value
    games["pile"][0, : len(dealt)] = dealt
    return before != [hand_of(games, other) for other in others]
