"""Records of matches: one JSON line each, in files ``.jsonl`` or ``.jsonl.gz`` (notation.md, *Records*).

A record holds the deal of every hand and all moves as turn text, so that it replays with nothing but itself; what a
renewed stock looks like follows from the seed. A game that began from a position has ``position`` in place of ``deal``
in its first hand. A hand that still runs is the last one and has null for ``points``, ``winner`` and ``closing``.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from scala40_env.kernels.engine import deal_hand, next_hand, start_match, step, write_mask
from scala40_env.kernels.replay import NO_MELD, play_log
from scala40_env.kernels.state import CLOSINGS, HAND_OVER, MATCH_OVER, NONE, PACK, PHASES, RUN
from scala40_env.rules.cards import COPIES, JOKER, NUM_NATURALS, format_cards, parse_cards
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import BadNotation, BadRecord, Scala40Error, shown, suggestion
from scala40_env.rules.melds import Meld
from scala40_env.rules.moves import NUM_ACTIONS_EXTENDED, expand_meld, format_action, parse_move, slot_of, split_turn
from scala40_env.rules.position import from_position
from scala40_env.rules.reading import Games, melds_of, new_games, number, numbers

if TYPE_CHECKING:
    from scala40_env.rules.game import Game

FilePath = str | PathLike[str]

MAX_SEED = 2**64 - 1
_KEYS = ("rules", "seed", "players", "hands")
_HAND_KEYS = ("dealer", "deal", "moves", "points", "winner", "closing", "position")
_OVER = (HAND_OVER, MATCH_OVER)


class HandLog(NamedTuple):
    """One hand as the engine logs it, for `record_from_log`.

    `dealer`; `deck`, the cards in the order dealt (int8, 104 and the jokers), None for a hand begun from `position`;
    `actions`, the ids of all actions of the hand.
    """

    dealer: int
    deck: NDArray[np.int8] | None
    actions: Sequence[int] | NDArray[Any]
    position: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class HandRecord:
    """One hand of a record.

    Attributes: `dealer`; `deal`, the pack in the order dealt, in notation, None if the hand began from `position`;
    `moves`, one turn text a turn; `points` charged by seat, `winner` and `closing`, all None while the hand runs
    (`winner` also where nobody closed).
    """

    dealer: int
    deal: str | None
    moves: tuple[str, ...]
    points: tuple[int, ...] | None = None
    winner: int | None = None
    closing: str | None = None
    position: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The object of notation.md."""
        start = {"deal": self.deal} if self.position is None else {"position": dict(self.position)}
        return {
            "dealer": self.dealer,
            **start,
            "moves": list(self.moves),
            "points": None if self.points is None else list(self.points),
            "winner": self.winner,
            "closing": self.closing,
        }


class ReplayStep(NamedTuple):
    """A moment of a replay: `hand` and `turn` from 1, the `move` just played ("" for the deal), the `game` after it."""

    hand: int
    turn: int
    move: str
    game: Game


