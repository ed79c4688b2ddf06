"""Many games in one array, for Gymnasium: `Scala40VectorEnv` (one learner a game) and `SelfPlayVectorEnv`.

One call of a kernel plays a step of all games and writes what is seen and what is legal into buffers that the
environment owns. Opponents that are kernels play on without coming back to Python.

>>> from scala40_env.vector import SelfPlayVectorEnv
>>> env = SelfPlayVectorEnv(3, rules="casa")
>>> observations, infos = env.reset(seed=7)
>>> infos["action_mask"].sum(axis=1)
array([1, 1, 1])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, Literal, Protocol, get_args, runtime_checkable

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from scala40_env.arguments import (
    EPISODES,
    BadArgument,
    Episode,
    checked_choice,
    checked_integer,
    checked_max_hands,
    checked_render_mode,
    checked_rules,
    episode_rules,
)
from scala40_env.kernels.batch import (
    BOTH,
    EPISODE,
    PLAYS,
    SETTLES,
    act,
    begin_all,
    begin_self_play,
    first_illegal,
    settle,
    step_self_play,
)
from scala40_env.kernels.engine import step as play_action
from scala40_env.kernels.rewards import CUSTOM, REWARD_NAMES
from scala40_env.kernels.state import CLOSINGS, GAME, HAND_OVER, NONE
from scala40_env.observation import schema_of
from scala40_env.rewards import REWARDS, RewardFunction, outcome_of, pay, reward_function
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import IllegalMove, Scala40Error, shown
from scala40_env.rules.game import MAX_SEED, Game
from scala40_env.rules.moves import num_actions
from scala40_env.rules.reading import new_games
from scala40_env.rules.view import View

__all__ = [
    "IllegalAction",
    "KernelOpponent",
    "LearnerGames",
    "Opponent",
    "Opponents",
    "Scala40VectorEnv",
    "Seat",
    "SelfPlayVectorEnv",
]

Int8s = NDArray[np.int8]
Int64s = NDArray[np.int64]
RulesLike = Rules | str | Mapping[str, Any] | None
#: The learner's seat: a number, or another one in every episode.
Seat = int | Literal["rotate"]
#: What an illegal action of the learner does.
IllegalAction = Literal["terminate", "raise"]
#: How a vector of games may be drawn; a window shows one game only.
FrameMode = Literal["ansi", "svg", "rgb_array"]

ILLEGAL_REWARD = -1.0
"""What an illegal action costs that ends the episode, as in `scala40_v0.env`."""

_FIRST_ROOM = 512
"""Moves of opponents in a hand that there is room for at first; the few longer hands make it grow."""


# ---------------------------------------------------------------------------------------------------------------------
# Opponents


@runtime_checkable
class Opponent(Protocol):
    """Who plays the seats that do not learn: any agent of `agents`, or whatever has these two.

    It may have ``check_rules(rules)`` too, which raises if it can't play by them.
    """

    name: str

    def act_batch(self, views: Sequence[View], rngs: Sequence[np.random.Generator]) -> Sequence[int]:
        """The action for each view, one of its `legal_actions()`; all chance has to come from its generator."""


@runtime_checkable
class KernelOpponent(Opponent, Protocol):
    """An opponent that is a kernel: it plays on in many games without coming back to Python.

    Attributes: `kernel_id` (0 and more) and `weights` (int64[m], as long for all who share a kernel) tell it from the
    others of its kernel. The kernel is ``play_on``, if it has that attribute, otherwise `agents.kernels.play.play_on`,
    and is called as that one is: it plays the games given until a seat of kind -1 is on move, the hand is over or there
    is no more room for its moves (codes 1, 0, 2; 3: nobody can move).
    """

    kernel_id: int
    weights: Int64s


Opponents = str | Opponent | Sequence[str | Opponent]
"""One opponent for all other seats, or one for each, in order of play after the learner; objects, or names."""

MAKE = "agents:make"
"""Where names of opponents are looked up. Imported when a name is given, and not before: the package stands alone."""
_PLAY_ON = "agents.kernels.play:play_on"
_STUCK = 3


def _loaded(path: str) -> Any:
    """What ``module:name`` means."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def _made_opponents(given: Opponents, rules: Rules, make: str | Callable[[str], Opponent]) -> tuple[Opponent, ...]:
    """An opponent for each of the other seats. Raises `BadArgument`, or what `make` or an opponent raises."""
    places = rules.num_players - 1
    each = [given] * places if isinstance(given, str) or not isinstance(given, Sequence) else list(given)
    if len(each) != places:
        raise BadArgument(
            f"opponents = {shown(given)}: {len(each)} of them; {rules.num_players} players leave {places} seats to them"
        )
    made = {name: _maker(make)(name) for name in {one for one in each if isinstance(one, str)}}
    found = tuple(made[one] if isinstance(one, str) else _checked_opponent(one) for one in each)
    for one in found:
        getattr(one, "check_rules", _any_rules)(rules)
    return found


