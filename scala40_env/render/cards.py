"""The faces of the cards, as SVG symbols.

A face is named by its notation: ``"Td"``; ``"*"``, a joker; ``"*7d"``, a joker on the table with the card that it
stands for; ``"?"``, the back. A card is `WIDTH` x `HEIGHT` units. All shapes are paths of our own, letters too, so a
card looks the same with whatever fonts there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from scala40_env.rules.cards import RANKS, SUITS

WIDTH, HEIGHT = 60, 84
BACK = "?"
JOKER_FACE = "*"


class Palette(NamedTuple):
    """Colours of the suits s h d c; `prefix` keeps symbols of two palettes apart where both are in one document."""

    prefix: str
    suits: tuple[str, str, str, str]


TWO_COLOURS = Palette("s40", ("#16181d", "#c4122f", "#c4122f", "#16181d"))
FOUR_COLOURS = Palette("s40c", ("#16181d", "#c4122f", "#1257c4", "#0d7a37"))

PAPER, TINTED_PAPER, EDGE = "#fffdf7", "#fff0bf", "#7d7a70"
JOKER_COLOUR, BACK_COLOUR = "#6b2fa0", "#2f4f86"

_CENTRE = (WIDTH / 2, HEIGHT / 2)

#: Suits around (0, 0), about 20 units high.
_SUIT_PATHS = {
    "s": "M0-10C3-6 9.5-2 9.5 3C9.5 6.2 7 7.6 4.8 7.6C3.2 7.6 1.7 6.8 .9 5.6C1.1 7.6 1.9 9.2 3.4 10H-3.4"
    "C-1.9 9.2-1.1 7.6-.9 5.6C-1.7 6.8-3.2 7.6-4.8 7.6C-7 7.6-9.5 6.2-9.5 3C-9.5-2-3-6 0-10Z",
    "h": "M0 9.5C-3 5.5-9.5 1-9.5-4C-9.5-7.3-7.2-9-4.9-9C-2.6-9-.8-7.5 0-5.5C.8-7.5 2.6-9 4.9-9C7.2-9 9.5-7.3 9.5-4"
    "C9.5 1 3 5.5 0 9.5Z",
    "d": "M0-10C2-6 4.8-2.6 7.6 0C4.8 2.6 2 6 0 10C-2 6-4.8 2.6-7.6 0C-4.8-2.6-2-6 0-10Z",
    "c": "M0-9.8a4.6 4.6 0 0 1 0 9.2a4.6 4.6 0 0 1 0-9.2ZM-5-2.2a4.6 4.6 0 0 1 0 9.2a4.6 4.6 0 0 1 0-9.2Z"
    "M5-2.2a4.6 4.6 0 0 1 0 9.2a4.6 4.6 0 0 1 0-9.2ZM-2-3H2V2H-2ZM0 0C.3 5 1.4 8.6 3.4 10H-3.4C-1.4 8.6-.3 5 0 0Z",
}
#: Ranks as strokes in a box of 10 x 14.
_RANK_PATHS = {
    "A": "M.5 14 5 .5 9.5 14M2.4 9.2H7.6",
    "2": "M1 4C1-1 9-1 9 4C9 7.5 1 10 1 13.6H9.2",
    "3": "M1 .8H8.6L4.4 5.6C10.5 5.2 10.5 13.8 4.6 13.8C2.6 13.8 1.2 13 .8 11.4",
    "4": "M7 14V.8L.8 10H9.6",
    "5": "M8.6 .8H2.2L1.5 6.4C4 4.4 9.2 5 9.2 9.4C9.2 15 2 15.2 .8 11.6",
    "6": "M8.4 1.8C4.5-1 1 3.5 1 9C1 15.4 9.2 15.4 9.2 9.4C9.2 4 1.6 4.2 1.1 9",
    "7": "M.8 .8H9.2C6 5 4.4 9 4 14",
    "8": "M5 6.4C.4 5.6.8.4 5 .4C9.2.4 9.6 5.6 5 6.4C-.6 7-.4 13.8 5 13.8C10.4 13.8 10.6 7 5 6.4Z",
    "9": "M1.6 12.2C5.5 15 9 10.5 9 5C9-1.4.8-1.4.8 4.6C.8 10 8.4 9.8 8.9 5",
    "T": "M-1.2 2.8 1 .8V14M4.3 7C4.3-1.6 10.6-1.6 10.6 7C10.6 15.6 4.3 15.6 4.3 7Z",
    "J": "M7.8 .6V10C7.8 15.2 1.4 15.2 1.2 10.6",
    "Q": "M5 .4C-.8.4-.8 13.6 5 13.6C10.8 13.6 10.8.4 5 .4ZM6 9.8 9.4 14.2",
    "K": "M1.4 .4V14M9 .4 1.6 8.4M4.3 5.8 9.4 14",
}
#: What the courts wear, around (0, 0).
_HATS = {
    "J": "M-9 6C-9-1-6-5 1-5C6-5 9-1 9 6ZM-9 2.5H9M3-4.6C4-8 7-10 10-9.5C9.5-6 7-4 4.5-4.2",
    "Q": "M-9 6-10-3-5 1-4-6 0 0 4-6 5 1 10-3 9 6ZM-9 3H9",
    "K": "M-9 6V-4L-4.5 0 0-7.5 4.5 0 9-4V6ZM-9 3H9M0-7.5V-10.5M-1.6-9H1.6",
}
_STAR = "M0-10 2.35-3.24 9.51-3.09 3.8 1.24 5.88 8.09 0 4-5.88 8.09-3.8 1.24-9.51-3.09-2.35-3.24Z"
#: Pips of the upper half of a card and of its middle row; the upper half is repeated upside down below.
_LEFT, _MIDDLE, _RIGHT = 24, 30, 36
_PIPS: dict[str, tuple[tuple[tuple[float, float], ...], tuple[tuple[float, float], ...]]] = {
    "2": (((_MIDDLE, 18),), ()),
    "3": (((_MIDDLE, 18),), ((_MIDDLE, 42),)),
    "4": (((_LEFT, 18), (_RIGHT, 18)), ()),
    "5": (((_LEFT, 18), (_RIGHT, 18)), ((_MIDDLE, 42),)),
    "6": (((_LEFT, 18), (_RIGHT, 18)), ((_LEFT, 42), (_RIGHT, 42))),
    "7": (((_LEFT, 18), (_RIGHT, 18)), ((_LEFT, 42), (_RIGHT, 42), (_MIDDLE, 30))),
    "8": (((_LEFT, 18), (_RIGHT, 18), (_MIDDLE, 30)), ((_LEFT, 42), (_RIGHT, 42))),
    "9": (((_LEFT, 16), (_RIGHT, 16), (_LEFT, 33), (_RIGHT, 33)), ((_MIDDLE, 42),)),
    "T": (((_LEFT, 16), (_RIGHT, 16), (_LEFT, 33), (_RIGHT, 33), (_MIDDLE, 24.5)), ()),
}


def symbol_id(face: str, palette: Palette = TWO_COLOURS) -> str:
    """The id of the symbol of a face."""
    name = {BACK: "back", JOKER_FACE: "joker"}.get(face, face.replace("*", "for-"))
    return f"{palette.prefix}-{name}"


def symbols(faces: Iterable[str], palette: Palette = TWO_COLOURS) -> str:
    """SVG definitions of these faces and the shapes that they use, the same text for the same set of faces."""
    wanted = sorted(set(faces))
    return "\n".join([*_shapes(wanted, palette), *(_symbol(face, palette) for face in wanted)])


def _shapes(faces: list[str], palette: Palette) -> list[str]:
    """The paths that several cards share, those alone that are needed."""
    naturals = [face[-2:] for face in faces if face not in (BACK, JOKER_FACE)]
    ranks, suits = {card[0] for card in naturals}, {card[1] for card in naturals}
    prefix = palette.prefix
    shapes = [
        f'<rect id="{prefix}-paper" x=".5" y=".5" width="59" height="83" rx="5.5" stroke="{EDGE}"/>',
        f'<path id="{prefix}-star" d="{_STAR}"/>',
    ]
    shapes += [f'<path id="{prefix}-{suit}" d="{_SUIT_PATHS[suit]}" stroke="none"/>' for suit in SUITS if suit in suits]
    pen = 'fill="none" stroke-width="2.3" stroke-linecap="round" stroke-linejoin="round"'
    return shapes + [f'<path id="{prefix}-{rank}" d="{_RANK_PATHS[rank]}" {pen}/>' for rank in RANKS if rank in ranks]


def _symbol(face: str, palette: Palette) -> str:
    return f'<symbol id="{symbol_id(face, palette)}" viewBox="0 0 {WIDTH} {HEIGHT}">{_face(face, palette)}</symbol>'


def _face(face: str, palette: Palette) -> str:
    if face == BACK:
        return _back(palette)
    if face == JOKER_FACE:
        return _joker(palette)
    card = face[-2:]
    colour = palette.suits[SUITS.index(card[1])]
    paper = _use(palette, "paper", fill=TINTED_PAPER if face != card else PAPER)
    middle = _joker_marks(palette) if face != card else _middle(card, palette)
    return f'{paper}<g fill="{colour}" stroke="{colour}">{_both_ways(_index(card, palette))}{middle}</g>'


def _use(palette: Palette, name: str, x: float = 0, y: float = 0, scale: float = 1, fill: str = "") -> str:
    """A shared shape, moved and scaled."""
    transform = "" if (x, y, scale) == (0, 0, 1) else f' transform="translate({x:g} {y:g}) scale({scale:g})"'
    filled = f' fill="{fill}"' if fill else ""
    return f'<use href="#{palette.prefix}-{name}"{transform}{filled}/>'


def _both_ways(upper: str) -> str:
    """A drawing and the same upside down, for the lower half of a card."""
    x, y = _CENTRE
    return f'{upper}<g transform="rotate(180 {x:g} {y:g})">{upper}</g>'


def _index(card: str, palette: Palette) -> str:
    """Rank and suit for a corner: all that shows of most cards in a hand."""
    return _use(palette, card[0], 4.6, 5.4, 1.12) + _use(palette, card[1], 10.2, 30.5, 0.62)


def _middle(card: str, palette: Palette) -> str:
    rank, suit = card[0], card[1]
    if rank == "A":
        return _use(palette, suit, *_CENTRE, 1.5)
    if rank in _HATS:
        return _court(rank, suit, palette)
    upper, middle = ["".join(_use(palette, suit, x, y, 0.4) for x, y in pips) for pips in _PIPS[rank]]
    return _both_ways(upper) + middle


def _court(rank: str, suit: str, palette: Palette) -> str:
    """A frame with the suit, and a crown or a hat at both ends."""
    frame = f'<rect x="18.5" y="8.5" width="23" height="67" rx="2" fill="{TINTED_PAPER}" stroke-width=".9"/>'
    hat = f'<path d="{_HATS[rank]}" transform="translate(30 20)" fill="{PAPER}" stroke-width="1.3"/>'
    return frame + _both_ways(hat) + _use(palette, suit, *_CENTRE, 1)


def _joker_marks(palette: Palette) -> str:
    """The stars that mark a joker: below the index too, where it shows when other cards cover the middle."""
    small = _both_ways(_use(palette, "star", 10.6, 49, 0.6))
    return f'<g fill="{JOKER_COLOUR}" stroke="none">{small}{_use(palette, "star", *_CENTRE, 1.05)}</g>'


def _joker(palette: Palette) -> str:
    x, y = _CENTRE
    corner = _use(palette, "star", 11, 13, 0.75)
    ring = f'<circle cx="{x:g}" cy="{y:g}" r="20" fill="none" stroke="{JOKER_COLOUR}" stroke-width="1.4"/>'
    stars = _both_ways(corner) + _use(palette, "star", x, y, 1.6)
    return f'{_use(palette, "paper", fill=PAPER)}<g fill="{JOKER_COLOUR}" stroke="none">{stars}</g>{ring}'


def _back(palette: Palette) -> str:
    lattice = "".join(f"M{x} {y}l4 5.5-4 5.5-4-5.5Z" for y in range(9, 75, 11) for x in range(10, 51, 8))
    return (
        f"{_use(palette, 'paper', fill=PAPER)}"
        f'<rect x="4" y="4" width="52" height="76" rx="3" fill="{BACK_COLOUR}"/>'
        f'<path d="{lattice}" fill="none" stroke="#fff" stroke-opacity=".45" stroke-width=".9"/>'
    )
