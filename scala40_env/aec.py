"""Scala 40 for PettingZoo: `Scala40AEC`, an `AECEnv` over one game record.

The kernels play; this maps seats to agents, hands to rewards, and the ends of hands and matches to terminations and
truncations. The docs page is docs/environment.md.
"""

from __future__ import annotations

import copy
import operator
import secrets
from collections.abc import Mapping
from typing import Any, ClassVar, TypedDict

import numpy as np
from gymnasium import logger
from gymnasium.spaces import Box, Dict, Discrete, Space
from numpy.typing import NDArray
from pettingzoo import AECEnv

from scala40_env.arguments import (
    EPISODES,
    MAX_SEED,
    RENDER_MODES,
    BadArgument,
    Episode,
    RenderMode,
    checked_choice,
    checked_integer,
    checked_max_hands,
    checked_render_mode,
    checked_rules,
    episode_rules,
    following_seed,
)
from scala40_env.kernels.acting import look, play
from scala40_env.kernels.engine import next_hand, start_match
from scala40_env.kernels.observation import write_observation, write_state
from scala40_env.kernels.state import CLOSED_NONE, MATCH_OVER, NONE
from scala40_env.observation import schema_of, state_schema_of
from scala40_env.rewards import HandOutcome, RewardFunction, outcome_of, pay, reward_function
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import IllegalMove, shown
from scala40_env.rules.game import Game
from scala40_env.rules.moves import num_actions
from scala40_env.rules.reading import Games, new_games
from scala40_env.rules.view import View

__all__ = ["Observation", "Scala40AEC"]


class Observation(TypedDict):
    """What an agent observes.

    `observation`: int8, shape (`schema_of(rules).size`,); `action_mask`: int8, shape (`num_actions(rules)`,), 1 where
    an action is legal now, all 0 for who is not on move.
    """

    observation: NDArray[np.int8]
    action_mask: NDArray[np.int8]


