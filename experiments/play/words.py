"""The words of a table in one language: sentences of the pages, the rules in force, and why a move is refused.

They are in ``words/LANGUAGE.json``, beside those that replays have too (`scala40_env.render.words`); the pages get both
for what they write themselves. The package says in English why a move is refused: `reasons` maps each of those
sentences to one of the language, ``{name}`` stands for what changes in both. A sentence that is not there is shown as
the package says it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from scala40_env.render.words import LANGUAGES, content_of
from scala40_env.render.words import Words as PageWords
from scala40_env.rules.config import FIELDS, Rules, Value

__all__ = ["LANGUAGES", "Words", "text_of_file", "words_of"]

_SEAT = re.compile(r"\bseat (\d+)\b")


class Words(PageWords):
    """One language; made by `words_of`."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        super().__init__(content)
        self._rules: Mapping[str, Mapping[str, str]] = content["rules"]
        self._reasons = [(_pattern(english), said) for english, said in content["reasons"].items()]

    def reason(self, english: str, names: Sequence[str] = ()) -> str:
        """Why something is refused, out of the package's sentence; seats are called by their names."""
        for pattern, said in self._reasons:
            if found := pattern.fullmatch(english):
                return said.format(**{name: self.plain(part) for name, part in found.groupdict().items()})
        return _SEAT.sub(lambda seat: _name(int(seat[1]), names) or seat[0], english)

    def rule(self, field: str, value: Value) -> str:
        """What a field of the rules means with this value, in a sentence."""
        sentences = self._rules[field]
        key = str(value).lower()
        return sentences[key if key in sentences else "*"].format(n=value)

    def rules(self, rules: Rules) -> list[str]:
        """The rules in force, in sentences; a field that has no part under these rules is left out."""
        return [self.rule(field, getattr(rules, field)) for field in FIELDS if _matters(field, rules)]


def _name(seat: int, names: Sequence[str]) -> str:
    return names[seat] if seat < len(names) else ""


def _matters(field: str, rules: Rules) -> bool:
    """Has a field any part under these rules?"""
    if field == "team_score":
        return rules.team_size > 1
    if field == "num_hands":
        return rules.match == "hands"
    if field == "reentries":
        return rules.match == "elimination"
    if field == "limit":
        return rules.match in ("elimination", "total")
    return True


def _pattern(english: str) -> re.Pattern[str]:
    """What matches a sentence of the package, with a group for each of its {names}."""
    parts = re.split(r"\{(\w+)\}", english)
    return re.compile("".join(f"(?P<{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts)))


def text_of_file(folder: str, name: str) -> str:
    """The text of a file that lies beside this module."""
    return (files(__package__) / folder / name).read_text(encoding="utf-8")


@lru_cache
def words_of(language: str) -> Words:
    """The words of a language out of `LANGUAGES`."""
    common, own = content_of(language), json.loads(text_of_file("words", f"{language}.json"))
    return Words({**common, **own, "page": {**common["page"], **own["page"]}})
