"""What a page may send: one JSON object a message, with a `type` and the keys that `MESSAGES` lists.

======== ============================================================================================================
hello    first of all: the `language` of the page
select   which cards are chosen; the answer lists where they may go
put      put `cards` `on` "new", "pozzo" or the number of a meld
move     play a move in notation, as ``stock``
undo     take the last move back
next     deal the next hand
hint     what an `agent` would do
======== ============================================================================================================

`select`, `put`, `move` and `undo` carry the `version` of the state that the player has seen: what was meant for an
older one is refused, and a `select` of an older one not answered.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from experiments.play.offers import NEW, POZZO
from experiments.play.words import LANGUAGES
from scala40_env.rules.cards import format_cards, parse_cards
from scala40_env.rules.errors import Scala40Error, shown

__all__ = ["MESSAGES", "BadMessage", "held", "read_message"]

_MOST_MELDS = 36
_LONGEST_MOVE = 200
_MOST_CARDS = 30


class BadMessage(Scala40Error):
    """A message that no page of ours sends."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_MOVE


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_target(value: Any) -> bool:
    return value in (NEW, POZZO) if isinstance(value, str) else _is_number(value) and 0 < value <= _MOST_MELDS


def _are_cards(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= _MOST_CARDS and all(map(_is_text, value))


def _is_language(value: Any) -> bool:
    return value in LANGUAGES


_VERSION: dict[str, Callable[[Any], bool]] = {"version": _is_number}
MESSAGES: dict[str, dict[str, Callable[[Any], bool]]] = {
    "hello": {"language": _is_language},
    "select": {"cards": _are_cards, **_VERSION},
    "put": {"cards": _are_cards, "on": _is_target, **_VERSION},
    "move": {"move": _is_text, **_VERSION},
    "undo": _VERSION,
    "next": {},
    "hint": {"agent": _is_text},
}
"""The types of messages, and for each of their keys what a value has to pass."""


def read_message(text: str) -> dict[str, Any]:
    """The message in some text. Raises `BadMessage` for what is none."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise BadMessage(f"{shown(text)} is no JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise BadMessage(f"{shown(text)} is no message: an object with a type is")
    keys = MESSAGES.get(message["type"])
    if keys is None:
        raise BadMessage(f"type = {shown(message['type'])}: allowed is {', '.join(MESSAGES)}")
    for key, fits in keys.items():
        if key not in message or not fits(message[key]):
            raise BadMessage(f"{message['type']}: {key} = {shown(message.get(key))} can't be")
    return message


def held(given: Sequence[str], hand: Sequence[str]) -> list[str]:
    """The cards that a page names, if that hand holds them. Raises `BadMessage` or `BadNotation`."""
    cards = format_cards(parse_cards(" ".join(given))).split()
    if not cards:
        raise BadMessage("no card is named")
    if lacking := Counter(cards) - Counter(hand):
        raise BadMessage(f"the hand does not hold {' '.join(lacking)}")
    return cards
