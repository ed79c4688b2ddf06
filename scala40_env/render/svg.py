"""The one drawing of a table, as SVG text: the same bytes for the same table.

It is 1000 units wide; hands come in boxes above the table, and that of the seat whose view it is, larger, below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from scala40_env.render.cards import BACK, FOUR_COLOURS, HEIGHT, TWO_COLOURS, WIDTH, Palette, symbol_id, symbols
from scala40_env.render.scene import MeldOnTable, Scene, Seat, Table, scene_of

DEFAULT_WIDTH = 960
UNITS = 1000
"""Width of the drawing in its own units."""

FELT, PANEL, INK, DIM, GOLD = "#1d5c45", "#174a38", "#f6f2e4", "#b9cfc2", "#ffcf4a"
_MARGIN, _GAP, _PAD = 14, 10, 12
_SMALL, _MIDDLE, _LARGE = 42, 46, 62
"""Widths of the cards of other seats; of melds, and of hands where all are open; of the viewer's own hand."""
_HEADER = 76
_SEAT_LINE = 26
_PILES = 168
"""Width of the corner where stock and pozzo lie."""
_MELD_STEP = 0.52
"""How much of a card in a meld is seen below the next one, as a share of its width."""
_MELD_ROWS = 2
"""Rows of melds that there is always room for, so that the drawing keeps its height through most hands."""
_MAX_NAME = 18
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg_of(
    table: Table, *, width: int = DEFAULT_WIDTH, four_colours: bool = False, names: Sequence[str] | None = None
) -> str:
    """Draw a game with all cards, or a view with those of its seat.

    Args:
        table: a `Game` or a `View`.
        width: in pixels; in a page it shrinks to what there is, too.
        four_colours: diamonds blue and clubs green, in place of red and black.
        names: of the players, by seat.
    """
    return _Drawing(scene_of(table, names), FOUR_COLOURS if four_colours else TWO_COLOURS).svg(width)


def xml_text(text: str) -> str:
    """Any text as XML takes it, in content and between double quotes."""
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text), {'"': "&quot;"})


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _text(x: float, y: float, words: str, size: int = 14, fill: str = INK, more: str = "") -> str:
    return f'<text x="{_number(x)}" y="{_number(y)}" font-size="{size}" fill="{fill}"{more}>{xml_text(words)}</text>'


_RIGHT = ' text-anchor="end"'
_CENTRED = ' text-anchor="middle"'
_BOLD = ' font-weight="bold"'


def _box(x: float, y: float, width: float, height: float, more: str) -> str:
    where = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
    return f'<rect {where} rx="8" {more}/>'


