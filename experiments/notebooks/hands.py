"""Hands by the thousand, played by kernels, and played again to look at any moment of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import Agent, KernelAgent
from agents.arena import Arena, HandsEnded
from agents.kernels.decisions import look_at_views
from agents.kernels.play import ENDED, play_on
from experiments.league.blocks import chance_of
from experiments.league.lineups import rotations
from scala40_env import Game, Rules
from scala40_env.kernels.engine import hand_deck, start_match, step
from scala40_env.kernels.state import GAME, PACK
from scala40_env.observation import schema_of
from scala40_env.rules.moves import DISCARD, MELD_ACTIONS, NUM_ACTIONS_EXTENDED, POZZO, SLOTS, STOCK, num_actions
from scala40_env.rules.reading import new_games
from scala40_env.rules.record import HandLog, Record, record_from_log

__all__ = ["DISCARDS", "DRAWS", "MELDS", "Hands", "Moments", "before", "play_hands", "played_out", "takes"]

_IDS = np.arange(NUM_ACTIONS_EXTENDED)
DRAWS = (_IDS == STOCK) | (_IDS == POZZO)
"""Which actions draw: bool[actions]."""
DISCARDS = (_IDS >= DISCARD) & (_IDS < SLOTS)
"""Which actions discard."""
MELDS = np.isin(_IDS, list(MELD_ACTIONS))
"""Which actions lay a new meld."""
#: Games played at once: a batch for a network, and little memory.
_GAMES = 1024
#: Actions that there is room for in the rest of a hand; hands of sensible players have some dozens.
_ROOM = 4096


@dataclass(frozen=True, eq=False)
class Hands:
    """Hands that were played, one a game.

    Attributes: `rules`; `names` of the agents; by hand: `deal`, its number; `seeds`; `dealer`; `winner`, the seat that
    closed or -1; `closing`, as `kernels.state.CLOSINGS` numbers it; `turns` played; by hand and seat: `seating`, the
    agent (its index); `points` charged; `opened`; `opening_lap`, from 1, 0 where the seat did not open; and `logs`, the
    actions of every hand.
    """

    rules: Rules
    names: tuple[str, ...]
    deal: NDArray[np.int64]
    seeds: NDArray[np.uint64]
    dealer: NDArray[np.int64]
    seating: NDArray[np.int64]
    points: NDArray[np.int64]
    opened: NDArray[np.bool_]
    opening_lap: NDArray[np.int64]
    winner: NDArray[np.int64]
    closing: NDArray[np.int64]
    turns: NDArray[np.int64]
    logs: tuple[NDArray[np.int16], ...]

    def __len__(self) -> int:
        return len(self.deal)

    @property
    def laps(self) -> NDArray[np.int64]:
        """How many laps every hand lasted; one cut short by the closing counts."""
        laps: NDArray[np.int64] = -(-self.turns // self.rules.num_players)
        return laps

    @property
    def places(self) -> NDArray[np.int64]:
        """Who plays first, second ...: the place of every seat in the order of play, from 0; int64[hands, seats]."""
        seats = np.arange(self.rules.num_players)
        places: NDArray[np.int64] = (seats - self.dealer[:, None] - 1) % self.rules.num_players
        return places

    @property
    def rewards(self) -> NDArray[np.float64]:
        """What the hand brought to every seat, in points: the mean charge of the others minus its own."""
        others = (self.points.sum(axis=1, keepdims=True) - self.points) / (self.rules.num_players - 1)
        return others - self.points

    def record(self, hand: int) -> Record:
        """The record of a hand, which replays and can be saved."""
        deck = _deck(self.rules, int(self.seeds[hand]))
        log = HandLog(int(self.dealer[hand]), deck, self.logs[hand])
        names = [self.names[agent] for agent in self.seating[hand].tolist()]
        return record_from_log(self.rules, int(self.seeds[hand]), names, [log])


def play_hands(
    rules: Rules, agents: Sequence[Agent], deals: int, seed: int = 0, lineup: Sequence[int] | None = None
) -> Hands:
    """Play one hand of every deal in all different rotations of a line-up.

    Args:
        rules: of the hands; each is a match of its own.
        agents: who may sit.
        deals: how many; the same seed gives the same cards, whoever plays and by whatever rules deal alike.
        seed: of the deals and of all chance.
        lineup: the agent (its index) on every seat; the first agent on all seats if left out.

    Raises `AgentError` for an agent that can't play by the rules, or that fails.
    """
    rules = rules.replace(match="single_hand", num_hands=None)
    n = rules.num_players
    seatings = np.array(rotations(tuple(lineup or (0,) * n)), np.int64)
    arena, parts = Arena(rules, agents), []
    per_block = max(1, _GAMES // len(seatings))
    for first in range(0, deals, per_block):
        numbers = range(first, min(first + per_block, deals))
        seeds, keys = chance_of(seed, numbers, len(seatings) * n)
        seating = np.tile(seatings, (len(numbers), 1))
        seeds, numbered = np.repeat(seeds, len(seatings)), np.repeat(np.array(numbers), len(seatings))
        (ended,) = arena.play(seating, seeds, keys.reshape(-1, n), max_hands=1, with_logs=True)
        parts.append(_hands(rules, agents, numbered, seeds, seating, ended))
    return _joined(parts)


def _hands(
    rules: Rules,
    agents: Sequence[Agent],
    deal: NDArray[np.int64],
    seeds: NDArray[np.uint64],
    seating: NDArray[np.int64],
    ended: HandsEnded,
) -> Hands:
    return Hands(
        rules=rules,
        names=tuple(agent.name for agent in agents),
        deal=deal,
        seeds=seeds,
        dealer=np.array([log.dealer for log in ended.logs], np.int64),
        seating=seating,
        points=ended.points,
        opened=ended.opened,
        opening_lap=ended.opening_lap,
        winner=ended.winner,
        closing=ended.closing,
        turns=ended.turns,
        logs=tuple(np.asarray(log.actions, np.int16) for log in ended.logs),
    )


def _joined(parts: Sequence[Hands]) -> Hands:
    """One of several."""
    columns: dict[str, Any] = {field.name: [getattr(part, field.name) for part in parts] for field in fields(Hands)}
    rules, names, logs = columns.pop("rules")[0], columns.pop("names")[0], columns.pop("logs")
    joined = {name: np.concatenate(column) for name, column in columns.items()}
    return Hands(rules=rules, names=names, logs=tuple(log for part in logs for log in part), **joined)


def _deck(rules: Rules, seed: int) -> NDArray[np.int8]:
    games, deck = new_games(rules, seed), np.empty(PACK, np.int8)
    start_match(games, 0)
    size = int(hand_deck(games, 0, deck))
    return deck[:size]


# ---------------------------------------------------------------------------------------------------------------------
# Moments


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of hands: the games as they stood before certain actions, all cards in them.

    Attributes: `rules`; `states`, records of dtype `kernels.state.GAME`; `hand`, which one; `at`, how many actions
    of it had been played; `seat` on move; `action` that it played there; `lap` of the hand, from 1. Arrays over the
    moments, in the order of play.
    """

    rules: Rules
    states: NDArray[Any]
    hand: NDArray[np.int64]
    at: NDArray[np.int64]
    seat: NDArray[np.int64]
    action: NDArray[np.int64]
    lap: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.hand)

    def take(self, which: NDArray[Any]) -> Moments:
        """Some of them: a mask, or places."""
        places = np.arange(len(self))[which]
        states = self.states.view(np.uint8).reshape(len(self), -1)[places].reshape(-1).view(GAME)
        columns = (column[places] for column in (self.hand, self.at, self.seat, self.action, self.lap))
        return Moments(self.rules, states, *columns)

    def of_seat(self, field: str, seats: NDArray[np.int64] | None = None) -> NDArray[Any]:
        """A field that the record has for each seat, such as ``opened``: of the seat on move, or of other seats."""
        values: NDArray[Any] = self.states[field][np.arange(len(self)), self.seat if seats is None else seats]
        return values

    def seen(self, seats: NDArray[np.int64] | None = None) -> tuple[NDArray[np.int8], NDArray[np.uint8]]:
        """What the seat on move sees, and what it may do: observations int8[n, size], masks uint8[n, actions].

        Of other `seats` the observations alone mean something: they have nothing to do.
        """
        schema, actions = schema_of(self.rules), num_actions(self.rules)
        observations = np.zeros((len(self), schema.size), np.int8)
        packed = np.zeros((len(self), -(-actions // 8)), np.uint8)
        states = self.states.copy()
        look_at_views(states, self.seat if seats is None else seats, schema.layout, observations, packed)
        return observations, np.unpackbits(packed, axis=1, count=actions)


def before(hands: Hands, wanted: NDArray[np.bool_], agent: int | None = None) -> Moments:
    """The moments before all actions of a kind.

    Args:
        hands: that are played again.
        wanted: which actions: bool[NUM_ACTIONS_EXTENDED], such as `DISCARDS`.
        agent: only where this agent (its index) is on move.
    """
    games = new_games(hands.rules, 0)
    raw, n = games.view(np.uint8), hands.rules.num_players
    kept, marks = [], []
    for hand, log in enumerate(hands.logs):
        games["seed"] = hands.seeds[hand]
        start_match(games, 0)
        stops = wanted[log].tolist()
        for at, (action, stop) in enumerate(zip(log.tolist(), stops, strict=True)):
            if stop:
                seat = int(games["turn"][0])
                if agent is None or hands.seating[hand, seat] == agent:
                    kept.append(raw.tobytes())
                    marks.append((hand, at, seat, action, int(games["turns_played"][0]) // n + 1))
            step(games, 0, action)
    states = np.frombuffer(b"".join(kept), GAME)
    columns = np.array(marks, np.int64).reshape(-1, 5).T
    return Moments(hands.rules, states, *columns)


def takes(hands: Hands, discards: Moments) -> NDArray[np.bool_]:
    """Whether the next player took the card from the pozzo: by discard; False where it ended the hand."""
    after = [hands.logs[hand][at + 1 : at + 2] for hand, at in zip(discards.hand, discards.at, strict=True)]
    return np.array([len(action) == 1 and action[0] == POZZO for action in after], np.bool_)


def played_out(positions: Sequence[Game], agent: KernelAgent, seed: int = 0) -> NDArray[Any]:
    """The rest of many hands, the agent on every seat: the records at their ends, dtype `kernels.state.GAME`.

    Args:
        positions: games that stand in the middle of a hand, all of the same rules.
        agent: who plays on.
        seed: of what it leaves to chance.

    Raises `ValueError` for a hand that does not end.
    """
    n, seats = len(positions), positions[0].rules.num_players
    games = np.frombuffer(b"".join(game.state.tobytes() for game in positions), GAME).copy()
    keys = np.random.default_rng(seed).integers(0, 2**64, (n, seats), np.uint64)
    stops = np.zeros(n, np.int8)
    play_on(
        *(games, np.arange(n), np.zeros((n, seats), np.int64), np.array([agent.kernel_id]), agent.weights[None], keys),
        *(np.zeros((n, _ROOM), np.int16), np.zeros(n, np.int64), np.zeros(1, GAME), stops),
    )
    if (stops != ENDED).any():
        raise ValueError(f"hand {int((stops != ENDED).argmax())} has not ended after {_ROOM} actions")
    return games