def _maker(make: str | Callable[[str], Opponent]) -> Callable[[str], Opponent]:
    found: Callable[[str], Opponent] = _loaded(make) if isinstance(make, str) else make
    return found


def _any_rules(rules: Rules) -> None:
    return None


def _checked_opponent(given: Any) -> Opponent:
    if isinstance(given, Opponent):
        return given
    raise BadArgument(f"opponents: {shown(given)} is none; one has a name and act_batch(views, rngs), or give its name")


def _entry_of(opponent: KernelOpponent) -> Any:
    return getattr(opponent, "play_on", None) or _loaded(_PLAY_ON)


class _Others:
    """The opponents of a batch of games: they play wherever the learner is not on move.

    Those that share a kernel with the first that has one are played by it, all others from Python.
    """

    def __init__(self, games: LearnerGames, opponents: tuple[Opponent, ...]) -> None:
        self._batch = games
        self._opponents = opponents
        n, seats = games.num, games.rules.num_players
        kernels = [one for one in opponents if isinstance(one, KernelOpponent)]
        self._play_on: Any = _entry_of(kernels[0]) if kernels else None
        width = len(kernels[0].weights) if kernels else 0
        self._kinds = np.full(seats, NONE, np.int64)
        self._weights = np.zeros((seats, width), np.int64)
        for row, one in enumerate(opponents, 1):
            if isinstance(one, KernelOpponent) and _entry_of(one) is self._play_on and len(one.weights) == width:
                self._kinds[row], self._weights[row] = one.kernel_id, one.weights
        self._by_python = bool((self._kinds[1:] == NONE).any())
        self._logs = np.zeros((n, _FIRST_ROOM), np.int16)
        self._views = np.zeros(1, GAME)
        self._stops = np.zeros(n, np.int8)
        self._generators: dict[tuple[int, int], tuple[int, np.random.Generator]] = {}

    def play(self, which: Int64s) -> None:
        """Play on in these games: kernels for as long as they are on move, opponents of Python one move each."""
        if self._play_on is not None:
            self._play_kernels(which)
        if self._by_python:
            self._ask_all(which)

    def _play_kernels(self, which: Int64s) -> None:
        batch = self._batch
        self._play_on(
            *(batch.games, which, batch.seating, self._kinds, self._weights),
            *(batch.keys, self._logs, batch.lengths, self._views, self._stops),
        )

    def make_room(self, which: Int64s) -> None:
        """Look after games that wait still though kernels have played in them: the next hand, or no room for moves."""
        if self._play_on is None:
            return
        if (self._stops[which] == _STUCK).any():
            raise Scala40Error("a game has no legal move, which is an error of the game")
        if self._batch.lengths[which].max() == self._logs.shape[1]:
            self._logs = np.concatenate([self._logs, np.zeros_like(self._logs)], axis=1)

    def _ask_all(self, which: Int64s) -> None:
        """Let the opponents of Python that are on move choose, each of them in one batch."""
        batch = self._batch
        asked: dict[int, list[int]] = {}
        for i in which[batch.games["phase"][which] < HAND_OVER].tolist():
            row = int(batch.seating[i, batch.games["turn"][i]])
            if row and self._kinds[row] == NONE:
                asked.setdefault(id(self._opponents[row - 1]), []).append(i)
        by_id = {id(one): one for one in self._opponents}
        for key, games in asked.items():
            self._ask(by_id[key], games)

    def _ask(self, opponent: Opponent, which: list[int]) -> None:
        batch = self._batch
        views = [View.of(batch.games[i : i + 1], int(batch.games["turn"][i]), batch.played_rules) for i in which]
        rngs = [self._generator(i, view.seat) for i, view in zip(which, views, strict=True)]
        answers = list(opponent.act_batch(views, rngs))
        if len(answers) != len(views):
            raise Scala40Error(f"opponent {opponent.name} gave {len(answers)} actions for {len(views)} views")
        for i, view, action in zip(which, views, answers, strict=True):
            if action not in view.legal_actions():
                error = batch.illegal_move(i, action)
                error.add_note(f"It was the move of opponent {opponent.name}, seat {view.seat}, in game {i}.")
                raise error
            play_action(batch.games, i, int(action))

    def _generator(self, i: int, seat: int) -> np.random.Generator:
        """The generator of a seat in game ``i``: a new one in every hand."""
        key = int(self._batch.keys[i, seat])
        known = self._generators.get((i, seat))
        if known is None or known[0] != key:
            known = self._generators[i, seat] = key, np.random.Generator(np.random.Philox(key=key))
        return known[1]


