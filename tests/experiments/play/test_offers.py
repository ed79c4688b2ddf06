"""What cards could do: every legal move is on offer where its cards go, and what is not says why."""

from __future__ import annotations

import pytest

from experiments.play.offers import NEW, NO_MELD, POZZO, lit, ways, why_not
from experiments.play.table import Table
from scala40_env import Game, Rules
from scala40_env.rules.config import PRESETS
from tests.experiments.play.tables import played, setup_of


def game_of(hand: str, table: tuple[str, ...] = (), opened: bool = True, **rules: object) -> Game:
    position = {
        "rules": {"preset": "fisca", "num_players": 2, **rules},
        "turn": 0,
        "phase": "play",
        "hands": [hand, "?5"],
        "opened": [opened, True],
        "table": list(table),
        "pozzo": "2h",
    }
    return Game.from_position(position)


def cards_of(move: str) -> list[str]:
    """The cards that a move takes out of the hand."""
    words = move.split()
    named = words[1:] if words[0] == "meld" else words[1:2]
    return ["*" if word.startswith("*") else word for word in named]


@pytest.mark.parametrize("preset", PRESETS)
def test_every_legal_move_is_on_offer(preset: str) -> None:
    rules = Rules.from_preset(preset, num_players=3, hand_size=9, opening_points=10, buying=preset == "tavolo")
    table = played(Table(setup_of(rules)), 40, 3)
    if table.game.phase == "draw":
        table.play(table.game.turn, "stock")
    legal = table.game.legal_moves()
    assert len(legal) > 3
    for move in legal:
        verb, cards = move.split()[0], cards_of(move)
        target = {"meld": NEW, "discard": POZZO}.get(verb) or int(move.split()[2])
        found = ways(table.game, cards, target)
        after = str(table.game.copy().play(move))
        assert after in {str(table.game.copy().play(way.moves)) for way in found}, move


def test_a_joker_can_stand_for_several_cards() -> None:
    game = game_of("5s 6s * Kd Kh")
    assert [way.shows for way in ways(game, ["5s", "*", "6s"], NEW)] == ["*4s 5s 6s", "5s 6s *7s"]
    assert [way.shows for way in ways(game, ["Kd", "Kh", "*"], NEW)] == ["*Ks Kh Kd", "Kh Kd *Kc"]


def test_a_joker_fills_the_gap() -> None:
    assert [way.shows for way in ways(game_of("5s 7s * Kd"), ["7s", "*", "5s"], NEW)] == ["5s *6s 7s"]


def test_an_ace_is_low_or_high() -> None:
    game = game_of("As 2s * Qs Ks 9d", max_jokers_per_meld=1)
    assert [way.shows for way in ways(game, ["As", "2s", "*"], NEW)] == ["As 2s *3s"]
    assert [way.shows for way in ways(game, ["As", "Ks", "Qs"], NEW)] == ["Qs Ks As"]


def test_longer_melds_and_several_cards_at_once() -> None:
    game = game_of("4s 5s 6s 7s 8s 9d Kd", ("9s Ts Js",))
    assert ways(game, ["8s", "7s", "5s", "6s"], NEW)[0].shows == "5s 6s 7s 8s"
    found = ways(game, ["7s", "8s"], 1)
    assert [way.shows for way in found] == ["7s 8s 9s Ts Js"]
    assert game.copy().play(found[0].moves).view(0).table == ("7s 8s 9s Ts Js",)


def test_a_joker_at_either_end() -> None:
    game = game_of("* 9d Kd", ("6s 7s 8s",))
    assert [way.shows for way in ways(game, ["*"], 1)] == ["*5s 6s 7s 8s", "6s 7s 8s *9s"]


def test_a_card_takes_the_place_of_a_joker() -> None:
    game = game_of("7s Kd Kh 9d", ("6s *7s 8s",))
    assert ways(game, ["7s"], 1)[0].moves == "swap 7s 1"


def test_lit_says_where_cards_may_go() -> None:
    game = game_of("9s 9h Kd 4c", ("6s 7s 8s", "Kh Ks Kc"))
    assert lit(game, ["Kd"]).melds == [2] and not lit(game, ["Kd"]).new
    assert lit(game, ["4c"]).pozzo and not lit(game, ["4c", "Kd"]).pozzo


@pytest.mark.parametrize(
    ("hand", "cards", "target", "said"),
    [
        ("5s 6s Kd", ["5s", "6s"], NEW, "a meld has 3 cards or more"),
        ("5s 9s * Kd", ["5s", "9s", "*"], NEW, NO_MELD),
        ("5s 9d Kd 2c", ["5s", "9d", "Kd"], NEW, "fits neither a run nor a set"),
        ("5s 7s 8s 2c", ["8s", "7s", "5s"], NEW, "where 6 belongs"),
        ("2s 3s 4s Kd 9c", ["2s", "3s", "4s"], NEW, "40 points"),
        ("9d Kd 2c", ["9d"], 1, "takes 5s low or 9s high"),
        ("9s Kd 2c", ["9s"], 1, "has not opened"),
        ("9s Kd 2c", ["9s"], POZZO, "attaches to meld 1"),
        ("* Kd 2c", ["*"], 1, "has not opened"),
    ],
)
def test_what_can_not_be_says_why(hand: str, cards: list[str], target: int | str, said: str) -> None:
    game = game_of(hand, ("6s 7s 8s",), opened=False)
    assert ways(game, cards, target) == []
    why = why_not(game, cards, target)
    assert said in why and "legal:" not in why and "position" not in why


def test_the_cards_of_others_are_in_no_answer() -> None:
    """Legality depends on what the seat sees alone."""
    game = game_of("9s 9h * Kd 4c", ("6s 7s 8s",))
    view = game.view(0)
    for seed in range(3):
        other = Game.from_position({**view.position(), "seed": seed})
        for cards in (["9s"], ["*"], ["9s", "9h", "*"], ["4c"]):
            for target in (NEW, POZZO, 1):
                assert ways(game, cards, target) == ways(other, cards, target)
                assert why_not(game, cards, target) == why_not(other, cards, target)
