"""Reads README.md: its blocks of code, what is said to be printed by each, and what really is."""

from __future__ import annotations

import contextlib
import io
import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

README = Path(__file__).parents[2] / "README.md"
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of code with its language, and the text block that follows at once, None if none does."""

    language: str
    code: str
    printed: str | None


def blocks(page: str) -> list[Block]:
    found = list(_FENCE.finditer(page))
    after = {a.start(): b for a, b in pairwise(found) if not page[a.end() : b.start()].strip()}
    pairs = [(match, after.get(match.start())) for match in found]
    return [
        Block(match[1], match[2], text[2] if text is not None and text[1] == "text" else None) for match, text in pairs
    ]


def printed_by(code: str, names: dict[str, object]) -> str:
    """What some Python prints; it shares `names` with what ran before, as on the page."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), names)
    return out.getvalue()
