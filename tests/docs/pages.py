"""Reads the README and the pages in docs/: their blocks of code, and what the comment above a block says about it.

``<!-- file: NAME -->``: the block is a file that the page's commands find. ``<!-- small: A => B; C => D -->``: run with
these replacements. ``<!-- not run: WHY -->``: not run. A ``text`` block that follows another block at once is what that
one has to print.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
_COPIES = tuple(DOCS.glob("notebooks/*"))
"""They are there while the site is built."""
SITE_PAGES = tuple(sorted(page for page in DOCS.rglob("*.md") if page not in _COPIES))
PAGES = (README, *SITE_PAGES, *sorted((ROOT / "notebooks").glob("*.md")))

_BLOCK = re.compile(r"^(?:<!-- (?P<word>file|small|not run): (?P<said>.*?) -->\n)?```(\w*)\n(.*?)^```$", re.M | re.S)
_PROSE_ONLY = re.compile(r"^```.*?^```$|^    .*?$|`[^`\n]*`|<!--.*?-->", re.M | re.S)


class Block(NamedTuple):
    """A block of code: where it begins, its language, its text, what it has to print (None: whatever), the comment."""

    line: int
    language: str
    code: str
    printed: str | None
    word: str | None
    said: str

    @property
    def file(self) -> str | None:
        """The name of the file that the block is."""
        return self.said if self.word == "file" else None

    @property
    def is_run(self) -> bool:
        """Is it to be run?"""
        return self.word not in ("file", "not run")

    @property
    def code_to_run(self) -> str:
        """The code with the replacements that its comment asks for; each has to be there."""
        code = self.code
        for change in self.said.split("; ") if self.word == "small" else ():
            old, arrow, new = change.partition(" => ")
            assert arrow and old in code, f"line {self.line}: {change!r} replaces nothing"
            code = code.replace(old, new)
        return code


def blocks(page: str) -> list[Block]:
    """The blocks of a page's text, but for those that say what is printed."""
    found = list(_BLOCK.finditer(page))
    after = {a.start(): b for a, b in pairwise(found) if not page[a.end() : b.start()].strip()}
    return [_block(page, match, after.get(match.start())) for match in found if not _is_printed(match, after)]


def _is_printed(match: re.Match[str], after: dict[int, re.Match[str]]) -> bool:
    return match[3] == "text" and match in after.values()


def _block(page: str, match: re.Match[str], text: re.Match[str] | None) -> Block:
    line = page.count("\n", 0, match.start(3)) + 1
    printed = text[4] if text is not None and text[3] == "text" else None
    return Block(line, match[3], match[4], printed, match["word"], match["said"] or "")


def blocks_of(path: Path) -> list[Block]:
    """The blocks of a page."""
    return blocks(path.read_text())


def prose_of(path: Path) -> str:
    """A page without its code and comments."""
    return _PROSE_ONLY.sub("", path.read_text())


def name_of(path: Path) -> str:
    """The page's path in the repository."""
    return path.relative_to(ROOT).as_posix()
