"""The drawing of a table: well formed, the same for the same table, and without a card that its reader can't see."""

from __future__ import annotations

import random
import re
from collections import Counter
from xml.etree import ElementTree

import pytest

from scala40_env import Game, Rules, Scala40Error, View
from scala40_env.render import svg_of
from scala40_env.render.cards import FOUR_COLOURS, TWO_COLOURS, symbol_id
from scala40_env.rules.cards import format_card, parse_cards
from scala40_env.rules.reading import hand_of, melds_of, pozzo_of
from tests.render.tables import BUYING, NAMES, stages
from tests.rules.test_view import KNOWN, reshuffled

NS = "{http://www.w3.org/2000/svg}"


def drawn(svg: str) -> Counter[str]:
    """How often every symbol is put on the table."""
    root = ElementTree.fromstring(svg)
    return Counter(use.get("href", "").removeprefix("#") for use in root.findall(f"{NS}use"))


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{NS}text")]


def seen_by(game: Game, seat: int | None) -> Counter[str]:
    """What a drawing has to show: hands, melds, top of the pozzo, and backs."""
    state = game.state
    faces: Counter[str] = Counter()
    for other, text in enumerate(game.position()["hands"] if seat is None else game.view(seat).position()["hands"]):
        cards, _, hidden = text.partition("?")
        faces.update(format_card(card) for card in parse_cards(cards))
        faces["?"] += int(hidden or 0)
        assert seat is not None or len(hand_of(state, other)) == len(text.split())
    faces.update(str(card) for meld in melds_of(state) for card in meld.cards())
    faces.update(format_card(card) for card in pozzo_of(state)[-1:])
    faces["?"] += bool(state["stock_n"][0])
    return Counter({symbol_id(face): count for face, count in faces.items() if count})


@pytest.mark.parametrize("rules", [BUYING, Rules.fisca(num_players=2), Rules.fisca(num_players=6, opening_points=10)])
def test_a_drawing_shows_what_its_reader_sees_and_nothing_else(rules: Rules) -> None:
    phases = set()
    for at, game in enumerate(stages(rules, seed=3, moves=150)):
        phases.add(game.phase)
        if at % 7 and game.phase in ("draw", "play"):
            continue
        for seat in (None, *range(rules.num_players)):
            svg = svg_of(game if seat is None else game.view(seat))
            assert drawn(svg) == seen_by(game, seat)
            defined = set(re.findall(r'<symbol id="([^"]+)"', svg))
            assert defined == set(drawn(svg))  # not even a hidden card's symbol
    assert {"draw", "play", "hand_over"} <= phases
    assert rules.buying == ("buy" in phases)


def test_no_hidden_card_changes_the_drawing_of_a_view() -> None:
    rng, phases = random.Random(4), set()
    for at, game in enumerate(stages(BUYING, seed=21, moves=300)):
        phases.add(game.phase)
        if at % 4 and game.phase in ("draw", "play"):
            continue
        for seat in range(BUYING.num_players):
            other = View.of(reshuffled(game.state, seat, rng), seat, BUYING)
            assert svg_of(game.view(seat)) == svg_of(other)
    assert {"draw", "play", "buy", "hand_over"} <= phases


def test_what_is_public_changes_the_drawing() -> None:
    games = [Game.from_position({**KNOWN, **change}) for change in (
        {}, {"pozzo": "3h 9h"}, {"table": ["5s 6s 7s"]}, {"scores": [1, 2, 3]}, {"opened": [True, False, False]},
        {"known": ["", "", ""]}, {"turn": 1}, {"hands": ["9s 2c Qd", "8d Ts 7h", "4d 4h"]}, {"stock": "As Ah"},
    )]  # fmt: skip
    assert len({svg_of(game.view(0)) for game in games}) == len(games)


def test_cards_that_everybody_has_seen_lie_open() -> None:
    shown = drawn(svg_of(Game.from_position(KNOWN).view(0)))
    assert shown["s40-Ts"] == 1 and "s40-8d" not in shown
    assert shown["s40-back"] == 2 + 2 + 1  # those of the others, and the stock


