"""What there is to draw of a table: of a whole game, or of what one seat sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scala40_env.kernels.state import HAND_OVER, MATCH_OVER, NONE
from scala40_env.render.cards import BACK
from scala40_env.rules.cards import format_card
from scala40_env.rules.errors import Scala40Error, shown
from scala40_env.rules.game import Game
from scala40_env.rules.reading import (
    Games,
    discarders_of,
    hand_of,
    melds_of,
    number,
    numbers,
    numbers_of_melds,
    pozzo_of,
)
from scala40_env.rules.table_text import standing_lines, title_line
from scala40_env.rules.view import View

Table = Game | View


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat of a scene; `cards` are faces (`render.cards`), those that can't be seen as backs."""

    number: int
    name: str
    score: int
    is_out: bool
    has_opened: bool
    is_dealer: bool
    on_move: bool
    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeldOnTable:
    """A meld of a scene: its number, the faces of its cards, and whether it was laid in this turn."""

    number: int
    cards: tuple[str, ...]
    is_new: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """A table as it is drawn.

    Attributes: `viewer`, whose view it is, None for all cards; `title`; `standing`, what has to be done, what this turn
    has done, or how the hand ended; `seats`; `melds`; `pozzo_top`, a face or None; `pozzo_by`, the seat that discarded
    it or None; `pozzo_size`; `stock_size`.
    """

    viewer: int | None
    title: str
    standing: tuple[str, ...]
    seats: tuple[Seat, ...]
    melds: tuple[MeldOnTable, ...]
    pozzo_top: str | None
    pozzo_by: int | None
    pozzo_size: int
    stock_size: int


def scene_of(table: Table, names: Sequence[str] | None = None) -> Scene:
    """The scene of a game or a view. Raises `Scala40Error` where there is not a name for each seat."""
    games = table.state  # of a view, the record without anything hidden
    seats = table.rules.num_players
    if names is not None and len(names) != seats:
        raise Scala40Error(f"names = {shown(list(names))}: allowed is one for each of the {seats} seats")
    pozzo, melds = pozzo_of(games), melds_of(games)
    by = discarders_of(games)[-1] if pozzo else NONE
    new = numbers_of_melds(games, "new_melds")
    return Scene(
        viewer=table.seat if isinstance(table, View) else None,
        title=title_line(games, table.rules),
        standing=tuple(standing_lines(games, table.rules)),
        seats=tuple(_seat(games, seat, names[seat] if names else "") for seat in range(seats)),
        melds=tuple(MeldOnTable(n, tuple(map(str, meld.cards())), n in new) for n, meld in enumerate(melds, 1)),
        pozzo_top=format_card(pozzo[-1]) if pozzo else None,
        pozzo_by=None if by == NONE else by,
        pozzo_size=len(pozzo),
        stock_size=number(games, "stock_n"),
    )


def _seat(games: Games, seat: int, name: str) -> Seat:
    cards = [format_card(card) for card in hand_of(games, seat)]
    hidden = numbers(games, "hand_n")[seat] - len(cards)
    is_over = number(games, "phase") in (HAND_OVER, MATCH_OVER)
    return Seat(
        number=seat,
        name=name,
        score=numbers(games, "scores")[seat],
        is_out=bool(games["out"][0, seat]),
        has_opened=bool(games["opened"][0, seat]),
        is_dealer=seat == number(games, "dealer"),
        on_move=not is_over and seat == number(games, "turn"),
        cards=(*cards, *[BACK] * hidden),
    )