@dataclass(frozen=True, slots=True)
class Record:
    """A match as it was played. `Game.record` and `record_from_log` make it, `load` reads it.

    Attributes: `rules`; `seed`, the key of the generator; `players`, the names by seat; `hands`; `line`, where in its
    file it stood, for messages.
    """

    rules: Rules
    seed: int
    players: tuple[str, ...]
    hands: tuple[HandRecord, ...]
    line: int | None = field(default=None, compare=False)

    # -- text ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The object of notation.md."""
        return {
            "rules": self.rules.to_dict(),
            "seed": self.seed,
            "players": list(self.players),
            "hands": [hand.to_dict() for hand in self.hands],
        }

    def to_json(self) -> str:
        """One line of JSON, without its end."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], line: int | None = None) -> Record:
        """The record that `to_dict` gave; its form is checked, its moves by `check`. Raises `BadRecord`."""
        try:
            return _Form(given).record(line)
        except Scala40Error as error:
            raise BadRecord(f"{_at_line(line)}{error}") from None

    @classmethod
    def from_json(cls, text: str, line: int | None = None) -> Record:
        """The record on one line of JSON. Raises `BadRecord`."""
        try:
            given = json.loads(text)
        except (ValueError, RecursionError, TypeError) as error:
            raise BadRecord(f"{_at_line(line)}this is no JSON: {error}") from None
        return cls.from_dict(given, line)

    # -- files ---------------------------------------------------------------------------------------------------

    @classmethod
    def load(cls, path: FilePath) -> list[Record]:
        """All records of a file; see `iterate`."""
        return list(cls.iterate(path))

    @classmethod
    def iterate(cls, path: FilePath) -> Iterator[Record]:
        """The records of a ``.jsonl`` or ``.jsonl.gz`` file, one by one.

        Raises `BadRecord` with the line for a record that is none or a file cut off, `OSError` for a missing file.
        """
        for line, text in _lines(Path(path)):
            if text.strip():
                yield cls.from_json(text, line)

    def save(self, path: FilePath) -> None:
        """Write a file that holds this record alone."""
        save_records(path, [self])

    def append(self, path: FilePath) -> None:
        """Add this record to the end of a file, which is made if need be."""
        _write(Path(path), "ab", [self])

    # -- replaying -----------------------------------------------------------------------------------------------

    def replay(self) -> Iterator[ReplayStep]:
        """Every deal and every move with the game after it, which is yours to keep.

        Raises `BadRecord` naming line, hand, turn and move at the first thing that does not fit.
        """
        from scala40_env.rules.game import Game  # Game makes records, so it imports this module

        run = _Run(self)
        for hand, turn, move in run:
            yield ReplayStep(hand, turn, move, Game._of_state(run.games.copy(), self.rules))

    def check(self) -> Game:
        """Replay everything; returns the game at the end. Raises `BadRecord` as `replay` does."""
        from scala40_env.rules.game import Game

        run = _Run(self)
        for _ in run:
            pass
        return Game._of_state(run.games, self.rules)

    @property
    def finished(self) -> bool:
        """Has the last hand been played to its end?"""
        return bool(self.hands) and self.hands[-1].closing is not None


def save_records(path: FilePath, records: Iterable[Record]) -> None:
    """Write a file of records, the same bytes for the same records."""
    _write(Path(path), "wb", records)


def _write(path: Path, mode: str, records: Iterable[Record]) -> None:
    with path.open(mode) as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
                _write_lines(packed, records)
        else:
            _write_lines(raw, records)


def _write_lines(file: Any, records: Iterable[Record]) -> None:
    for record in records:
        file.write(record.to_json().encode() + b"\n")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers from 1."""
    line = 0
    try:
        with _opened(path) as file:
            for line, raw in enumerate(file, 1):
                yield line, raw.decode()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadRecord(f"line {line + 1}: {path} is broken or cut off here: {error}") from None
    except UnicodeDecodeError as error:
        raise BadRecord(f"line {line}: {path} holds no text here: {error}") from None


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))  # it reads like one, though its type does not say so
    return path.open("rb")


def _at_line(line: int | None) -> str:
    return "" if line is None else f"line {line}: "


# ---------------------------------------------------------------------------------------------------------------------
# The form of a record