def test_the_same_table_is_the_same_text() -> None:
    game = Game(BUYING, seed=2)
    assert svg_of(game) == svg_of(game.copy()) == game._repr_svg_()
    assert svg_of(game.view(1)) == game.view(1)._repr_svg_() != svg_of(game.view(2))


@pytest.mark.parametrize("players", range(2, 7))
def test_its_size(players: int) -> None:
    largest = 0
    for at, game in enumerate(stages(Rules.fisca(num_players=players, opening_points=10), seed=8, moves=250)):
        if at % 10 == 0:
            svg = svg_of(game)
            largest = max(largest, len(svg))
            assert drawn(svg) == seen_by(game, None)
    assert largest < 60_000


def test_it_scales() -> None:
    game = Game(seed=1)
    narrow, wide = (ElementTree.fromstring(svg_of(game, width=width)) for width in (300, 1200))
    assert (narrow.get("width"), wide.get("width")) == ("300", "1200")
    assert narrow.get("viewBox") == wide.get("viewBox")
    assert float(wide.get("height", 0)) == pytest.approx(4 * float(narrow.get("height", 0)), abs=3)


def test_everything_lies_within_the_picture() -> None:
    for at, game in enumerate(stages(Rules.fisca(num_players=5, opening_points=0), seed=6, moves=300)):
        if at % 20:
            continue
        root = ElementTree.fromstring(svg_of(game))
        _, _, width, height = map(float, root.get("viewBox", "").split())
        for part in [*root.findall(f"{NS}use"), *root.findall(f"{NS}rect")]:
            x, y, w, h = (float(part.get(name, 0)) for name in ("x", "y", "width", "height"))
            assert x >= 0 and y >= 0 and x + w <= width + 0.1 and y + h <= height + 0.1


def test_names_are_escaped_and_shortened() -> None:
    game = Game(seed=1)
    said = texts(svg_of(game, names=NAMES))
    assert any(NAMES[2] in text for text in said)
    assert any(text.startswith("seat 3 Dario il più lung…") for text in said)
    ElementTree.fromstring(svg_of(game, names=["\0", "]]>", "\ud800", "<&\"'"]))
    with pytest.raises(Scala40Error, match="one for each of the 4 seats"):
        svg_of(game, names=["a"])


def test_four_colours_are_another_palette() -> None:
    game = Game(seed=1)
    two, four = svg_of(game), svg_of(game, four_colours=True)
    assert sum(drawn(two).values()) == sum(drawn(four).values())
    assert TWO_COLOURS.suits[2] in two and FOUR_COLOURS.suits[2] not in two
    assert FOUR_COLOURS.suits[2] in four and FOUR_COLOURS.suits[3] in four


def test_it_says_what_happens() -> None:
    game = Game.from_position({**KNOWN, "phase": "play", "hands": ["9s", "8d Ts 7h", "4d 4h"]})
    assert "seat 0 is on move: play" in texts(svg_of(game))
    game.play("discard 9s")
    assert any("seat 0 closed (normal)" in text for text in texts(svg_of(game.view(1))))
    laid = Game.from_position(
        {**KNOWN, "opened": [False] * 3, "phase": "play", "hands": ["9s Kd Kh Ks Qh Qs Qc 2d", "8d Ts", "4d"]}
    )
    said = texts(svg_of(laid.play("meld Ks Kh Kd")))
    assert "this turn: laid 30 points of an opening of 40" in said and "new" in said


def test_empty_piles_and_seats_out_of_the_match() -> None:
    position = {**KNOWN, "stock": "", "out": [2], "scores": [10, 20, 130], "hands": ["9s 2c Kd", "8d Ts 7h", ""]}
    game = Game.from_position({**position, "known": ["", "Ts", ""], "discarded_by": [None, 1]})
    said = texts(svg_of(game))
    assert "stock 0" in said and "130 points, out of the match" in said
