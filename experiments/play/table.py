"""A table: one match between people and agents, move by move, with what its pages and its file need of it.

No server is in here, and no clock runs: what happens at a table is decided by whoever calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from scala40_env.rules.cards import JOKER, format_cards, parse_cards
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import Scala40Error
from scala40_env.rules.game import Game, Outcome
from scala40_env.rules.moves import DISCARD, PASS, SLOTS, STOCK, split_turn
from scala40_env.rules.reading import hand_of, texts_of
from scala40_env.rules.record import Record

__all__ = ["HandResult", "NotNow", "Place", "Played", "Setup", "Table"]


class NotNow(Scala40Error):
    """Something that a player may do, but not at this moment.

    Attributes: `key`, the name of the sentence in the files of words; `name`, who is waited for, where that is known.
    """

    def __init__(self, key: str, name: str = "") -> None:
        super().__init__(key, name)
        self.key = key
        self.name = name


@dataclass(frozen=True, slots=True)
class Place:
    """Who sits on a seat: a person (`agent` is None), whose page is found by its secret `token`, or an agent."""

    name: str
    agent: str | None = None
    token: str = ""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a table was made with: `seed` decides all its cards, `clock` is seconds for a turn (0: no clock)."""

    id: str
    rules: Rules
    seed: int
    places: tuple[Place, ...]
    clock: int = 0
    language: str = "en"
    made: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names by seat."""
        return tuple(place.name for place in self.places)


class Played(NamedTuple):
    """A move of the hand on the table: the seat and the move in notation, which names no hidden card."""

    seat: int
    move: str


class HandResult(NamedTuple):
    """A line of the score sheet: points charged and totals by seat, who closed (None: nobody), and how."""

    points: tuple[int, ...]
    scores: tuple[int, ...]
    winner: int | None
    closing: str


class _Moment(NamedTuple):
    """Where an undo goes back to."""

    game: Game
    length: int
    fresh: dict[int, tuple[str, ...]]


class Table:
    """A match under way.

    Attributes: `setup`; `game`; `log`, the moves of the hand; `sheet`, the hands that are over; `version`, a number
    that grows with every change; `fresh`, for each seat the cards that it got in its turn, which only its own page may
    show.

    Args:
        setup: of the table.
        hands: the ids of all moves, hand by hand, for a table that goes on where it was left. They have to be legal:
            raises `Scala40Error` where one is not.
        stops: the `stops` that it had then; None: every move can be taken back by itself.
    """

    def __init__(self, setup: Setup, hands: Sequence[Sequence[int]] = (), stops: Sequence[int] | None = None) -> None:
        self.setup = setup
        self.game = Game(setup.rules, setup.seed)
        self.log: list[Played] = []
        self.sheet: list[HandResult] = []
        self.fresh: dict[int, tuple[str, ...]] = {}
        self.version = 0
        self._before: list[list[int]] = []
        self._moments: list[_Moment] = []
        for at, actions in enumerate(hands):
            if at:
                self.next_hand()
            for action in actions:
                self.play_action(action)
        if stops is not None:
            self._moments = [moment for moment in self._moments if len(moment.game.actions) in stops]

    # -- what stands ---------------------------------------------------------------------------------------------

    @property
    def hands(self) -> list[list[int]]:
        """The ids of all moves, hand by hand: with the set-up they are the whole table."""
        return [*self._before, self.game.actions]

    @property
    def stops(self) -> list[int]:
        """Where an undo may stop: how many moves of the hand had been played there."""
        return [len(moment.game.actions) for moment in self._moments]

    @property
    def over(self) -> bool:
        """Is the match over?"""
        return self.game.phase == "match_over"

    @property
    def on_move(self) -> int | None:
        """The seat that has to move, None between hands."""
        return None if self.game.hand_over else self.game.turn

    @property
    def agent_on_move(self) -> str | None:
        """The agent that has to move, None where a person has to, or nobody."""
        return None if self.on_move is None else self.setup.places[self.on_move].agent

    @property
    def decision(self) -> tuple[int, int, int, bool]:
        """What a clock runs for: the same as long as a seat has not ended its turn, or its answer to a purchase."""
        game = self.game
        return len(self._before), game.turns_played, game.turn, game.phase == "buy"

    def can_undo(self, seat: int) -> bool:
        """May this seat take its last move back? Nothing can that has shown a card or let another seat decide."""
        return self.on_move == seat and bool(self._moments)

    def generator(self, seat: int) -> np.random.Generator:
        """Chance for the next decision of an agent: it follows from the seed and from how far the match is.

        So a table that was left goes on as if it had not been.
        """
        return np.random.default_rng([self.setup.seed, seat, len(self._before), len(self.game.actions)])

    def record(self) -> Record | None:
        """The record of the hands that are over, None before the first one is."""
        record = self.game.record(self.setup.names)
        hands = record.hands if record.finished else record.hands[:-1]
        return replace(record, hands=hands) if hands else None

    # -- moves ---------------------------------------------------------------------------------------------------

    def play(self, seat: int, text: str) -> None:
        """Play moves for a seat, separated by ``;``, where `meld` may name a combination of any length.

        They are played one by one, and those before one that is refused stay played: were all of them taken back, the
        refusal would tell what card the stock had given. Raises `NotNow` out of turn, `IllegalMove` or `BadNotation` as
        `Game.play` does.
        """
        for move in split_turn(text) or [text]:
            self.check_turn(seat)
            after = self.game.copy().play(move)
            self._go_on(after.actions[len(self.game.actions) :])

    def play_action(self, action: int) -> None:
        """Play one move by its id for the seat on move. Raises `IllegalMove` or `BadNotation`."""
        self._go_on([action])

    def _go_on(self, actions: Sequence[int]) -> None:
        """Play small moves that make up one move, which an undo takes back as one."""
        moment = _Moment(self.game.copy(), len(self.log), dict(self.fresh))
        for action in actions:
            before = self.game.copy()
            self.game.play_action(action)
            self.log.append(Played(before.turn, texts_of(before.state, [action])[0]))
            self._note_cards(before)
        self._moments = [] if _settles(moment.game, self.game) else [*self._moments, moment]
        self._note_end()
        self.version += 1

    def undo(self, seat: int) -> None:
        """Take the last move of this turn back. Raises `NotNow` where that can't be."""
        self.check_turn(seat)
        if not self._moments:
            raise NotNow("nothing_to_undo")
        self.game, length, self.fresh = self._moments.pop()
        del self.log[length:]
        self.version += 1

    def next_hand(self) -> None:
        """Deal the next hand. Raises `NotNow` while one runs, or after the match."""
        if self.game.phase != "hand_over":
            raise NotNow("match_is_over" if self.over else "hand_not_over")
        self._before.append(self.game.actions)
        self.game.next_hand()
        self.log, self.fresh, self._moments = [], {}, []
        self.version += 1

    def play_default(self) -> None:
        """End the decision of the seat on move for it, as when its time is up or its agent fails.

        What it did since its draw is taken back. It declines to buy; it draws from the stock, and throws the card drawn
        or, where that may not be thrown, the dearest that may. Where none may it plays the first legal move.
        """
        decision = self.decision
        while self._moments:
            self.undo(self.game.turn)
        while not self.game.hand_over and self.decision == decision:
            self.play_action(self._default())

    def _default(self) -> int:
        legal = self.game.legal_actions()
        if PASS in legal or STOCK in legal:
            return PASS if PASS in legal else STOCK
        discards = [action for action in legal if DISCARD <= action < SLOTS]
        drawn = [DISCARD + card for card in parse_cards(" ".join(self.fresh.get(self.game.turn, ())))]
        return next((action for action in drawn if action in discards), max(discards, key=_dearness, default=legal[0]))

    def check_turn(self, seat: int) -> None:
        """Raise `NotNow` unless this seat has to move."""
        if self.on_move is None:
            raise NotNow("match_is_over" if self.over else "hand_is_over")
        if self.on_move != seat:
            raise NotNow("not_your_turn", self.setup.names[self.on_move])

    def _note_cards(self, before: Game) -> None:
        """Note what cards the last move brought to seats, and forget those of a turn that is over."""
        for seat in range(self.setup.rules.num_players):
            got = Counter(hand_of(self.game.state, seat)) - Counter(hand_of(before.state, seat))
            if got:
                self.fresh[seat] = tuple(format_cards(got.elements()).split())
        if self.game.turns_played != before.turns_played:
            self.fresh.pop(before.turn, None)

    def _note_end(self) -> None:
        outcome: Outcome | None = self.game.outcome
        if outcome is not None:
            self.sheet.append(HandResult(outcome.hand_points, outcome.scores, outcome.winner, outcome.closing))


def _settles(before: Game, after: Game) -> bool:
    """Has a move shown a hidden card, or given the decision away? It can't be taken back then."""
    return after.hand_over or _hidden_and_turn(before) != _hidden_and_turn(after)


def _hidden_and_turn(game: Game) -> tuple[int, ...]:
    state = game.state
    return tuple(int(state[name][0]) for name in ("stock_n", "shuffles", "turn", "turns_played"))


def _dearness(discard: int) -> tuple[bool, int]:
    """Courts and high cards first, jokers last."""
    card = discard - DISCARD
    return card != JOKER, 13 if card % 13 == 0 else card % 13