# ---------------------------------------------------------------------------------------------------------------------
# The games


class _Games:
    """Games in one array, their episodes, and the buffers that the kernels write.

    Attributes: `games` (dtype `GAME`), `episodes` (dtype `kernels.batch.EPISODE`), both of shape (num,);
    `observations` and `final` int8[num, size], `masks` int8[num, actions].
    """

    def __init__(
        self, num: int, rules: RulesLike, episode: Episode, reward: str | RewardFunction, max_hands: int | None
    ) -> None:
        self.num = checked_integer("num_envs", num, 1, MAX_SEED, "not allowed")
        self.rules = checked_rules(rules)
        self.episode: Episode = checked_choice("episode", episode, EPISODES)
        self.played_rules = episode_rules(self.rules, self.episode)
        self.reward = reward_function(reward)
        schema = schema_of(self.rules)
        self.layout = schema.layout
        self.games = new_games(self.played_rules, 0).repeat(self.num)
        self.episodes = np.zeros(self.num, EPISODE)
        self.episodes["whole_match"] = self.episode == "match"
        self.episodes["max_hands"] = checked_max_hands(max_hands, self.episode) or 0
        self.episodes["pays"] = self._kernel_of_reward()
        self.episodes["learner"] = NONE
        self.observations = np.zeros((self.num, schema.size), np.int8)
        self.final = np.zeros_like(self.observations)
        self.masks = np.zeros((self.num, num_actions(self.rules)), np.int8)
        self.space = schema.space()
        self.started = False
        # Where somebody else's function pays, kernels stop at the end of every hand.
        self.pays_in_python = self.episodes["pays"][0] == CUSTOM

    def _kernel_of_reward(self) -> int:
        for number, name in enumerate(REWARD_NAMES):
            if REWARDS.get(name) is self.reward:
                return number
        return CUSTOM

    def pay(self, which: Int64s) -> None:
        """Pay the hands that are over among these games."""
        for i in which[self.games["phase"][which] >= HAND_OVER].tolist():
            paid = pay(self.reward, outcome_of(self.games, i, self.rules))
            self.episodes["paid"][i, : len(paid)] = paid

    def seed(self, seeds: NDArray[np.uint64]) -> None:
        """Give every game the seed of its next episode."""
        self.games["seed"] = seeds

    def illegal_move(self, i: int, action: Any) -> IllegalMove:
        """The error for an action that is not legal in game ``i``, with the reason."""
        game = Game._of_state(self.games[i : i + 1].copy(), self.played_rules)
        try:
            game.play_action(action)
        except IllegalMove as error:
            return error
        except Scala40Error as error:  # it is no action at all
            return IllegalMove(shown(action), str(error), game.position())
        return IllegalMove(shown(action), "it was not legal by the mask", game.position())

    def check_actions(self, actions: Int64s) -> None:
        """Raise `IllegalMove` for the first illegal action; nothing has been played then."""
        i = int(first_illegal(actions, self.masks))
        if i != NONE:
            error = self.illegal_move(i, int(actions[i]))
            error.add_note(f"It was the action for game {i}; no game has been played on.")
            raise error

    def draw(self, i: int, seat: int | None, mode: str) -> Any:
        """Game ``i`` as text, SVG or an image: from a seat or, None, with all cards."""
        from scala40_env import render

        what: Any = self.games[i : i + 1]
        if seat is None:
            what = Game._of_state(what.copy(), self.played_rules)
        else:
            what = View.of(what, seat, self.played_rules)
        return getattr(render, f"{mode}_of")(what)