def _height_of(width: float) -> float:
    """The height of a card of this width."""
    return width * HEIGHT / WIDTH


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A scene in a palette."""

    scene: Scene
    palette: Palette

    def svg(self, width: int) -> str:
        """The whole document."""
        parts, y = self._parts()
        height = y + _MARGIN
        faces = symbols(self._faces(), self.palette)
        title = xml_text(". ".join([self.scene.title, *self.scene.standing]))
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{round(width * height / UNITS)}" '
            f'viewBox="0 0 {UNITS} {_number(height)}" role="img" font-family="sans-serif" '
            'style="max-width:100%;height:auto">',
            f"<title>{title}</title>",
            f"<defs>\n{faces}\n</defs>",
            f'<rect width="{UNITS}" height="{_number(height)}" fill="{FELT}"/>',
            *parts,
            "</svg>",
        ]
        return "\n".join(lines) + "\n"

    def _faces(self) -> Iterator[str]:
        scene = self.scene
        for cards in [seat.cards for seat in scene.seats] + [meld.cards for meld in scene.melds]:
            yield from cards
        if scene.pozzo_top:
            yield scene.pozzo_top
        if scene.stock_size:
            yield BACK

    def _parts(self) -> tuple[list[str], float]:
        """All that is drawn, from top to bottom, and where it ends."""
        parts = list(self._header())
        own = [seat for seat in self.scene.seats if seat.number == self.scene.viewer]
        others = [seat for seat in self.scene.seats if seat.number != self.scene.viewer]
        y = float(_HEADER)
        for row in _rows(others, _columns(len(others), all_open=not own)):
            y = self._seat_row(parts, row, y, _SMALL if own else _MIDDLE)
        y = self._table(parts, y)
        for seat in own:
            y = self._seat_row(parts, [seat], y, _LARGE)
        return parts, y - _GAP

    def _header(self) -> Iterator[str]:
        whose = "all cards" if self.scene.viewer is None else f"as seat {self.scene.viewer} sees it"
        yield _text(_MARGIN, 26, self.scene.title, 17, more=_BOLD)
        yield _text(UNITS - _MARGIN, 26, whose, 14, DIM, _RIGHT)
        for at, line in enumerate(self.scene.standing[:2]):
            yield _text(_MARGIN, 47 + 19 * at, line, 14, INK if at else GOLD)

    def _seat_row(self, parts: list[str], seats: Sequence[Seat], y: float, card: float) -> float:
        """Seats side by side; returns where the next thing goes."""
        room = UNITS - 2 * _MARGIN
        width = (room - (len(seats) - 1) * _GAP) / len(seats)
        for at, seat in enumerate(seats):
            parts.extend(self._seat(seat, _MARGIN + at * (width + _GAP), y, width, card))
        return y + _SEAT_LINE + _height_of(card) + _PAD + _GAP

    def _seat(self, seat: Seat, x: float, y: float, width: float, card: float) -> Iterator[str]:
        """A box with who sits there, how it stands, and the hand."""
        edge = f'stroke="{GOLD}" stroke-width="2.5"' if seat.on_move else f'stroke="{PANEL}"'
        yield _box(x, y, width, _SEAT_LINE + _height_of(card) + _PAD, f'fill="{PANEL}" {edge}')
        yield _text(x + _PAD, y + 18, _who(seat), 14, GOLD if seat.on_move else INK, _BOLD)
        yield _text(x + width - _PAD, y + 18, _how(seat), 13, DIM, _RIGHT)
        yield from self._fan(seat.cards, x + _PAD, y + _SEAT_LINE, width - 2 * _PAD, card)

    def _fan(self, faces: Sequence[str], x: float, y: float, room: float, card: float) -> Iterator[str]:
        """Cards side by side, one over the other where there is no room."""
        step = min(card + 3, (room - card) / max(len(faces) - 1, 1))
        for at, face in enumerate(faces):
            yield self._card(face, x + at * step, y, card)

    def _card(self, face: str, x: float, y: float, width: float) -> str:
        size = f'width="{_number(width)}" height="{_number(_height_of(width))}"'
        return f'<use href="#{symbol_id(face, self.palette)}" x="{_number(x)}" y="{_number(y)}" {size}/>'

    def _table(self, parts: list[str], y: float) -> float:
        """Stock, pozzo and melds; returns where the next thing goes."""
        parts.extend(self._piles(y + 4))
        row_height = _height_of(_MIDDLE) + 30
        rows = _meld_rows(self.scene.melds, UNITS - _MARGIN - _PILES)
        for at, row in enumerate(rows):
            x = float(_PILES)
            for meld in row:
                parts.extend(self._meld(meld, x, y + at * row_height))
                x += _meld_width(meld)
        if not rows:
            parts.append(_text(_PILES, y + row_height / 2, "no melds on the table", 14, DIM))
        return y + max(len(rows), _MELD_ROWS) * row_height + _GAP

    def _meld(self, meld: MeldOnTable, x: float, y: float) -> Iterator[str]:
        yield _text(x, y + 16, str(meld.number), 14, GOLD if meld.is_new else DIM, _BOLD)
        if meld.is_new:
            yield _text(x + 10 + 8 * len(str(meld.number)), y + 16, "new", 12, GOLD)
        for at, face in enumerate(meld.cards):
            yield self._card(face, x + at * _MIDDLE * _MELD_STEP, y + 21, _MIDDLE)

    def _piles(self, y: float) -> Iterator[str]:
        scene, width = self.scene, 60.0
        by = "" if scene.pozzo_by is None else f"by seat {scene.pozzo_by}"
        piles = (
            ("stock", BACK if scene.stock_size else None, scene.stock_size, ""),
            ("pozzo", scene.pozzo_top, scene.pozzo_size, by),
        )
        for at, (name, face, size, below) in enumerate(piles):
            x = _MARGIN + at * (width + 14)
            more = f'fill="none" stroke="{DIM}" stroke-dasharray="4 4"'
            yield self._card(face, x, y, width) if face else _box(x, y, width, _height_of(width), more)
            yield _text(x + width / 2, y + 103, f"{name} {size}", 14, INK, _CENTRED)
            if below:
                yield _text(x + width / 2, y + 121, below, 13, DIM, _CENTRED)


def _columns(seats: int, all_open: bool) -> int:
    """How many boxes lie in a row."""
    if all_open:
        return {2: 1, 4: 2}.get(seats, 3)
    return {4: 4}.get(seats, min(seats, 3))


def _rows(seats: Sequence[Seat], columns: int) -> list[Sequence[Seat]]:
    return [seats[at : at + columns] for at in range(0, len(seats), columns)]


def _meld_width(meld: MeldOnTable) -> float:
    """The room that a meld takes, up to the next one."""
    return _MIDDLE * (1 + (len(meld.cards) - 1) * _MELD_STEP) + 18


def _meld_rows(melds: Sequence[MeldOnTable], room: float) -> list[list[MeldOnTable]]:
    """The melds in as many rows as they need."""
    rows: list[list[MeldOnTable]] = []
    left = 0.0
    for meld in melds:
        width = _meld_width(meld)
        if not rows or width > left:
            rows.append([])
            left = room
        rows[-1].append(meld)
        left -= width
    return rows


def _who(seat: Seat) -> str:
    name = seat.name if len(seat.name) <= _MAX_NAME else f"{seat.name[: _MAX_NAME - 1]}…"
    return f"seat {seat.number} {name}".rstrip() + (" (dealer)" if seat.is_dealer else "")


def _how(seat: Seat) -> str:
    points = f"{seat.score} points"
    if seat.is_out:
        return f"{points}, out of the match"
    return f"{points}, {'opened' if seat.has_opened else 'not opened'}"
