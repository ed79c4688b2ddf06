"""`View`: what one seat knows of a game. Agents get views, never games.

A view holds a record of its own out of which everything hidden was taken (`kernels.view.write_view`), so nothing that
is made of it can show a hidden card. The kernels find the legal moves of the seat on it as on the game itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.kernels.state import GAME, HAND_OVER, MATCH_OVER, NONE, PHASES
from scala40_env.kernels.view import write_view
from scala40_env.rules.cards import format_card, format_cards
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import Scala40Error, shown
from scala40_env.rules.moves import num_actions
from scala40_env.rules.position import this_turn_of, to_position
from scala40_env.rules.reading import (
    Games,
    discarders_of,
    hand_of,
    known_of,
    legal_ids,
    legal_mask,
    melds_of,
    number,
    numbers,
    pozzo_of,
    rules_of,
    texts_of,
    threw_of,
    took_of,
)
from scala40_env.rules.table_text import table_text


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class View:
    """What a seat knows. Made by `Game.view`, or by `View.of` from a record.

    Cards are strings in notation, seats are numbers from 0. Views are equal when all that they hold is.
    """

    seat: int
    rules: Rules
    _games: Games

    @classmethod
    def of(cls, games: Games, seat: int, rules: Rules | None = None) -> View:
        """The view that `seat` has of a record, shape (1,) of dtype `GAME`. Raises `Scala40Error` for no seat."""
        rules = rules or rules_of(games)
        views = np.zeros(1, GAME)
        write_view(games, 0, _checked_seat(seat, rules), views, 0)
        return cls(int(seat), rules, views)

    @property
    def state(self) -> Games:
        """A read-only copy of the scrubbed record, shape (1,) of dtype `GAME`."""
        return np.frombuffer(self._games.tobytes(), GAME)  # as bytes: NumPy copies records field by field

    @property
    def hand(self) -> tuple[str, ...]:
        """The seat's own cards, ascending."""
        return _texts(hand_of(self._games, self.seat))

    @property
    def hand_sizes(self) -> tuple[int, ...]:
        """How many cards every seat holds."""
        return tuple(numbers(self._games, "hand_n"))

    @property
    def known(self) -> tuple[tuple[str, ...], ...]:
        """For each seat the cards in its hand that everybody saw go there."""
        return tuple(_texts(known_of(self._games, seat)) for seat in range(self.rules.num_players))

    @property
    def table(self) -> tuple[str, ...]:
        """The melds, number 1 first."""
        return tuple(str(meld) for meld in melds_of(self._games))

    @property
    def pozzo(self) -> tuple[str, ...]:
        """All cards of the pozzo, the top one last."""
        return _texts(pozzo_of(self._games))

    @property
    def discarded_by(self) -> tuple[int | None, ...]:
        """For each card of the pozzo the seat that discarded it, None for the upcard."""
        return tuple(None if seat == NONE else seat for seat in discarders_of(self._games))

    @property
    def threw(self) -> tuple[tuple[str, ...], ...]:
        """For each seat the different cards that it has discarded in this hand."""
        return tuple(_texts(threw_of(self._games, seat)) for seat in range(self.rules.num_players))

    @property
    def took(self) -> tuple[tuple[str, ...], ...]:
        """For each seat the different cards that it has taken from the pozzo, or bought, in this hand."""
        return tuple(_texts(took_of(self._games, seat)) for seat in range(self.rules.num_players))

    @property
    def stock_size(self) -> int:
        """How many cards the stock has."""
        return number(self._games, "stock_n")

    @property
    def opened(self) -> tuple[bool, ...]:
        """Which seats have opened in this hand."""
        return tuple(bool(flag) for flag in numbers(self._games, "opened"))

    @property
    def scores(self) -> tuple[int, ...]:
        """The totals of all seats."""
        return tuple(numbers(self._games, "scores"))

    @property
    def out(self) -> tuple[int, ...]:
        """The seats out of the match."""
        return tuple(seat for seat, flag in enumerate(numbers(self._games, "out")) if flag)

    @property
    def dealer(self) -> int:
        """The seat that dealt this hand."""
        return number(self._games, "dealer")

    @property
    def turn(self) -> int:
        """The seat that has to move."""
        return number(self._games, "turn")

    @property
    def turns_played(self) -> int:
        """Turns completed in this hand."""
        return number(self._games, "turns_played")

    @property
    def phase(self) -> str:
        """``"draw"``, ``"play"``, ``"buy"``, ``"hand_over"`` or ``"match_over"``."""
        return PHASES[number(self._games, "phase")]

    @property
    def this_turn(self) -> dict[str, Any]:
        """What the player to move has done in this turn, as in a position."""
        return this_turn_of(self._games)

    @property
    def on_move(self) -> bool:
        """Has this seat to move?"""
        return self.turn == self.seat and number(self._games, "phase") not in (HAND_OVER, MATCH_OVER)

    def legal_actions(self) -> list[int]:
        """The ids of this seat's legal moves, ascending; none when it is not on move."""
        return legal_ids(self._games) if self.on_move else []

    def legal_moves(self) -> list[str]:
        """This seat's legal moves in notation, sorted; none when it is not on move."""
        return sorted(texts_of(self._games, self.legal_actions()))

    def mask(self) -> NDArray[np.int8]:
        """The mask of this seat's legal moves: int8, shape (`num_actions(rules)`,); zeros when it is not on move."""
        if self.on_move:
            return legal_mask(self._games, self.rules)
        return np.zeros(num_actions(self.rules), np.int8)

    def position(self) -> dict[str, Any]:
        """The view as a position: unknown cards of the other hands as ``?n``, no stock.

        `Game.from_position` makes of it one game that could be: the hidden cards are dealt by its `seed`.
        """
        position = to_position(self._games, self.rules)
        del position["stock"]
        position["hands"] = [self._hand_text(seat) for seat in range(self.rules.num_players)]
        return position

    def _hand_text(self, seat: int) -> str:
        cards = hand_of(self._games, seat)
        hidden = self.hand_sizes[seat] - len(cards)
        return f"{format_cards(cards)} ?{hidden}".strip() if hidden else format_cards(cards)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, View):
            return NotImplemented
        return self.seat == other.seat and self._games.tobytes() == other._games.tobytes()

    def __hash__(self) -> int:
        return hash((self.seat, self._games.tobytes()))

    def __str__(self) -> str:
        return table_text(self._games, self.rules, self.seat)

    def _repr_svg_(self) -> str:
        """The drawing as the seat sees it, for notebooks."""
        from scala40_env.render.svg import svg_of  # drawing is for who looks, so it is loaded late

        return svg_of(self)

    def __repr__(self) -> str:
        return f"<View of seat {self.seat}: {self.phase}, turn of seat {self.turn}>"


def _texts(cards: list[int]) -> tuple[str, ...]:
    return tuple(format_card(card) for card in cards)


def _checked_seat(seat: object, rules: Rules) -> int:
    if isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < rules.num_players:
        raise Scala40Error(f"seat = {shown(seat)}: allowed is an integer from 0 to {rules.num_players - 1}")
    return int(seat)
