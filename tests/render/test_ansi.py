"""The coloured text of a table."""

from __future__ import annotations

import re

import pytest

from scala40_env import Game
from scala40_env.render import ansi_of
from tests.render.tables import BUYING, stages
from tests.rules.test_view import KNOWN

CODES = re.compile(r"\x1b\[\d+m")


@pytest.fixture
def game() -> Game:
    return Game.from_position(KNOWN)


def test_without_colour_it_is_the_text_of_the_table(game: Game) -> None:
    assert ansi_of(game, colour=False) == str(game)
    assert ansi_of(game.view(1), colour=False) == str(game.view(1))


def test_colours_change_no_letter() -> None:
    for at, game in enumerate(stages(BUYING, seed=3, moves=120)):
        if at % 10 == 0:
            for table in (game, game.view(2)):
                assert CODES.sub("", ansi_of(table)) == str(table)
                assert CODES.sub("", ansi_of(table, four_colours=True)) == str(table)


def test_cards_have_their_colours(game: Game) -> None:
    text = ansi_of(game)
    assert "\x1b[91mKd\x1b[0m" in text and "\x1b[95m*Qd\x1b[0m" in text
    assert " 7s" in text and "m7s" not in text
    four = ansi_of(game, four_colours=True)
    assert "\x1b[94mKd\x1b[0m" in four and "\x1b[92m2c\x1b[0m" in four and "\x1b[91m7h\x1b[0m" in four


def test_suit_signs(game: Game) -> None:
    plain = ansi_of(game, colour=False, suit_signs=True)
    assert "J♦ *Q♦ K♦" in plain and "seat 0" in plain
    assert plain.translate(str.maketrans("♠♥♦♣", "shdc")) == str(game)


def test_the_seat_on_move_stands_out(game: Game) -> None:
    lines = ansi_of(game).splitlines()
    assert [line for line in lines if line.startswith("\x1b[1m>")] and lines[0].startswith("fisca")
    assert all(line.endswith("\x1b[0m") for line in lines if line.startswith("\x1b[1m"))
