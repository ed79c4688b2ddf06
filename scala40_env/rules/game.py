"""`Game`, the people's door: one match, move by move, in notation, every move checked.

A thin face over the kernels: they alone say what is legal and what a move does.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.kernels.engine import hand_deck, start_match, step
from scala40_env.kernels.engine import next_hand as deal_next_hand
from scala40_env.kernels.state import CLOSINGS, HAND_OVER, MATCH_OVER, NONE, PACK, PHASES
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import BadNotation, BadRules, IllegalMove, Scala40Error, shown
from scala40_env.rules.explain import why_illegal
from scala40_env.rules.moves import NUM_ACTIONS_EXTENDED, parse_move, split_turn
from scala40_env.rules.position import Wording, from_position, to_position
from scala40_env.rules.reading import (
    Games,
    legal_ids,
    legal_mask,
    melds_of,
    new_games,
    number,
    numbers,
    texts_of,
)
from scala40_env.rules.record import HandLog, Record, record_from_log
from scala40_env.rules.sugar import ways_to_lay
from scala40_env.rules.table_text import table_text
from scala40_env.rules.view import View

MAX_SEED = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a hand ended, and where the match stands.

    Attributes: `winner`, the seat that closed, None if nobody did; `closing`, ``"normal"``, ``"in_hand"`` or ``"none"``
    (abandoned); `hand_points` and `scores`, the charges of this hand and the totals with them, by seat; `eliminated`,
    the seats out of the match; `champions`, the seats that have won the match, if `match_over`.
    """

    winner: int | None
    closing: str
    hand_points: tuple[int, ...]
    scores: tuple[int, ...]
    eliminated: tuple[int, ...]
    champions: tuple[int, ...]
    match_over: bool


class _Tape:
    """The actions of a hand so far; copies share the list until one of them goes on."""

    def __init__(self, actions: Sequence[int] = ()) -> None:
        self._actions = list(actions)
        self._length = len(self._actions)

    def copy(self) -> _Tape:
        tape = _Tape()
        tape._actions, tape._length = self._actions, self._length
        return tape

    def append(self, action: int) -> None:
        if len(self._actions) > self._length:  # a copy has gone on from here
            self._actions = self._actions[: self._length]
        self._actions.append(action)
        self._length += 1

    def __iter__(self) -> Iterator[int]:
        return iter(self._actions[: self._length])

    def __reduce__(self) -> tuple[type[_Tape], tuple[list[int]]]:
        return _Tape, (list(self),)