class Scala40AEC(AECEnv):
    """Scala 40 with one agent a seat, `player_0` first; the agent on move acts.

    Args:
        rules: a `Rules` object, the name of a preset, or a dict of settings; the federation's rules for four if left
            out.
        episode: ``"hand"``, one hand, or ``"match"``, hands until the match is over.
        reward: the name of a reward in `rewards.REWARDS`, or a function of a `HandOutcome`.
        render_mode: ``"ansi"``, ``"svg"``, ``"rgb_array"``, ``"human"`` or None.
        render_seat: the seat whose view is drawn; None: all cards.
        max_hands: truncate a match after so many hands; None: never.

    Raises `BadRules`, `BadReward` or `BadArgument`.

    An illegal action raises `IllegalMove` and changes nothing. Attributes beside PettingZoo's: `rules`, `episode`,
    `games` (the game as a record: shape (1,), dtype `kernels.state.GAME`; see `refresh`), `game_seed`, `outcome` (of
    the hand that ended last, or None).
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "scala40_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        rules: Rules | str | Mapping[str, Any] | None = None,
        *,
        episode: Episode = "hand",
        reward: str | RewardFunction = "zero_sum_points",
        render_mode: RenderMode | None = None,
        render_seat: int | None = None,
        max_hands: int | None = None,
    ) -> None:
        super().__init__()
        self.episode: Episode = checked_choice("episode", episode, EPISODES)
        self.rules = checked_rules(rules)
        self.reward = reward
        self._reward = reward_function(reward)
        self.max_hands = checked_max_hands(max_hands, self.episode)
        last = self.rules.num_players - 1
        self.render_seat = (
            None if render_seat is None else checked_integer("render_seat", render_seat, 0, last, "all cards")
        )
        self.render_mode: RenderMode | None = checked_render_mode(render_mode, RENDER_MODES)
        self._make_spaces()
        self.game_seed: int | None = None
        self.outcome: HandOutcome | None = None
        self._window: Any = None
        self._blank = new_games(episode_rules(self.rules, self.episode), 0)
        self.games: Games = self._blank.copy()
        # What the seat on move (NONE: the hand is over) sees and may do, written by the kernel that plays.
        self._on_move = NONE
        self._seen = self._schema.empty()
        self._mask = np.zeros(self._num_actions, np.int8)

    def _make_spaces(self) -> None:
        """The spaces, one object for each agent, so that each has a generator of its own."""
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.num_players)]
        self.agents: list[str] = []
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._schema, self._state_schema = schema_of(self.rules), state_schema_of(self.rules)
        self._num_actions = num_actions(self.rules)
        self.observation_spaces: dict[str, Space[Any]] = {
            agent: self._observation_space() for agent in self.possible_agents
        }
        self.action_spaces: dict[str, Space[Any]] = {
            agent: Discrete(self._num_actions) for agent in self.possible_agents
        }
        self.state_space = self._state_schema.space()

    def _observation_space(self) -> Any:
        mask = Box(0, 1, (self._num_actions,), np.int8)
        return Dict({"observation": self._schema.space(), "action_mask": mask})

    # -- spaces and what is observed -----------------------------------------------------------------------------

    def observation_space(self, agent: str) -> Space[Any]:
        """The space of an agent's observations, always the same object: `Dict` as `Observation` says."""
        return self.observation_spaces[self._known(agent)]

    def action_space(self, agent: str) -> Space[Any]:
        """The space of an agent's actions, always the same object: `Discrete(num_actions(rules))`."""
        return self.action_spaces[self._known(agent)]

    def _known(self, agent: str) -> str:
        if agent in self._seats:
            return agent
        raise BadArgument(f"agent = {shown(agent)}: the agents are {', '.join(self.possible_agents)}")

    def observe(self, agent: str) -> Observation:
        """What an agent's seat sees now, on move or not, also after it has gone out. The arrays are the caller's."""
        seat = self._seats.get(agent)
        if seat is None or self.game_seed is None:
            self._known(agent)
            raise _no_game("observe")
        if seat == self._on_move:
            return {"observation": self._seen.copy(), "action_mask": self._mask.copy()}
        observation = np.empty(self._schema.size, np.int8)
        write_observation(self.games, 0, seat, self._schema.layout, observation)
        return {"observation": observation, "action_mask": np.zeros(self._num_actions, np.int8)}

    def refresh(self) -> None:
        """Look at `games` again: to be called by whoever has written into that record."""
        self._on_move = look(self.games, 0, self._schema.layout, self._seen, self._mask)

    def state(self) -> NDArray[np.int8]:
        """Everything, hidden cards too, for centralised critics: int8, shape (`state_schema_of(rules).size`,)."""
        if self.game_seed is None:
            raise _no_game("state")
        state = np.empty(self._state_schema.size, np.int8)
        write_state(self.games, 0, self._state_schema.layout, state)
        return state

    # -- playing -------------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode. `seed` (0 to 2**64 - 1) alone decides every card and the first dealer.

        Without one the episode follows from the one before it, so that the first seed decides them all; without any
        the first is drawn by lot. `options` are not used.
        """
        if seed is not None:
            self.game_seed = checked_integer("seed", seed, 0, MAX_SEED, "the next episode")
        else:
            self.game_seed = secrets.randbits(64) if self.game_seed is None else following_seed(self.game_seed)
        self.games[:] = self._blank
        self.games["seed"] = self.game_seed
        start_match(self.games, 0)
        self.refresh()
        self.outcome = None
        self._seat_agents()
        if self.render_mode == "human":
            self.render()

    def _seat_agents(self) -> None:
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._has_rewards = False
        self._skip_agent_selection: str | None = None
        self.agent_selection = self.possible_agents[self._on_move]

    def step(self, action: int | None) -> None:
        """Play a legal action for `agent_selection`; None where that agent is done. Raises `IllegalMove`."""
        if not self.agents:
            raise _no_game("step") if self.game_seed is None else BadArgument("step() after the end: call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = self._legal(action)
        if self._has_rewards:
            self._forget_rewards()
        self._cumulative_rewards[agent] = 0.0
        self._on_move = play(self.games, 0, number, self._schema.layout, self._seen, self._mask)
        if self._on_move == NONE:
            self._end_hand()
        else:
            self.agent_selection = self.possible_agents[self._on_move]
        if self.render_mode == "human":
            self.render()

    def _legal(self, action: Any) -> int:
        """An action as a plain int, if it is legal now. Raises `IllegalMove`."""
        try:
            number = operator.index(action)
        except TypeError:
            number = -1
        if 0 <= number < self._num_actions and self._mask[number]:
            return number
        raise self._illegal(action, number)

    def _illegal(self, action: Any, number: int) -> IllegalMove:
        """The error for an action that is not legal, with the reason."""
        game = self._game()
        if not 0 <= number < self._num_actions:
            why = f"no action of this space; actions are integers from 0 to {self._num_actions - 1}"
            return IllegalMove(shown(action), why, game.position())
        try:
            game.play_action(number)
        except IllegalMove as error:
            return error
        return IllegalMove(shown(action), "the mask of this environment forbids it", game.position())

    def _forget_rewards(self) -> None:
        """Clear what the end of a hand has left for one step."""
        self._has_rewards = False
        self._clear_rewards()
        for agent in self.infos:
            self.infos[agent] = {}

    def _end_hand(self) -> None:
        """Pay the hand that is over; end the episode, or let those who are out leave and deal the next hand."""
        outcome = outcome_of(self.games, 0, self.rules)
        self.outcome = outcome
        self._pay(outcome)
        if int(self.games["phase"][0]) == MATCH_OVER:
            # A hand that nobody could finish is cut off, not decided; the end of a match is decided by its totals.
            abandoned = self.episode == "hand" and int(self.games["closing"][0]) == CLOSED_NONE
            self._end_agents(self.truncations if abandoned else self.terminations, self.agents)
        else:
            self._go_on(outcome)
        self.agent_selection = self.possible_agents[int(self.games["turn"][0])]
        self._deads_step_first()

    def _pay(self, outcome: HandOutcome) -> None:
        paid = pay(self._reward, outcome)
        info = _info_of(outcome)
        for agent in self.agents:
            self.rewards[agent] = paid[self._seats[agent]]
            self.infos[agent] = dict(info)
        self._accumulate_rewards()
        self._has_rewards = True

    def _go_on(self, outcome: HandOutcome) -> None:
        """After a hand that did not end the match."""
        out = [agent for agent in self.agents if outcome.eliminated[self._seats[agent]]]
        self._end_agents(self.terminations, out)
        if self.max_hands is not None and int(self.games["hand_no"][0]) + 1 >= self.max_hands:
            self._end_agents(self.truncations, [agent for agent in self.agents if agent not in out])
        else:
            next_hand(self.games, 0)
            self.refresh()

    @staticmethod
    def _end_agents(ends: dict[str, bool], agents: list[str]) -> None:
        for agent in agents:
            ends[agent] = True

    # -- drawing -------------------------------------------------------------------------------------------------

    def _game(self) -> Game:
        """A `Game` of its own that stands as this one."""
        return Game._of_state(self.games.copy(), episode_rules(self.rules, self.episode))

    def render(self) -> str | NDArray[np.uint8] | None:
        """The table as `render_mode` says: text, SVG, an image (uint8, shape (height, width, 3)), or in a window."""
        if self.game_seed is None:
            raise _no_game("render")
        if self.render_mode is None:
            logger.warn("render() without a render_mode: make the environment with one, as render_mode='ansi'")
            return None
        return self.draw(self.render_mode, self.render_seat)

    def draw(self, mode: RenderMode, seat: int | None = None) -> str | NDArray[np.uint8] | None:
        """The table in any mode, from a seat or (None) with all cards."""
        from scala40_env import render

        what = self._game() if seat is None else View.of(self.games, seat, episode_rules(self.rules, self.episode))
        if mode == "ansi":
            return render.ansi_of(what)
        if mode == "svg":
            return render.svg_of(what)
        if mode == "rgb_array":
            return render.rgb_array_of(what)
        if self._window is None:
            self._window = render.Window()
        self._window.show(what)
        return None

    def close(self) -> None:
        """Close the window, if there is one. The environment stays usable."""
        if self._window is not None:
            self._window.close()
            self._window = None

    # -- copies --------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """All but the window, and the schemas, of which there is one for all."""
        return {**self.__dict__, "_window": None, "_schema": None, "_state_schema": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._schema, self._state_schema = schema_of(self.rules), state_schema_of(self.rules)

    def __copy__(self) -> Scala40AEC:
        return copy.deepcopy(self)


def _no_game(what: str) -> BadArgument:
    return BadArgument(f"{what}() before reset(): there is no game yet")


def _info_of(outcome: HandOutcome) -> dict[str, Any]:
    """The outcome of a hand in plain values, for `infos`."""
    return {
        "hand_points": tuple(outcome.hand_points.tolist()),
        "scores": tuple(outcome.scores.tolist()),
        "winner": outcome.winner,
        "closing": outcome.closing,
    }