class LearnerGames(_Games):
    """Games of one learner each, with its opponents inside. Arguments as of `Scala40VectorEnv`."""

    def __init__(
        self,
        num: int,
        rules: RulesLike,
        opponents: Opponents,
        seat: Seat,
        episode: Episode,
        reward: str | RewardFunction,
        max_hands: int | None,
        illegal_action: IllegalAction,
        make_opponent: str | Callable[[str], Opponent],
        autoreset: bool,
    ) -> None:
        super().__init__(num, rules, episode, reward, max_hands)
        seats = self.rules.num_players
        self.raises = checked_choice("illegal_action", illegal_action, get_args(IllegalAction)) == "raise"
        self.rotates = seat == "rotate"
        self.episodes["learner"] = 0 if self.rotates else checked_integer("seat", seat, 0, seats - 1, "not allowed")
        self.episodes["rotates"] = self.rotates
        self.episodes["autoreset"] = autoreset
        self.episodes["illegal_reward"] = ILLEGAL_REWARD
        self.seating = np.zeros((self.num, seats), np.int64)
        self.keys = np.zeros((self.num, seats), np.uint64)
        self.lengths = np.zeros(self.num, np.int64)
        self._pending = np.zeros(self.num, np.int64)
        self.opponents = _made_opponents(opponents, self.rules, make_opponent)
        self._others = _Others(self, self.opponents)

    def seed(self, seeds: NDArray[np.uint64]) -> None:
        """Give every game the seed of its next episode, which a rotating seat begins from."""
        super().seed(seeds)
        if self.rotates:
            self.episodes["learner"] = seeds % np.uint64(self.rules.num_players)

    def begin(self, follows: bool) -> None:
        """Begin an episode in every game, with its seed or the one that follows, up to the learner's first decision."""
        begin_all(self.games, self.episodes, follows, self._pending, self.seating, self.keys, self.lengths)
        self._play_others(self.num)
        self.started = True

    def play(self, actions: Int64s) -> None:
        """Play the learners' actions, and on to their next decisions."""
        if self.raises:
            self.check_actions(actions)
        n = act(
            *(self.games, self.episodes, actions, self._pending, self.seating, self.keys, self.lengths),
            *(self.layout, self.observations, self.masks, self.final),
        )
        self._play_others(int(n))

    def _play_others(self, n: int) -> None:
        """Play in the first ``n`` pending games until the learner is on move in each, or its episode over."""
        while n:
            which = self._pending[:n]
            self._others.play(which)
            if self.pays_in_python:
                self.pay(which)
            n = int(
                settle(
                    *(self.games, self.episodes, self._pending, n, self.seating, self.keys, self.lengths),
                    *(self.layout, self.observations, self.masks, self.final),
                )
            )
            if n:
                self._others.make_room(self._pending[:n])

    def outcome(self, i: int) -> dict[str, Any]:
        """How the last hand of the episode ended that is over in game ``i``, for `info`."""
        ended, seats = self.episodes[i], self.rules.num_players
        return {
            "hand_points": ended["hand_points"][:seats].astype(np.int64),
            "scores": ended["scores"][:seats].astype(np.int64),
            "winner": int(ended["winner"]),
            "closing": CLOSINGS[int(ended["closing"])],
            "illegal_action": bool(ended["illegal"]),
        }


# ---------------------------------------------------------------------------------------------------------------------
# The environments


