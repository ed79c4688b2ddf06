"""Positions: a game record as the JSON object of notation.md, and back.

A position holds everything that the game needs to go on alike. Beyond the keys of notation.md there are optional ones,
written only where they say something that the defaults do not:

==================  =========================================================================================
`mover`             phase buy: the seat whose turn it is; default: the one before `turn` in order of play
`out`               the seats out of the match; default: in an elimination those that have reached the limit
`known`             for each seat, the cards in its hand that everybody saw go there; default: none
`discarded_by`      for each card of the pozzo who discarded it, null for the upcard; default: the seats in order
                    of play, backwards from the one on move
`threw`             for each seat, the different cards that it has discarded in this hand; at least, and by default,
                    those of the pozzo that are its own by `discarded_by`
`took`              for each seat, the different cards that it has taken from the pozzo, or bought, in this hand; at
                    least, and by default, the natural ones of `known`
`hands_won`         for each seat, for the tie-breaks; default: zeros (so too `unopened_hands`, `reentries_used`)
`hands_played`      hands of this match that are over; default: none, or the one just over
`reshuffles`        how often the stock of this hand was renewed; default: never
`seed`              the key of the game's generator; it shuffles the cards that the position leaves open, too
`hand_points`       phases hand_over, match_over: charges of the hand just over; `winner`, `closing` and, in
                    match_over, `champions` are of it too
==================  =========================================================================================
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scala40_env.kernels.state import BUY, CLOSINGS, HAND_OVER, MATCH_OVER, NONE, PHASES
from scala40_env.rules.cards import format_card, format_cards, parse_card, parse_table_card
from scala40_env.rules.config import Rules
from scala40_env.rules.melds import format_meld, read_meld
from scala40_env.rules.position_reader import (
    Places,
    default_discarders,
    default_out,
    default_threw,
    default_took,
    players_before,
    read_position,
)
from scala40_env.rules.reading import (
    Games,
    discarders_of,
    hand_of,
    known_of,
    melds_of,
    number,
    numbers,
    numbers_of_melds,
    pozzo_of,
    rules_of,
    stock_of,
    threw_of,
    took_of,
)

__all__ = ["Wording", "from_position", "to_position"]

Position = dict[str, Any]


def from_position(position: Mapping[str, Any]) -> Games:
    """The record, shape (1,) of dtype `GAME`, of a position; what is left out gets its default.

    Raises `BadPosition`, or `BadRules` for its rules, naming the field and the card, for whatever cannot be.
    """
    return read_position(position)


def to_position(games: Games, rules: Rules | None = None) -> Position:
    """The complete position of a record of shape (1,); `rules` only spares working them out from the record."""
    rules = rules or rules_of(games)
    extras = {key: value for key, (value, default) in _extras(games, rules).items() if value != default}
    return {**_common(games, rules), **_result(games), **extras}


def _common(games: Games, rules: Rules) -> Position:
    """The keys of notation.md that every position has."""
    seats = range(rules.num_players)
    return {
        "rules": rules.to_dict(),
        "dealer": number(games, "dealer"),
        "turn": number(games, "turn"),
        "phase": PHASES[number(games, "phase")],
        "turns_played": number(games, "turns_played"),
        "hands": [format_cards(hand_of(games, seat)) for seat in seats],
        "opened": [bool(flag) for flag in numbers(games, "opened")],
        "table": [format_meld(meld) for meld in melds_of(games)],
        "pozzo": format_cards(pozzo_of(games)),
        "stock": format_cards(stock_of(games)),
        "this_turn": this_turn_of(games),
        "scores": numbers(games, "scores"),
    }


def this_turn_of(games: Games) -> Position:
    """What the player to move has done in this turn, in the form of notation.md."""
    return {
        "opening_points": number(games, "laid_points"),
        "natural_points": number(games, "laid_natural_points"),
        "new_melds": numbers_of_melds(games, "new_melds"),
        "touched_table": bool(number(games, "touched_table")),
        "pozzo_card": _card_or_none(number(games, "owed_card")),
        "barred_card": _card_or_none(number(games, "barred_card")),
        "recovered_jokers": number(games, "recovered_jokers"),
        "swapped_melds": numbers_of_melds(games, "swapped_melds"),
    }


def _card_or_none(card: int) -> str | None:
    return None if card == NONE else format_card(card)


def _seat_or_none(seat: int) -> int | None:
    return None if seat == NONE else seat


def _result(games: Games) -> Position:
    """The keys of a hand that is over."""
    phase = number(games, "phase")
    result: Position = {}
    if phase in (HAND_OVER, MATCH_OVER):
        result["hand_points"] = numbers(games, "hand_points")
        result["winner"] = _seat_or_none(number(games, "winner"))
        result["closing"] = CLOSINGS[number(games, "closing")]
    if phase == MATCH_OVER:
        result["champions"] = _seats_with(numbers(games, "champion"))
    return result


def _seats_with(flags: list[int]) -> list[int]:
    return [seat for seat, flag in enumerate(flags) if flag]


def _extras(games: Games, rules: Rules) -> dict[str, tuple[Any, Any]]:
    """The optional keys: value and default of each."""
    seats, zeros = range(rules.num_players), [0] * rules.num_players
    out = _seats_with(numbers(games, "out"))
    over = number(games, "phase") in (HAND_OVER, MATCH_OVER)
    return {
        "mover": (number(games, "mover"), _default_mover(games, out)),
        "out": (out, default_out(rules, numbers(games, "scores"))),
        "known": ([format_cards(known_of(games, seat)) for seat in seats], [""] * len(zeros)),
        "discarded_by": ([_seat_or_none(seat) for seat in discarders_of(games)], _default_discarders(games, out)),
        "threw": _card_sets(games, threw_of, default_threw(seats, pozzo_of(games), discarders_of(games))),
        "took": _card_sets(games, took_of, default_took(known_of(games, seat) for seat in seats)),
        **{name: (numbers(games, name), zeros) for name in ("hands_won", "unopened_hands", "reentries_used")},
        "hands_played": (number(games, "hand_no") + over, int(over)),
        "reshuffles": (number(games, "shuffles"), 0),
        "seed": (number(games, "seed"), 0),
    }


def _card_sets(
    games: Games, cards_of: Callable[[Games, int], list[int]], default: list[set[int]]
) -> tuple[list[str], list[str]]:
    """A set of cards of each seat, in notation, and its default."""
    values = [format_cards(cards_of(games, seat)) for seat in range(len(default))]
    return values, [format_cards(sorted(cards)) for cards in default]


def _default_mover(games: Games, out: list[int]) -> int:
    turn = number(games, "turn")
    if number(games, "phase") != BUY:
        return turn
    return players_before(turn, number(games, "num_players"), out)[0]


def _default_discarders(games: Games, out: list[int]) -> list[int | None]:
    places = Places(number(games, "num_players"), tuple(out), number(games, "mover"))
    return default_discarders(
        places, number(games, "pozzo_n"), number(games, "turns_played"), number(games, "shuffles")
    )


@dataclass(frozen=True)
class Wording:
    """How somebody wrote a position: the order of the cards in its hands and melds, its rules, its optional keys.

    `dress` gives a position the same wording wherever it still says the same.
    """

    rules: Mapping[str, Any]
    hands: tuple[tuple[str, ...], ...] = ()
    table: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()

    @classmethod
    def of(cls, position: Mapping[str, Any], rules: Rules) -> Wording:
        """The wording of a position that `from_position` has read."""
        return cls(
            copy.deepcopy(dict(position.get("rules", rules.to_dict()))),
            tuple(tuple(_cards_written(hand)) for hand in position["hands"]),
            tuple(_meld_written(meld) for meld in position.get("table", ())),
            frozenset(position),
        )

    def dress(self, position: Position, games: Games, rules: Rules) -> Position:
        """The position of `games`, as `to_position` gives it, in this wording."""
        given = {key: value for key, (value, _) in _extras(games, rules).items() if key in self.keys}
        dressed = {**position, **given}
        dressed["rules"] = copy.deepcopy(dict(self.rules))
        dressed["hands"] = [self._hand(seat, hand) for seat, hand in enumerate(position["hands"])]
        dressed["table"] = [self._meld(at, meld) for at, meld in enumerate(position["table"])]
        return dressed

    def _hand(self, seat: int, hand: str) -> str:
        written = self.hands[seat] if seat < len(self.hands) else ()
        return " ".join(written) if Counter(written) == Counter(hand.split()) else hand

    def _meld(self, at: int, meld: str) -> str:
        written = self.table[at] if at < len(self.table) else ""
        return written if sorted(written.split()) == sorted(meld.split()) else meld


def _cards_written(hand: str) -> list[str]:
    """The known cards of a hand, in the order written but in the spelling of the notation."""
    return [format_card(parse_card(word)) for word in hand.split() if not word.startswith("?")]


def _meld_written(text: str) -> str:
    """A meld in the order written but in the spelling of the notation; only a set may come in another order."""
    meld = read_meld(text)
    return format_meld(meld) if meld.is_run else " ".join(str(parse_table_card(word)) for word in text.split())
