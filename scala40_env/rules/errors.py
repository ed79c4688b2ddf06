"""The errors of this package.

Each is a ``ValueError``, and its message says what was given, what is allowed, and where.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_SHOWN_LENGTH = 120
"""Longest piece of input that a message quotes: a pasted megabyte must not become the message."""


class Scala40Error(ValueError):
    """Whatever this package refuses; catch this to catch them all."""


class BadNotation(Scala40Error):
    """Text (or a number) that names no card, meld or move."""


class BadRules(Scala40Error):
    """A field of `Rules` that does not exist, a value that it does not take, or values that exclude each other."""


class BadPosition(Scala40Error):
    """A position that cannot be."""


class BadRecord(Scala40Error):
    """A record that cannot be read or does not replay."""


class IllegalMove(Scala40Error):
    """A well-formed move that the rules do not allow here.

    Attributes: `move` as it was given, `reason` in words, `position` where it was tried (a position object as
    `Game.position` gives it, or None where only the table was known).
    """

    def __init__(self, move: str, reason: str, position: Mapping[str, Any] | None = None) -> None:
        # All three go to `args`, so that the error survives pickling between processes.
        super().__init__(move, reason, position)
        self.move = move
        self.reason = reason
        self.position = position

    def __str__(self) -> str:
        message = f"illegal move {shown(self.move)}: {self.reason}"
        if self.position is None:
            return message
        return f"{message}\nposition: {json.dumps(self.position, ensure_ascii=False, default=repr)}"


def shown(value: object) -> str:
    """Any value as a message quotes it: its `repr`, cut short; never raises."""
    try:
        text = repr(value)
    except Exception:  # a repr may fail: Python refuses to print integers of more than 4,300 digits
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _SHOWN_LENGTH else text[:_SHOWN_LENGTH] + "..."


def suggestion(word: str, known: tuple[str, ...]) -> str:
    """``" (did you mean 'fisca'?)"`` where a known word is close to `word`, otherwise the empty string."""
    from difflib import get_close_matches  # only on the way to an error: not worth a place in every import

    close = get_close_matches(word[:_SHOWN_LENGTH], known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