class _NativeVectorEnv(VectorEnv[Int8s, Int64s, NDArray[Any]]):
    """What both forms share: spaces, seeds, buffers and infos."""

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # the same for every environment of the class
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": list(get_args(FrameMode)),
        "render_fps": 2,
    }
    _batch: _Games

    def _set_up(self, batch: _Games, copy: bool, render_mode: FrameMode | None) -> None:
        self._batch = batch
        self.num_envs, self.rules, self.copy = batch.num, batch.rules, bool(copy)
        self.render_mode = checked_render_mode(render_mode, _FRAMES)
        self.single_observation_space: Box = batch.space
        self.single_action_space = Discrete(batch.masks.shape[1])
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._everywhere = np.ones(self.num_envs, np.bool_)
        self._all = np.arange(self.num_envs)

    @property
    def games(self) -> NDArray[Any]:
        """The games themselves: shape (num_envs,), dtype `kernels.state.GAME`."""
        return self._batch.games

    def action_masks(self) -> Int8s:
        """The masks of legal actions: int8, shape (num_envs, actions)."""
        return self._given(self._batch.masks)

    def _given(self, buffer: Int8s) -> Int8s:
        return buffer.copy() if self.copy else buffer

    def _seed(self, seed: int | Sequence[int] | None) -> bool:
        """Seed the games, if there is something to do it with; whether there was not."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        if seed is not None:
            self._batch.seed(_seeds_of(seed, self.num_envs))
        elif not self._batch.started:
            self._batch.seed(self.np_random.integers(0, 2**64, self.num_envs, dtype=np.uint64))
        else:
            return True
        return False

    def _checked_actions(self, actions: Any) -> Int64s:
        if not self._batch.started:
            raise ResetNeeded("step() before reset(): there are no games yet")
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise BadArgument(
                f"actions: an integer for each of {self.num_envs} games is asked for, not {given.dtype} of shape "
                f"{given.shape}"
            )
        return np.ascontiguousarray(given, np.int64)

    def _results(self, infos: dict[str, Any]) -> tuple[Int8s, Any, Any, Any, dict[str, Any]]:
        """What `step` gives; the small arrays are always the caller's."""
        reward, terminated, truncated = (
            self._batch.episodes[name].copy() for name in ("reward", "terminated", "truncated")
        )
        return self._given(self._batch.observations), reward, terminated, truncated, infos

    def _infos(self) -> dict[str, Any]:
        return {
            "action_mask": self._given(self._batch.masks),
            "_action_mask": self._everywhere,
            "seat": self._batch.episodes["seat"].copy(),
            "_seat": self._everywhere,
        }

    def _final_observations(self, ended: NDArray[np.bool_]) -> NDArray[Any]:
        """The last observation where an episode has ended, None elsewhere, as Gymnasium wants it."""
        final = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(ended).tolist():
            final[i] = self._batch.final[i].copy()
        return final

    def _frame_seat(self, i: int) -> int | None:
        """The seat that game ``i`` is drawn from."""
        return None

    def render(self) -> tuple[Any, ...] | None:
        """A drawing of every game as `render_mode` says, or None without one."""
        if self.render_mode is None:
            return None
        return tuple(self._batch.draw(i, self._frame_seat(i), self.render_mode) for i in range(self.num_envs))


_FRAMES: tuple[FrameMode, ...] = get_args(FrameMode)


def _seeds_of(seed: Any, n: int) -> NDArray[np.uint64]:
    """A seed for each game: the one given and those after it, or as given."""
    if isinstance(seed, int | np.integer):
        first = checked_integer("seed", seed, 0, MAX_SEED, "the episodes after those before")
        return np.array([(first + i) & MAX_SEED for i in range(n)], np.uint64)
    each = list(seed)
    if len(each) != n:
        raise BadArgument(f"seed: {len(each)} seeds for {n} games")
    return np.array([checked_integer("seed", one, 0, MAX_SEED, "not in a list") for one in each], np.uint64)