class _Form:
    """Reads the object of a record; every value is checked for its kind, not yet for whether it replays."""

    def __init__(self, given: Any) -> None:
        self.given = _object(given, "a record", _KEYS, _KEYS)
        self.rules = Rules.from_dict(self.given["rules"])

    def record(self, line: int | None) -> Record:
        players = _strings(self.given["players"], "players")
        if len(players) != self.rules.num_players:
            raise BadRecord(f"players has {len(players)} names, but num_players is {self.rules.num_players}")
        hands = [self.hand(hand, at) for at, hand in enumerate(_list(self.given["hands"], "hands"))]
        if not hands:
            raise BadRecord("hands is empty; a record has one hand or more")
        return Record(self.rules, _integer(self.given["seed"], "seed", 0, MAX_SEED), players, tuple(hands), line)

    def hand(self, given: Any, at: int) -> HandRecord:
        name = f"hands[{at}]"
        hand = _object(given, name, _HAND_KEYS, ("dealer", "moves"))
        if ("deal" in hand) == ("position" in hand):
            raise BadRecord(f"{name}: it has either deal or, begun from a position, position")
        if "position" in hand and at:
            raise BadRecord(f"{name}: only the first hand of a match can begin from a position")
        closing = hand.get("closing")
        return HandRecord(
            self._seat(hand["dealer"], f"{name}.dealer"),
            self._deal(hand["deal"], f"{name}.deal") if "deal" in hand else None,
            _strings(hand["moves"], f"{name}.moves"),
            self._points(hand.get("points"), f"{name}.points"),
            None if hand.get("winner") is None else self._seat(hand["winner"], f"{name}.winner"),
            None if closing is None else _choice(closing, f"{name}.closing", CLOSINGS),
            hand.get("position"),
        )

    def _seat(self, value: Any, name: str) -> int:
        return _integer(value, name, 0, self.rules.num_players - 1)

    def _deal(self, value: Any, name: str) -> str:
        try:
            cards = parse_cards(value)
        except BadNotation as error:
            raise BadRecord(f"{name}: {error}") from None
        pack = Counter({**dict.fromkeys(range(NUM_NATURALS), COPIES), JOKER: self.rules.num_jokers})
        wrong = [*(pack - Counter(cards)), *(Counter(cards) - pack)]
        if wrong:
            raise BadRecord(f"{name}: it is not the whole pack; wrong is the number of {format_cards(wrong[:5])}")
        return format_cards(cards)

    def _points(self, value: Any, name: str) -> tuple[int, ...] | None:
        if value is None:
            return None
        points = _list(value, name)
        if len(points) != self.rules.num_players:
            raise BadRecord(f"{name} has {len(points)} entries, but num_players is {self.rules.num_players}")
        return tuple(_integer(entry, name, -(10**9), 10**9) for entry in points)