class Game:
    """One match, begun with its first hand dealt.

    Args:
        rules: the federation's if left out.
        seed: 0 to 2**64 - 1; it decides every card of the match. A fresh one if left out.

    Raises `BadRules` for rules that are none, `Scala40Error` for a seed out of range.

    >>> game = Game(Rules.fisca(num_players=3), seed=7)
    >>> game.legal_moves()
    ['stock']
    """

    __hash__ = None  # type: ignore[assignment]  # a game changes

    def __init__(self, rules: Rules | None = None, seed: int | None = None) -> None:
        self._rules = _checked_rules(Rules() if rules is None else rules)
        self._state = new_games(self._rules, secrets.randbits(64) if seed is None else _checked_seed(seed))
        start_match(self._state, 0)
        self._origin = self._state
        self._wording = Wording(self._rules.to_dict())
        self._logs: tuple[HandLog, ...] = ()
        self._begin_log()

    @classmethod
    def from_position(cls, position: Mapping[str, Any]) -> Game:
        """The game that stands as the position says. Raises `BadPosition` or `BadRules`."""
        state = from_position(position)  # it checks the rules too
        game = cls._of_state(state, Rules.from_dict(position.get("rules", {})))
        game._wording = Wording.of(position, game._rules)
        return game

    @classmethod
    def _of_state(cls, state: Games, rules: Rules) -> Game:
        """The game of a record that is the caller's own; its history begins here."""
        game = cls.__new__(cls)
        game._state, game._rules = state, rules
        game._wording = Wording(rules.to_dict())
        game._logs, game._tape = (), _Tape()
        game._origin = state.copy()
        game._hand = HandLog(game.dealer, None, ())
        return game

    def _begin_log(self) -> None:
        """Note the deal of the hand that begins, for the record."""
        deck = np.empty(PACK, np.int8)
        size = int(hand_deck(self._state, 0, deck))
        self._hand = HandLog(self.dealer, deck[:size], ())
        self._tape = _Tape()

    # -- what stands ---------------------------------------------------------------------------------------------

    @property
    def rules(self) -> Rules:
        """The rules of the match."""
        return self._rules

    @property
    def seed(self) -> int:
        """The key of the game's generator: 0 to 2**64 - 1."""
        return number(self._state, "seed")

    @property
    def turn(self) -> int:
        """The seat that has to move; when the hand is over, the one that moved last or would have."""
        return number(self._state, "turn")

    @property
    def phase(self) -> str:
        """``"draw"``, ``"play"``, ``"buy"``, ``"hand_over"`` or ``"match_over"``."""
        return PHASES[number(self._state, "phase")]

    @property
    def dealer(self) -> int:
        """The seat that dealt this hand."""
        return number(self._state, "dealer")

    @property
    def turns_played(self) -> int:
        """Turns completed in this hand."""
        return number(self._state, "turns_played")

    @property
    def scores(self) -> list[int]:
        """The totals of all seats, this hand included once it is over."""
        return numbers(self._state, "scores")

    @property
    def hand_points(self) -> list[int]:
        """What the hand has charged every seat; zeros while it runs."""
        return numbers(self._state, "hand_points")

    @property
    def opened(self) -> list[bool]:
        """Which seats have opened in this hand."""
        return [bool(flag) for flag in numbers(self._state, "opened")]

    @property
    def hand_over(self) -> bool:
        """Is the hand over (and perhaps the match with it)?"""
        return number(self._state, "phase") in (HAND_OVER, MATCH_OVER)

    @property
    def outcome(self) -> Outcome | None:
        """How the hand ended; None while it runs."""
        return _outcome_of(self._state) if self.hand_over else None

    @property
    def actions(self) -> list[int]:
        """The ids of the moves of this hand so far, or of those since the position that the game began from."""
        return list(self._tape)

    @property
    def state(self) -> Games:
        """A read-only copy of the record, shape (1,) of dtype `kernels.state.GAME`."""
        state = self._state.copy()
        state.flags.writeable = False
        return state

    # -- moves ---------------------------------------------------------------------------------------------------

    def legal_actions(self) -> list[int]:
        """The ids of the legal moves, ascending; none when the hand is over."""
        return legal_ids(self._state)

    def legal_moves(self) -> list[str]:
        """The legal moves in notation, sorted; none when the hand is over."""
        return sorted(texts_of(self._state, self.legal_actions()))

    def mask(self) -> NDArray[np.int8]:
        """The mask of legal actions: int8, shape (`num_actions(rules)`,)."""
        return legal_mask(self._state, self._rules)

    def play(self, text: str) -> Game:
        """Play turn text: moves separated by ``;``, where `meld` may name a combination of any length.

        All of it is played or, on an error, nothing. Returns the game itself.

        Raises `BadNotation` for text that can't be read, `IllegalMove` with the rule that forbids the move, what would
        be legal, and the position.
        """
        moves = split_turn(text)
        if not moves:
            raise BadNotation(f"{shown(text)} holds no move; moves are separated by ;")
        trial = self.copy()
        for move in moves:
            trial._play_move(move)
        self._state, self._tape = trial._state, trial._tape
        return self

    def play_action(self, action: int) -> Game:
        """Play one move by its id. Returns the game itself; on `IllegalMove` or `BadNotation` nothing has changed."""
        action = _checked_action(action)
        if action not in self.legal_actions():
            raise self._illegal(_name_of(self._state, action), action)
        self._step(action)
        return self

    def _step(self, action: int) -> None:
        step(self._state, 0, action)
        self._tape.append(action)

    def _play_move(self, move: str) -> None:
        """Play one move, or a meld of any length, that somebody wrote."""
        if len(move.split()) > 4 and move.split()[0].lower() == "meld":
            self._play_long_meld(move)
            return
        try:
            action = parse_move(move, melds_of(self._state))
        except IllegalMove as error:
            raise self._illegal(move, move) from error
        if action not in self.legal_actions():
            raise self._illegal(move, action)
        self._step(action)

    def _play_long_meld(self, move: str) -> None:
        """Lay a combination in the first order of small moves that is legal throughout."""
        first_error: IllegalMove | None = None
        for way in ways_to_lay(move, self._rules, number(self._state, "meld_n") + 1):
            trial = self.copy()
            try:
                for small in way:
                    trial._play_move(small)
            except IllegalMove as error:
                first_error = first_error or error
            else:
                self._state, self._tape = trial._state, trial._tape
                return
        assert first_error is not None  # there is at least one way, or reading the move has failed
        raise IllegalMove(move, f"{shown(first_error.move)}: {first_error.reason}", self.position()) from None

    def _illegal(self, move: str, what: int | str) -> IllegalMove:
        return IllegalMove(move, why_illegal(self._state, what, self._rules), self.position())

    def next_hand(self) -> Game:
        """Deal the next hand. Returns the game itself; raises `IllegalMove` while a hand runs or after the match."""
        if number(self._state, "phase") != HAND_OVER:
            why = "the match is over" if self.hand_over else "this hand is not over yet"
            raise IllegalMove("next_hand", f"{why}; the phase is {self.phase}", self.position())
        self._logs = (*self._logs, self._finished_log())
        deal_next_hand(self._state, 0)
        self._begin_log()
        return self

    def _finished_log(self) -> HandLog:
        """The log of the hand so far: from its deal, or from the position where this game began."""
        position = to_position(self._origin, self._rules) if self._hand.deck is None else None
        return self._hand._replace(actions=tuple(self._tape), position=position)

    # -- other forms ---------------------------------------------------------------------------------------------

    def position(self) -> dict[str, Any]:
        """The complete position (notation.md), as JSON takes it; see `rules.position`."""
        return self._wording.dress(to_position(self._state, self._rules), self._state, self._rules)

    def view(self, seat: int) -> View:
        """What a seat knows: nothing hidden is in it. Raises `Scala40Error` for a seat that does not exist."""
        return View.of(self._state, seat, self._rules)

    def record(self, players: Sequence[str] | None = None) -> Record:
        """The record of the match so far, also of a hand that still runs; `players` are names by seat."""
        names = players or [f"player_{seat}" for seat in range(self._rules.num_players)]
        return record_from_log(self._rules, self.seed, names, (*self._logs, self._finished_log()))

    def copy(self) -> Game:
        """An independent game that goes on alike."""
        twin = Game.__new__(Game)
        twin.__dict__.update(self.__dict__)
        twin._state, twin._tape = self._state.copy(), self._tape.copy()
        return twin

    def __copy__(self) -> Game:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        return self.copy()

    def __eq__(self, other: object) -> bool:
        """Do both stand alike: same rules, cards, seed, scores and turn, whatever the way there?"""
        if not isinstance(other, Game):
            return NotImplemented
        return self._rules == other._rules and _plain(self) == _plain(other)

    def __str__(self) -> str:
        return table_text(self._state, self._rules)

    def _repr_svg_(self) -> str:
        """The drawing with all cards, for notebooks."""
        from scala40_env.render.svg import svg_of  # drawing is for who looks, so it is loaded late

        return svg_of(self)

    def __repr__(self) -> str:
        return f"<Game {self._rules!r} seed={self.seed}: {self.phase}, turn of seat {self.turn}>"