class Scala40VectorEnv(_NativeVectorEnv):
    """Games with one learner each, its opponents inside: `num_envs` times `Scala40Env`, step for step.

    Args:
        num_envs: how many games.
        rules, opponents, seat, episode, reward, max_hands, illegal_action, make_opponent: as of `Scala40Env`.
        copy: whether observations and masks are copies; without, they are the buffers, overwritten by the next step.
        render_mode: ``"ansi"``, ``"svg"``, ``"rgb_array"`` or None: what `render` gives for every game.

    Where an episode ends the next one begins in the same step (``AutoresetMode.SAME_STEP``): the observation is the new
    episode's first, `infos` has the old one's last as ``final_obs`` and its end as ``final_info`` (keys of `Scala40Env`
    without the mask). `infos` always has ``action_mask`` (int8[num_envs, actions]) and ``seat`` (int64[num_envs], the
    learner's). The seeds of `reset` are one for each game, or one for the first and the next ones for the others.
    """

    _batch: LearnerGames

    def __init__(
        self,
        num_envs: int = 1,
        rules: RulesLike = None,
        opponents: Opponents = "greedy",
        *,
        seat: Seat = 0,
        episode: Episode = "hand",
        reward: str | RewardFunction = "zero_sum_points",
        max_hands: int | None = None,
        illegal_action: IllegalAction = "terminate",
        make_opponent: str | Callable[[str], Opponent] = MAKE,
        copy: bool = True,
        render_mode: FrameMode | None = None,
    ) -> None:
        batch = LearnerGames(
            *(num_envs, rules, opponents, seat, episode, reward, max_hands, illegal_action, make_opponent),
            autoreset=True,
        )
        self._set_up(batch, copy, render_mode)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Int8s, dict[str, Any]]:
        """Begin an episode in every game. Without a seed they follow from those before."""
        self._batch.begin(self._seed(seed))
        return self._given(self._batch.observations), self._infos()

    def step(self, actions: Int64s) -> tuple[Int8s, Any, Any, Any, dict[str, Any]]:
        """Play an action in every game, and on to the learner's next decision.

        Returns observations int8[num_envs, size], rewards float64[num_envs], terminations and truncations
        bool[num_envs], infos. Raises `IllegalMove` (if ``illegal_action="raise"``) before anything is played.
        """
        self._batch.play(self._checked_actions(actions))
        infos = self._infos()
        ended = self._batch.episodes["reported"] != 0
        if ended.any():
            infos |= {"final_obs": self._final_observations(ended), "_final_obs": ended}
            infos |= {"final_info": self._final_info(ended), "_final_info": ended}
        return self._results(infos)

    def outcome(self, i: int) -> dict[str, Any]:
        """How the last hand of the episode ended that has just ended in game ``i``: keys of `Scala40Env`."""
        return self._batch.outcome(i)

    def _final_info(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        info: dict[str, Any] = {}
        for i in np.flatnonzero(ended).tolist():
            info = self._add_info(info, self._batch.outcome(i), i)
        return info

    def _frame_seat(self, i: int) -> int | None:
        return int(self._batch.episodes["learner"][i])


class SelfPlayVectorEnv(_NativeVectorEnv):
    """Games in which whoever is on move acts: every row is the observation and the mask of that seat.

    Args:
        num_envs, rules, copy, render_mode: as of `Scala40VectorEnv`.
        episode, reward, max_hands: as of `Scala40Env`.

    The reward of a step is that of the seat that has acted; what the end of a hand brings to everybody is in
    ``infos["seat_rewards"]`` (float64[num_envs, players], zeros while a hand goes on). ``infos["seat"]``
    (int64[num_envs]) says who is on move, ``action_mask`` what it may do. Where an episode ends the next one begins in
    the same step; ``final_obs`` is what the seat that has acted sees at the end. An illegal action raises `IllegalMove`
    and nothing is played.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rules: RulesLike = None,
        *,
        episode: Episode = "hand",
        reward: str | RewardFunction = "zero_sum_points",
        max_hands: int | None = None,
        copy: bool = True,
        render_mode: FrameMode | None = None,
    ) -> None:
        self._set_up(_Games(num_envs, rules, episode, reward, max_hands), copy, render_mode)

    @property
    def seats(self) -> Int64s:
        """Who is on move in every game: int64, shape (num_envs,)."""
        return self._batch.episodes["seat"].copy()

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Int8s, dict[str, Any]]:
        """Begin an episode in every game. Without a seed they follow from those before."""
        batch, follows = self._batch, self._seed(seed)
        begin_self_play(batch.games, batch.episodes, follows, batch.layout, batch.observations, batch.masks)
        batch.started = True
        return self._given(batch.observations), self._infos()

    def step(self, actions: Int64s) -> tuple[Int8s, Any, Any, Any, dict[str, Any]]:
        """Play an action of the seat on move in every game.

        Returns observations int8[num_envs, size], rewards float64[num_envs], terminations and truncations
        bool[num_envs], infos. Raises `IllegalMove` before anything is played.
        """
        checked = self._checked_actions(actions)
        self._batch.check_actions(checked)
        ends = self._play(checked)
        infos = self._infos()
        if ends:
            ended = self._batch.episodes["reported"] != 0
            infos |= {"final_obs": self._final_observations(ended), "_final_obs": ended}
        return self._results(infos)

    def _play(self, actions: Int64s) -> int:
        """Play the actions; how many episodes have ended."""
        if not self._batch.pays_in_python:
            return self._stage(BOTH, actions)
        self._stage(PLAYS, actions)
        self._batch.pay(self._all)
        return self._stage(SETTLES, actions)

    def _stage(self, stage: int, actions: Int64s) -> int:
        batch = self._batch
        rows = (batch.observations, batch.masks, batch.final)
        return int(step_self_play(batch.games, batch.episodes, stage, actions, batch.layout, *rows))

    def _infos(self) -> dict[str, Any]:
        paid = self._batch.episodes["paid"][:, : self.rules.num_players]
        more = {"seat_rewards": paid.copy(), "_seat_rewards": self._everywhere}
        return super()._infos() | more
