"""The arena: many games at once, an agent on every seat.

Games go on hand by hand. Within a hand all scripted agents are played inside one kernel call; where an agent of Python
is on move the game stops, and those that stopped are asked in batches. A game depends on its deal, its agents and its
keys alone, never on the games beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, AgentError, KernelAgent
from agents.deadline import Deadline, TookTooLong
from agents.kernels.choice import NUM_WEIGHTS
from agents.kernels.play import ENDED, EXTERNAL, LOG_FULL, STUCK, play_on
from scala40_env.kernels.engine import hand_deck, next_hand, start_match, step
from scala40_env.kernels.state import GAME, HAND_OVER, MATCH_OVER, PACK
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import shown
from scala40_env.rules.moves import BUY, DISCARD, MELD_ACTIONS, NUM_ACTIONS_EXTENDED, SLOTS
from scala40_env.rules.position import to_position
from scala40_env.rules.reading import new_games
from scala40_env.rules.record import HandLog
from scala40_env.rules.view import View

#: Actions of a hand that there is room for at first; the few longer hands make it grow.
_FIRST_ROOM = 512
#: Milliseconds more for an agent's first move.
_FIRST_MS = 60_000
_IS_DISCARD = (np.arange(NUM_ACTIONS_EXTENDED) >= DISCARD) & (np.arange(NUM_ACTIONS_EXTENDED) < SLOTS)
_IS_MELD = np.isin(np.arange(NUM_ACTIONS_EXTENDED), list(MELD_ACTIONS))
#: Makes other keys of the same in every hand of a match.
_NEXT_HAND = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True)
class HandsEnded:
    """The hands that ended in one round: arrays over the games, in their order.

    Attributes: `games`, which ones; `hand_no`, from 0; `points`, `jokers` (left in hand), `opened`, `opening_lap` (from
    1; 0 if the seat did not open), `played` (was the seat in the hand) and `champions` by game and seat; `winner`, the
    seat that closed or -1; `closing`, as `CLOSINGS` of the kernels numbers it; `turns`, how many were played;
    `match_over`; `logs`, the deals and moves, if they were asked for.
    """

    games: NDArray[np.int64]
    hand_no: NDArray[np.int64]
    points: NDArray[np.int64]
    jokers: NDArray[np.int64]
    winner: NDArray[np.int64]
    closing: NDArray[np.int64]
    opened: NDArray[np.bool_]
    opening_lap: NDArray[np.int64]
    played: NDArray[np.bool_]
    turns: NDArray[np.int64]
    match_over: NDArray[np.bool_]
    champions: NDArray[np.bool_]
    logs: tuple[HandLog, ...]


class Arena:
    """Where agents play by some rules.

    Args:
        rules: of all games.
        agents: who may sit; a seating names them by their index. Raises `AgentError` for one that can't play the rules.
        max_ms_per_move: milliseconds that an agent of Python may take for a move, on average over those that it is
            asked for at once. The first time that it is asked it has a minute more: it may have to load or compile.
    """

    def __init__(self, rules: Rules, agents: Sequence[Agent], max_ms_per_move: float | None = None) -> None:
        for agent in agents:
            agent.check_rules(rules)
        self._rules = rules
        self._agents = tuple(agents)
        self._max_ms = max_ms_per_move
        self._asked_before: set[int] = set()
        #: The agent of Python that is thinking (its index plus one; 0 for none) and the seed of its deal. Whoever puts
        #: shared memory here knows who was thinking when the process died.
        self.asking = np.zeros(2, np.uint64)
        self._kinds = np.array([_kind(agent) for agent in agents], np.int64)
        self._weights = np.zeros((len(agents), NUM_WEIGHTS), np.int64)
        for row, agent in enumerate(agents):
            if isinstance(agent, KernelAgent):
                self._weights[row] = agent.weights

    def play(
        self,
        seating: NDArray[np.int64],
        seeds: NDArray[np.uint64],
        keys: NDArray[np.uint64],
        max_hands: int | None = None,
        with_logs: bool = False,
    ) -> Iterator[HandsEnded]:
        """Play a match in each game, and give the hands as they end: the first of all games, the second, and so on.

        Args:
            seating: the agent (its index) of every game and seat.
            seeds: of the game's deals. The same seed is the same match for any agents, up to what they do.
            keys: seeds of the agents' own generators, by game and seat.
            max_hands: of a match; one that is not over then is left.
            with_logs: keep the moves.

        Raises `AgentError` for an agent that fails, is too slow, or plays what is not legal.
        """
        yield from _Table(self, seating, seeds, keys).rounds(max_hands, with_logs)

    def _limit_of(self, row: int) -> float | None:
        """Milliseconds that an agent may take for its next move."""
        if self._max_ms is None:
            return None
        return self._max_ms if row in self._asked_before else self._max_ms + _FIRST_MS


def _kind(agent: Agent) -> int:
    return agent.kernel_id if isinstance(agent, KernelAgent) else -1


class _Table:
    """The games of one call of `Arena.play`."""

    def __init__(
        self, arena: Arena, seating: NDArray[np.int64], seeds: NDArray[np.uint64], keys: NDArray[np.uint64]
    ) -> None:
        self.arena = arena
        self.rules = arena._rules
        self.seating = np.ascontiguousarray(seating, np.int64)
        self.keys = np.ascontiguousarray(keys, np.uint64)
        self.games = np.repeat(new_games(self.rules, 0), len(seeds))
        self.games["seed"] = seeds
        self.logs = np.zeros((len(seeds), _FIRST_ROOM), np.int16)
        self.lengths = np.zeros(len(seeds), np.int64)
        self.stops = np.zeros(len(seeds), np.int8)
        self.views = np.zeros(1, GAME)
        self.generators: dict[tuple[int, int], np.random.Generator] = {}

    def rounds(self, max_hands: int | None, with_logs: bool) -> Iterator[HandsEnded]:
        """One hand of every game whose match goes on, then the next."""
        which = np.arange(len(self.games), dtype=np.int64)
        hand_no = 0
        while len(which) and (max_hands is None or hand_no < max_hands):
            deal = next_hand if hand_no else start_match
            for i in which.tolist():
                deal(self.games, i)
            self.lengths[which] = 0
            played = self.games["out"][which, : self.rules.num_players] == 0
            self._play_hand(which, self.keys + np.uint64(hand_no * _NEXT_HAND % 2**64))
            yield self._ended(which, played, with_logs)
            which = which[self.games["phase"][which] == HAND_OVER]
            hand_no += 1

    def _play_hand(self, which: NDArray[np.int64], keys: NDArray[np.uint64]) -> None:
        """Play the hands of these games to their ends."""
        arena, going = self.arena, which
        while len(going):
            play_on(
                self.games,
                going,
                self.seating,
                arena._kinds,
                arena._weights,
                keys,
                self.logs,
                self.lengths,
                self.views,
                self.stops,
            )
            going = going[self.stops[going] != ENDED]
            stops = self.stops[going]
            if STUCK in stops:
                raise self._stuck(int(going[stops == STUCK][0]))
            if LOG_FULL in stops:
                self._grow()
            self._ask_all(going[stops == EXTERNAL])

    def _grow(self) -> None:
        self.logs = np.concatenate([self.logs, np.zeros_like(self.logs)], axis=1)

    def _ended(self, which: NDArray[np.int64], played: NDArray[np.bool_], with_logs: bool) -> HandsEnded:
        games, seats = self.games[which], self.rules.num_players
        return HandsEnded(
            games=which,
            hand_no=games["hand_no"].astype(np.int64),
            points=games["hand_points"][:, :seats].astype(np.int64),
            jokers=games["jokers"][:, :seats].astype(np.int64),
            winner=games["winner"].astype(np.int64),
            closing=games["closing"].astype(np.int64),
            opened=games["opened"][:, :seats] != 0,
            opening_lap=self._opening_laps(which, played) * (games["opened"][:, :seats] != 0),
            played=played,
            turns=games["turns_played"].astype(np.int64),
            match_over=games["phase"] == MATCH_OVER,
            champions=games["champion"][:, :seats] != 0,
            logs=tuple(self._log(i) for i in which.tolist()) if with_logs else (),
        )

    def _opening_laps(self, which: NDArray[np.int64], played: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The laps in which seats laid their first meld, by game and seat, 0 for none: told from the moves alone."""
        length = int(self.lengths[which].max(initial=1))
        actions = self.logs[which, :length]
        inside = np.arange(length) < self.lengths[which, None]
        discards = inside & _IS_DISCARD[actions]
        turn: NDArray[np.int64] = np.cumsum(discards, axis=1) - discards
        melds = inside & _IS_MELD[actions]
        melds[:, 1:] &= actions[:, :-1] != BUY  # who buys lays out of turn, and has opened before
        game, at = np.nonzero(melds)
        seats_in = played.sum(axis=1)
        seat = self._order(which, played)[game, turn[game, at] % seats_in[game]]
        never = np.iinfo(np.int64).max
        laps = np.full(played.shape, never)
        np.minimum.at(laps, (game, seat), turn[game, at] // seats_in[game] + 1)
        return np.where(laps == never, 0, laps)

    def _order(self, which: NDArray[np.int64], played: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The seats of each game in the order of play, those that sit out last."""
        seats = played.shape[1]
        after_dealer = (np.arange(seats) - self.games["dealer"][which, None] - 1) % seats
        return np.argsort(after_dealer + seats * ~played, axis=1)

    def _log(self, i: int) -> HandLog:
        """The log of the hand that game ``i`` has just ended. Its deal is made again: it follows from the record."""
        deck = np.empty(PACK, np.int8)
        size = int(hand_deck(self.games, i, deck))
        return HandLog(int(self.games["dealer"][i]), deck[:size], self.logs[i, : self.lengths[i]].copy())

    # -- agents of Python ----------------------------------------------------------------------------------------

    def _ask_all(self, which: NDArray[np.int64]) -> None:
        """Let the agents on move in these games choose, each agent in one batch."""
        by_agent: dict[int, list[int]] = {}
        for i in which.tolist():
            by_agent.setdefault(int(self.seating[i, self.games["turn"][i]]), []).append(i)
        for row, games in by_agent.items():
            views = [View.of(self.games[i : i + 1], int(self.games["turn"][i]), self.rules) for i in games]
            for i, view, action in zip(games, views, self._answers(row, games, views), strict=True):
                self._play(i, view, action)

    def _answers(self, row: int, games: list[int], views: list[View]) -> list[Any]:
        """What an agent answers to all these views."""
        agent = self.arena._agents[row]
        generators = [self._generator(i, view.seat) for i, view in zip(games, views, strict=True)]
        if type(agent).act_batch is not Agent.act_batch:
            answers = self._timed(row, games[0], len(views), lambda: list(agent.act_batch(views, generators)))
            if len(answers) != len(views):
                raise self._error(games[0], f"gave {len(answers)} actions for {len(views)} views")
            return answers
        return [
            self._timed(row, i, 1, partial(agent.act, view, generator))
            for i, view, generator in zip(games, views, generators, strict=True)
        ]

    def _timed(self, row: int, i: int, moves: int, ask: Callable[[], Any]) -> Any:
        """What an agent answers in game ``i``, there and in others, in the time that it has."""
        self.arena.asking[:] = row + 1, self.games["seed"][i]
        limit = self.arena._limit_of(row)
        started = perf_counter()
        try:
            with Deadline(limit and limit * moves / 1000), _Failing(self, i):
                answer = ask()
        except TookTooLong:
            raise self._error(i, f"took more than the {limit:g} ms that are allowed for a move") from None
        self.arena.asking[0] = 0
        took = (perf_counter() - started) * 1000 / moves
        if limit is not None and took > limit:  # where there is no stopping it
            raise self._error(i, f"took {took:.0f} ms for a move; allowed are {limit:g}")
        self.arena._asked_before.add(row)
        return answer

    def _generator(self, i: int, seat: int) -> np.random.Generator:
        """The generator of a seat in a game: one for the whole match."""
        if (i, seat) not in self.generators:
            self.generators[i, seat] = np.random.Generator(np.random.Philox(key=int(self.keys[i, seat])))
        return self.generators[i, seat]

    def _play(self, i: int, view: View, action: Any) -> None:
        legal = view.legal_actions()
        if isinstance(action, bool) or not isinstance(action, int | np.integer) or int(action) not in legal:
            moves = ", ".join(view.legal_moves())
            raise self._error(i, f"chose {shown(action)}, which is no legal action; legal are {legal}: {moves}")
        if self.lengths[i] == self.logs.shape[1]:
            self._grow()
        self.logs[i, self.lengths[i]] = action
        self.lengths[i] += 1
        step(self.games, i, int(action))

    def _error(self, i: int, reason: str) -> AgentError:
        """An error of the agent on move in game ``i``."""
        seat = int(self.games["turn"][i])
        where = f"as seat {seat} in hand {int(self.games['hand_no'][i]) + 1}"
        name = self.arena._agents[int(self.seating[i, seat])].name
        position = to_position(self.games[i : i + 1], self.rules)
        return AgentError(f"{where} it {reason}", name, int(self.games["seed"][i]), position)

    def _stuck(self, i: int) -> AgentError:
        return self._error(i, "has no legal move, which is an error of the game")


class _Failing:
    """Turns whatever an agent raises into an `AgentError` that says where it happened."""

    def __init__(self, table: _Table, i: int) -> None:
        self.table, self.i = table, i

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception):
            raise self.table._error(self.i, f"failed with {type(error).__name__}: {error}") from error