def _object(given: Any, name: str, known: tuple[str, ...], required: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise BadRecord(f"{name} is an object, not {shown(given)}")
    for key in given:
        if key not in known:
            close = suggestion(key, known) if isinstance(key, str) else ""
            raise BadRecord(f"{name} has no key {shown(key)}{close}; keys are {', '.join(known)}")
    for key in required:
        if key not in given:
            raise BadRecord(f"{name} lacks {key}")
    return dict(given)


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise BadRecord(f"{name} is a list, not {shown(value)}")
    return list(value)


def _strings(value: Any, name: str) -> tuple[str, ...]:
    entries = _list(value, name)
    for at, entry in enumerate(entries):
        if not isinstance(entry, str):
            raise BadRecord(f"{name}[{at}] is a string, not {shown(entry)}")
    return tuple(entries)


def _integer(value: Any, name: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadRecord(f"{name} = {shown(value)}: allowed is an integer from {low} to {high}")
    return value


def _choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in choices:
        return value
    raise BadRecord(f"{name} = {shown(value)}: allowed is {', '.join(choices)}, or null while the hand runs")


# ---------------------------------------------------------------------------------------------------------------------
# Replaying


class _Run:
    """One pass through a record: iterating plays it, and `games` is where it stands."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.games = new_games(record.rules, record.seed)
        self._mask = np.zeros(NUM_ACTIONS_EXTENDED, np.int8)
        self._hand = self._turn = 0
        self._move = ""
        self._turn_ended = False

    def __iter__(self) -> Iterator[tuple[int, int, str]]:
        """Hand and turn from 1, and the move just played; "" after a deal."""
        for hand in self.record.hands:
            self._hand, self._turn, self._move = self._hand + 1, 0, ""
            self._deal(hand)
            yield self._hand, 0, ""
            for text in hand.moves:
                self._turn += 1
                for move in self._small_moves(text):
                    self._move = move
                    self._play(move)
                    yield self._hand, self._turn, move
                self._check_turn_end(hand)
            self._check_end(hand)

    def _broken(self, why: str) -> BadRecord:
        where = f"{_at_line(self.record.line)}hand {self._hand}"
        where += f", turn {self._turn}" if self._turn else ""
        where += f", move {shown(self._move)}" if self._move else ""
        return BadRecord(f"{where}: {why}")

    # dealing

    def _deal(self, hand: HandRecord) -> None:
        if hand.position is not None:
            self._begin_from(hand.position)
        elif self._hand == 1:
            start_match(self.games, 0)
            self.games["dealer"] = hand.dealer  # the lot is the tournament's business: seats rotate over the same deals
        else:
            self._next_hand()
        if number(self.games, "dealer") != hand.dealer:
            raise self._broken(f"the dealer is seat {number(self.games, 'dealer')}, not {hand.dealer}")
        if hand.deal is not None:
            cards = np.array(parse_cards(hand.deal), np.int8)
            deal_hand(self.games, 0, _padded(cards), len(cards))

    def _begin_from(self, position: Mapping[str, Any]) -> None:
        try:
            self.games = from_position(position)
            rules = Rules.from_dict(position.get("rules", {}))
        except Scala40Error as error:
            raise self._broken(f"position: {error}") from None
        if rules != self.record.rules or number(self.games, "seed") != self.record.seed:
            raise self._broken("the position has other rules, or another seed, than the record")

    def _next_hand(self) -> None:
        phase = number(self.games, "phase")
        if phase != HAND_OVER:
            raise self._broken(f"the hand before has not let another one follow: its phase is {PHASES[phase]}")
        next_hand(self.games, 0)

    # moves

    def _small_moves(self, text: str) -> Iterator[str]:
        self._move = ""
        moves = split_turn(text)
        if not moves:
            raise self._broken("a turn without a move")
        for move in moves:
            self._move = move
            yield from self._expanded(move)

    def _expanded(self, move: str) -> Iterable[str]:
        if len(move.split()) <= 4 or not move.lower().startswith("meld"):
            return (move,)
        try:
            return expand_meld(move, self.record.rules, number(self.games, "meld_n") + 1)
        except Scala40Error as error:
            raise self._broken(str(error)) from None

    def _play(self, move: str) -> None:
        if number(self.games, "phase") in _OVER:
            raise self._broken("the hand was over before it")
        action = self._parsed(move)
        write_mask(self.games, 0, self._mask)
        if not self._mask[action]:
            from scala40_env.rules.explain import why_illegal

            raise self._broken(why_illegal(self.games, action, self.record.rules))
        played = number(self.games, "turns_played")
        step(self.games, 0, action)
        self._turn_ended = number(self.games, "turns_played") != played or number(self.games, "phase") in _OVER

    def _parsed(self, move: str) -> int:
        try:
            if move.startswith(("attach", "swap")):
                return parse_move(move, melds_of(self.games))
            return _parsed_anywhere(move)
        except Scala40Error as error:
            raise self._broken(getattr(error, "reason", None) or str(error)) from None

    # ends

    def _check_turn_end(self, hand: HandRecord) -> None:
        """A text is one turn; only the last one of a hand that still runs may break off."""
        self._move = ""
        may_break_off = hand.closing is None and self._turn == len(hand.moves)
        if not self._turn_ended and not may_break_off:
            raise self._broken("its moves do not end the turn")

    def _check_end(self, hand: HandRecord) -> None:
        self._turn, self._move = 0, ""
        over = number(self.games, "phase") in _OVER
        given = (hand.points, hand.winner, hand.closing)
        if not over and given != (None, None, None):
            raise self._broken("its moves do not end it, but it has points, a winner or a closing")
        if not over and self._hand < len(self.record.hands):
            raise self._broken("its moves do not end it, but another hand follows")
        if over and given != _result_of(self.games):
            raise self._broken(f"points, winner and closing are {_result_of(self.games)}, not {given}")


def _padded(cards: NDArray[np.int8]) -> NDArray[np.int8]:
    deck = np.zeros(PACK, np.int8)
    deck[: len(cards)] = cards
    return deck


@lru_cache(maxsize=4096)
def _parsed_anywhere(move: str) -> int:
    """The action of a move that means the same on every table."""
    return parse_move(move, ())


def _result_of(games: Games) -> tuple[tuple[int, ...], int | None, str]:
    """Points, winner and closing of the hand that is over."""
    winner = number(games, "winner")
    closing = CLOSINGS[number(games, "closing")]
    return tuple(numbers(games, "hand_points")), None if winner == NONE else winner, closing


# ---------------------------------------------------------------------------------------------------------------------
# Records out of logged actions


def record_from_log(rules: Rules, seed: int, players: Sequence[str], hands_log: Iterable[HandLog]) -> Record:
    """The record of a match of which only deals and action ids were kept; the actions are trusted to be legal.

    Raises `BadRecord` where a hand has actions left after its end, or the dealers do not fit.
    """
    if len(players) != rules.num_players:
        raise BadRecord(f"players has {len(players)} names, but num_players is {rules.num_players}")
    games = new_games(rules, seed)
    hands: list[HandRecord] = []
    for at, log in enumerate(hands_log):
        games = _dealt(games, log, at)
        hands.append(_hand_record(games, log, at))
    return Record(rules, int(seed), tuple(players), tuple(hands))


def _dealt(games: Games, log: HandLog, at: int) -> Games:
    """The games with a logged hand dealt."""
    if log.position is not None:
        return from_position(log.position)
    if at == 0:
        start_match(games, 0)
        games["dealer"] = log.dealer
    else:
        next_hand(games, 0)
    if number(games, "dealer") != log.dealer or log.deck is None:
        raise BadRecord(f"hand {at + 1}: the dealer is seat {number(games, 'dealer')}, not {log.dealer}")
    deal_hand(games, 0, _padded(log.deck), len(log.deck))
    return games


def _hand_record(games: Games, log: HandLog, at: int) -> HandRecord:
    actions = np.asarray(log.actions, np.int16)
    contexts, ends = np.empty(len(actions), np.int64), np.empty(len(actions), np.int8)
    if play_log(games, 0, actions, contexts, ends) < len(actions):
        raise BadRecord(f"hand {at + 1}: it is over, and actions are left")
    turns = _turn_texts(actions.tolist(), contexts.tolist(), ends.tolist())
    deal = None if log.deck is None else format_cards(log.deck.tolist())
    over = number(games, "phase") in _OVER
    points, winner, closing = _result_of(games) if over else (None, None, None)
    return HandRecord(log.dealer, deal, turns, points, winner, closing, log.position)


def _turn_texts(actions: list[int], contexts: list[int], ends: list[int]) -> tuple[str, ...]:
    turns: list[str] = []
    moves: list[str] = []
    for action, context, end in zip(actions, contexts, ends, strict=True):
        moves.append(_text_in(action, context))
        if end:
            turns.append("; ".join(moves))
            moves = []
    if moves:
        turns.append("; ".join(moves))
    return tuple(turns)


@lru_cache(maxsize=1 << 16)
def _text_in(action: int, context: int) -> str:
    """An action in notation, on the meld that `kernels.replay` packed."""
    if context == NO_MELD:
        return format_action(action, ())
    meld = Meld(
        "run" if context >> 40 == RUN else "set", context >> 32 & 0xFF, context & 0xFFFF, context >> 16 & 0xFFFF
    )
    on_meld = slot_of(action)
    assert on_meld is not None  # it has a context because it goes to a meld
    return format_action(action, (meld,) * (on_meld[0] + 1))
