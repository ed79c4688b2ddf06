"""`Scala40Env`: Scala 40 for Gymnasium, one learner with its opponents inside.

>>> import gymnasium, scala40_env
>>> env = gymnasium.make("Scala40-v0", rules="casa", opponents="greedy")
>>> observation, info = env.reset(seed=7)
>>> observation, reward, terminated, truncated, info = env.step(info["action_mask"].argmax())
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from gymnasium import Env
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

from scala40_env.arguments import RENDER_MODES, BadArgument, Episode, RenderMode, checked_integer, checked_render_mode
from scala40_env.rewards import RewardFunction
from scala40_env.rules.errors import shown
from scala40_env.rules.game import MAX_SEED
from scala40_env.rules.view import View
from scala40_env.vector import MAKE, IllegalAction, Int8s, LearnerGames, Opponent, Opponents, RulesLike, Seat

__all__ = ["Scala40Env"]


class Scala40Env(Env[Int8s, int]):
    """One learner; its opponents play inside `step`, which comes back at the learner's next decision.

    Args:
        rules: a `Rules` object, the name of a preset, or a dict of settings; the federation's rules for four if left
            out.
        opponents: an agent or its name for all other seats, or one for each, in order of play after the learner.
        seat: the learner's, or ``"rotate"``: the next one in every episode, beginning from the seed.
        episode: ``"hand"``, one hand, or ``"match"``, hands until the match is over or the learner is out.
        reward: the name of a reward in `rewards.REWARDS`, or a function of a `HandOutcome`.
        max_hands: truncate a match after so many hands; None: never.
        illegal_action: ``"terminate"`` ends the episode with a reward of -1 more, as `scala40_v0.env` does; ``"raise"``
            raises `IllegalMove`.
        make_opponent: what makes an opponent of a name: a function, or ``module:function``.
        render_mode: ``"ansi"``, ``"svg"``, ``"rgb_array"``, ``"human"`` or None; what is drawn is the learner's view.

    Raises `BadRules`, `BadReward`, `BadArgument`, and what `make_opponent` raises.

    The observation is int8, shape (`schema_of(rules).size`,). The reward of a step is all that came until the next
    decision, the end of a hand by an opponent's closing too. An episode in which the learner gets to no decision (its
    opponents close before) is passed over. A hand that nobody could finish truncates. `info` has ``action_mask`` (int8,
    1 where an action is legal; all 0 at the end) and ``seat``; at the end also ``hand_points`` and ``scores`` (int64,
    by seat), ``winner`` (-1: nobody) and ``closing`` of the last hand, and ``illegal_action``.

    `reset(seed=s)` deals what `Game(seed=s)` deals; later episodes follow from the seed.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # the same for every environment of the class
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
    }

    def __init__(
        self,
        rules: RulesLike = None,
        opponents: Opponents = "greedy",
        *,
        seat: Seat = 0,
        episode: Episode = "hand",
        reward: str | RewardFunction = "zero_sum_points",
        max_hands: int | None = None,
        illegal_action: IllegalAction = "terminate",
        make_opponent: str | Callable[[str], Opponent] = MAKE,
        render_mode: RenderMode | None = None,
    ) -> None:
        self._batch = LearnerGames(
            *(1, rules, opponents, seat, episode, reward, max_hands, illegal_action, make_opponent),
            autoreset=False,
        )
        self.rules = self._batch.rules
        self.render_mode = checked_render_mode(render_mode, RENDER_MODES)
        self.observation_space = self._batch.space
        self.action_space = Discrete(self._batch.masks.shape[1])
        self._actions = np.zeros(1, np.int64)
        self._over = True
        self._window: Any = None

    @property
    def games(self) -> NDArray[Any]:
        """The game itself: shape (1,), dtype `kernels.state.GAME`."""
        return self._batch.games

    @property
    def seat(self) -> int:
        """The learner's seat in this episode."""
        return int(self._batch.episodes["learner"][0])

    def action_masks(self) -> Int8s:
        """The mask of legal actions: int8, shape (actions,); all 0 when the episode is over."""
        mask: Int8s = self._batch.masks[0].copy()
        return mask

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Int8s, dict[str, Any]]:
        """Begin an episode, up to the learner's first decision. Without a seed it follows from the one before.

        `options` are not used.
        """
        super().reset(seed=seed)
        follows = seed is None and self._batch.started
        if seed is not None:
            self._batch.seed(np.array([checked_integer("seed", seed, 0, MAX_SEED, "the next episode")], np.uint64))
        elif not follows:
            self._batch.seed(self.np_random.integers(0, 2**64, 1, dtype=np.uint64))
        self._batch.begin(follows)
        self._over = False
        self._show()
        return self._batch.observations[0].copy(), self._info()

    def step(self, action: int) -> tuple[Int8s, float, bool, bool, dict[str, Any]]:
        """Play an action, and on to the next decision. Raises `ResetNeeded` after the end, or `IllegalMove`."""
        if self._over:
            raise ResetNeeded("step() without an episode: call reset() first, and again after the end of each")
        self._actions[0] = _checked_action(action)
        self._batch.play(self._actions)
        episode = self._batch.episodes[0]
        terminated, truncated = bool(episode["terminated"]), bool(episode["truncated"])
        self._over = terminated or truncated
        self._show()
        info = self._info()
        if self._over:
            info |= self._batch.outcome(0)
        return self._batch.observations[0].copy(), float(episode["reward"]), terminated, truncated, info

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._batch.masks[0].copy(), "seat": self.seat}

    # -- drawing -------------------------------------------------------------------------------------------------

    def render(self) -> Any:
        """The learner's view as `render_mode` says: text, SVG, an image (uint8[height, width, 3]), or in a window."""
        if self.render_mode is None:
            return None
        if not self._batch.started:
            raise ResetNeeded("render() before reset(): there is no game yet")
        if self.render_mode != "human":
            return self._batch.draw(0, self.seat, self.render_mode)
        if self._window is None:
            from scala40_env import render

            self._window = render.Window()
        self._window.show(View.of(self.games, self.seat, self._batch.played_rules))
        return None

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def close(self) -> None:
        """Close the window, if there is one. The environment stays usable."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        """All but the window."""
        return self.__dict__ | {"_window": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _checked_action(action: Any) -> int:
    try:
        return operator.index(action)
    except TypeError:
        raise BadArgument(f"action = {shown(action)}: an action is an integer") from None
