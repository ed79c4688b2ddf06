"""The table in a terminal: the text of `rules.table_text`, with cards in colour and, if wanted, suit signs."""

from __future__ import annotations

import re

from scala40_env.render.scene import Table
from scala40_env.rules.cards import RANKS, SUITS

_CARD = re.compile(rf"(?<![\w*])(?:\*?[{RANKS}][{SUITS}]|\*)(?!\w)")
_SIGNS = dict(zip(SUITS, "♠♥♦♣", strict=True))
_RESET, _BOLD = "\x1b[0m", "\x1b[1m"
_RED, _GREEN, _BLUE, _YELLOW, _PURPLE = (f"\x1b[{code}m" for code in (91, 92, 94, 93, 95))
_TWO_COLOURS = {"h": _RED, "d": _RED}
_FOUR_COLOURS = {"h": _RED, "d": _BLUE, "c": _GREEN}


def ansi_of(table: Table, *, colour: bool = True, suit_signs: bool = False, four_colours: bool = False) -> str:
    """A game or a view as text for a terminal.

    Args:
        table: a `Game` or a `View`.
        colour: with escape codes for colours; without them it is plain text, as ``str(table)``.
        suit_signs: ``7♠`` in place of ``7s``.
        four_colours: diamonds blue and clubs green.
    """
    colours = _FOUR_COLOURS if four_colours else _TWO_COLOURS

    def card(match: re.Match[str]) -> str:
        return _card(match.group(), colours if colour else None, suit_signs)

    lines = [_CARD.sub(card, line) for line in str(table).splitlines()]
    return "\n".join(map(_lit, lines) if colour else lines)


def _card(face: str, colours: dict[str, str] | None, suit_signs: bool) -> str:
    suit = face[-1]
    text = face[:-1] + _SIGNS[suit] if suit_signs and suit in _SIGNS else face
    if colours is None:
        return text
    colour = _PURPLE if face.startswith("*") else colours.get(suit, "")
    return f"{colour}{text}{_RESET}" if colour else text


def _lit(line: str) -> str:
    """The seat on move in bold, and what this turn has done in yellow."""
    if line.startswith((">", "the ")):
        return _restored(_BOLD, line)
    return _restored(_YELLOW, line) if line.startswith("this turn: ") else line


def _restored(style: str, line: str) -> str:
    """A line in a style, which goes on after every coloured card."""
    return f"{style}{line.replace(_RESET, _RESET + style)}{_RESET}"