def _plain(game: Game) -> dict[str, Any]:
    """What counts in comparing games: the position, but for the name of the preset."""
    return {**to_position(game._state, game._rules), "rules": None}


def _outcome_of(state: Games) -> Outcome:
    winner = number(state, "winner")
    return Outcome(
        winner=None if winner == NONE else winner,
        closing=CLOSINGS[number(state, "closing")],
        hand_points=tuple(numbers(state, "hand_points")),
        scores=tuple(numbers(state, "scores")),
        eliminated=_seats_with(state, "out"),
        champions=_seats_with(state, "champion"),
        match_over=number(state, "phase") == MATCH_OVER,
    )


def _seats_with(state: Games, name: str) -> tuple[int, ...]:
    return tuple(seat for seat, flag in enumerate(numbers(state, name)) if flag)


def _checked_rules(rules: object) -> Rules:
    if not isinstance(rules, Rules):
        raise BadRules(f"rules = {shown(rules)}: they are a Rules object, as Rules.fisca(num_players=3)")
    return rules


def _checked_seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= MAX_SEED:
        raise Scala40Error(f"seed = {shown(seed)}: allowed is an integer from 0 to 2**64 - 1, or None for a fresh one")
    return int(seed)


def _checked_action(action: object) -> int:
    if isinstance(action, bool) or not isinstance(action, int | np.integer) or not 0 <= action < NUM_ACTIONS_EXTENDED:
        raise BadNotation(
            f"{shown(action)} is not an action; actions are integers from 0 to {NUM_ACTIONS_EXTENDED - 1}"
        )
    return int(action)


def _name_of(state: Games, action: int) -> str:
    """An action in notation where the table has it, otherwise what it means."""
    try:
        return texts_of(state, [action])[0]
    except IllegalMove as error:
        return error.move
