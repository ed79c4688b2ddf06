"""The words of pages in one language: what cards and moves are called, what is owed in a turn, how a hand ended.

They are in ``words/LANGUAGE.json``: `cards`, `verbs` of moves, and `page`, sentences where ``{name}`` stands for what
is filled in. The scripts of pages get the same words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from scala40_env.rules.config import Rules
from scala40_env.rules.game import Outcome

__all__ = ["LANGUAGES", "Words", "content_of", "language_names", "words_of"]

LANGUAGES = ("en", "it", "es")


class Words:
    """One language. `content` is what its files hold."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.content = content

    def say(self, key: str, **values: object) -> str:
        """A sentence with its values filled in."""
        said: str = self.content["page"][key]
        return said.format(**values)

    def moves(self, notation: str) -> str:
        """Moves in notation, separated by ``;``, with the verbs of the language."""
        return "; ".join(self.plain(move.strip()) for move in notation.split(";"))

    def plain(self, notation: str) -> str:
        """Words of the notation in the language; cards stay as they are."""
        verbs: Mapping[str, str] = self.content["verbs"]
        return " ".join(verbs.get(word, word) for word in notation.split())

    def owed(self, turn: Mapping[str, Any], rules: Rules) -> list[str]:
        """What has been laid in a turn and what it still owes; `turn` as `this_turn` of a position."""
        said = []
        if turn["opening_points"]:
            said.append(self.say("opening_so_far", n=turn["opening_points"], needed=rules.opening_points))
        if turn["pozzo_card"]:
            said.append(self.say("owed_card", card=turn["pozzo_card"]))
        if turn["barred_card"]:
            said.append(self.say("barred_card", card=turn["barred_card"]))
        if turn["recovered_jokers"]:
            said.append(self.say("owed_joker"))
        return said

    def ending(self, outcome: Outcome, names: Sequence[str]) -> list[str]:
        """How a hand ended, and who has won the match if it is over."""
        key = "abandoned" if outcome.winner is None else f"closed_{outcome.closing}"
        said = [self.say(key, name="" if outcome.winner is None else names[outcome.winner])]
        if outcome.match_over:
            said.append(self.say("match_won", names=", ".join(names[seat] for seat in outcome.champions)))
        return said


@lru_cache
def words_of(language: str) -> Words:
    """The words of a language out of `LANGUAGES`."""
    return Words(content_of(language))


@lru_cache
def content_of(language: str) -> dict[str, Any]:
    """What the file of a language holds."""
    text = (files(__package__) / "words" / f"{language}.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def language_names() -> dict[str, str]:
    """Every language with what it calls itself."""
    return {language: content_of(language)["name"] for language in LANGUAGES}
