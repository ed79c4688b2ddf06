"""Messages of pages: those that none of ours sends are refused in words."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.play.protocol import MESSAGES, BadMessage, held, read_message
from scala40_env.rules.errors import BadNotation, Scala40Error

GOOD = (
    {"type": "hello", "language": "it"},
    {"type": "select", "cards": [], "version": 3},
    {"type": "put", "cards": ["5s", "*"], "on": "new", "version": 3},
    {"type": "put", "cards": ["5s"], "on": 12, "version": 3},
    {"type": "move", "move": "stock", "version": 3},
    {"type": "undo", "version": 0},
    {"type": "next"},
    {"type": "hint", "agent": "expert"},
)


@pytest.mark.parametrize("message", GOOD, ids=lambda message: str(message["type"]))
def test_what_pages_send_is_read(message: dict[str, object]) -> None:
    assert read_message(json.dumps(message)) == message
    assert {str(each["type"]) for each in GOOD} == set(MESSAGES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 5000,
        "3",
        "[]",
        "{}",
        '{"type": 3}',
        '{"type": "cheat"}',
        '{"type": "hello", "language": "xx"}',
        '{"type": "hello", "language": []}',
        '{"type": "move", "version": 1}',
        '{"type": "move", "move": 3, "version": 1}',
        '{"type": "move", "move": "stock"}',
        '{"type": "move", "move": "stock", "version": true}',
        '{"type": "put", "cards": "5s", "on": "new", "version": 1}',
        '{"type": "put", "cards": [5], "on": "new", "version": 1}',
        '{"type": "put", "cards": ["5s"], "on": "stock", "version": 1}',
        '{"type": "put", "cards": ["5s"], "on": 0, "version": 1}',
        '{"type": "put", "cards": ["5s"], "on": 1000000, "version": 1}',
        json.dumps({"type": "move", "move": "x" * 10_000, "version": 1}),
        json.dumps({"type": "select", "cards": ["5s"] * 1000, "version": 1}),
    ],
    ids=range(21),
)
def test_what_pages_do_not_send_is_refused(text: str) -> None:
    with pytest.raises(BadMessage) as caught:
        read_message(text)
    assert len(str(caught.value)) < 300


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_nothing_else_is_raised(text: str) -> None:
    with pytest.raises(BadMessage):
        read_message(text)


def test_cards_have_to_be_in_the_hand() -> None:
    hand = ("5s", "5s", "Td", "*")
    assert held(["5s", "10d", "5s"], hand) == ["5s", "Td", "5s"]
    for cards, said in ((["5s"] * 3, "hold 5s"), (["6s"], "hold 6s"), (["*", "*"], r"hold \*"), ([], "no card")):
        with pytest.raises(BadMessage, match=said):
            held(cards, hand)
    with pytest.raises(BadNotation):
        held(["zz"], hand)
    assert issubclass(BadMessage, Scala40Error)
