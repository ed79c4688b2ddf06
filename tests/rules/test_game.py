"""`Game`: one match, move by move, checked."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys

import numpy as np
import pytest

import scala40_env
from scala40_env import BadNotation, BadRules, Game, IllegalMove, Rules, Scala40Error
from scala40_env.kernels.state import GAME
from scala40_env.rules.moves import NUM_ACTIONS, NUM_ACTIONS_EXTENDED

OPENING = {
    "rules": {"preset": "fisca", "num_players": 3},
    "turn": 0,
    "phase": "play",
    "hands": ["9c Tc Jc Qc Kc 7s 9d 5s 8h Td Js 6d 2h 4h", "?13", "?13"],
}


def play_on(game: Game, seed: int, moves: int = 400) -> list[str]:
    """Play at random, keen on laying; returns the moves."""
    rng, played = random.Random(seed), []
    for _ in range(moves):
        if game.phase == "match_over":
            break
        if game.phase == "hand_over":
            game.next_hand()
        legal = game.legal_moves()
        keen = [move for move in legal if move.split()[0] in ("meld", "attach", "swap", "pozzo", "buy")]
        played.append(rng.choice(keen or legal))
        game.play(played[-1])
    return played


def test_the_same_seed_gives_the_same_match_whatever_the_global_generators_do() -> None:
    one, other = Game(seed=5), Game(seed=5)
    np.random.seed(1)
    random.seed(1)
    assert play_on(one, 3) == play_on(other, 3)
    assert one == other
    assert one.state.tobytes() == other.state.tobytes()


def test_another_seed_gives_another_deal() -> None:
    assert Game(seed=5).position()["hands"] != Game(seed=6).position()["hands"]
    assert Game().seed != Game().seed


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "7", True])
def test_bad_seeds_are_refused(seed: object) -> None:
    with pytest.raises(Scala40Error, match="seed"):
        Game(seed=seed)  # type: ignore[arg-type]


def test_the_largest_seed_is_one() -> None:
    assert Game(seed=2**64 - 1).seed == 2**64 - 1
    assert Game(seed=np.uint64(2**64 - 1)) == Game(seed=2**64 - 1)  # type: ignore[arg-type]


def test_rules_are_a_rules_object() -> None:
    with pytest.raises(BadRules, match="fisca"):
        Game("fisca")  # type: ignore[arg-type]


def test_what_stands_at_the_start() -> None:
    game = Game(Rules.fisca(num_players=3), seed=7)
    assert (game.phase, game.scores, game.opened, game.outcome) == ("draw", [0] * 3, [False] * 3, None)
    assert (game.turn, game.turns_played) == ((game.dealer + 1) % 3, 0)
    assert game.legal_moves() == ["stock"]
    assert game.legal_actions() == [0]
    assert game.mask().tolist() == [1] + [0] * (NUM_ACTIONS - 1)
    assert game.mask().dtype == np.int8
    assert len(Game(Rules.casa(), seed=7).mask()) == NUM_ACTIONS_EXTENDED


def test_legal_moves_are_sorted_text_and_legal_actions_sorted_numbers() -> None:
    game = Game.from_position(OPENING)
    assert game.legal_moves() == sorted(game.legal_moves())
    assert game.legal_actions() == sorted(game.legal_actions())
    assert np.flatnonzero(game.mask()).tolist() == game.legal_actions()


def test_play_takes_long_melds_and_returns_the_game() -> None:
    game = Game.from_position(OPENING)
    assert game.play("meld 9c Tc Jc Qc Kc; discard 5s") is game
    assert game.position()["table"] == ["9c Tc Jc Qc Kc"]
    assert game.opened == [True, False, False]


def test_a_long_meld_is_laid_in_whatever_order_is_legal() -> None:
    """No joker before the threshold, but this run's naturals reach it."""
    rules = {"preset": "fisca", "num_players": 3, "opening_jokers": "after_threshold"}
    hands = ["* Ts Js Qs Ks 7h 9d 5s 8h Td Jc 6d 2h 4h", "?13", "?13"]
    game = Game.from_position({**OPENING, "rules": rules, "hands": hands})
    assert game.play("meld *9s Ts Js Qs Ks; discard 2h").position()["table"] == ["*9s Ts Js Qs Ks"]


@pytest.mark.parametrize("text", ["meld 9c Tc Jc Qc Kc; discard 4d", "meld 9c Tc Jc; discard 5s", "stock", "discard *"])
def test_an_error_leaves_the_game_as_it_was(text: str) -> None:
    game = Game.from_position(OPENING)
    before, bytes_before = game.position(), game.state.tobytes()
    with pytest.raises(IllegalMove) as refused:
        game.play(text)
    assert (game.position(), game.state.tobytes()) == (before, bytes_before)
    assert refused.value.position is not None
    assert "legal:" in str(refused.value)


@pytest.mark.parametrize("text", ["", " ; ", "fold", "discard", "meld Ks As 2s", "discard Xx", "attach 7s"])
def test_unreadable_text_is_bad_notation(text: str) -> None:
    with pytest.raises(BadNotation):
        Game.from_position(OPENING).play(text)


@pytest.mark.parametrize("text", [None, 3, b"stock", ["stock"]])
def test_text_is_text(text: object) -> None:
    with pytest.raises(BadNotation):
        Game(seed=1).play(text)  # type: ignore[arg-type]


def test_play_action_is_checked_and_does_the_same() -> None:
    by_text, by_number = Game(seed=3), Game(seed=3)
    assert by_number.play_action(0) == by_text.play("stock")
    discard = by_number.legal_actions()[0]
    assert by_number.play_action(np.int16(discard)) == by_text.copy().play_action(discard)  # type: ignore[arg-type]
    before = by_text.position()
    with pytest.raises(IllegalMove, match="drawn already"):
        by_text.play_action(0)
    assert by_text.position() == before


@pytest.mark.parametrize("action", [-1, NUM_ACTIONS_EXTENDED, 1.5, True, None, "0"])
def test_what_is_no_action_is_bad_notation(action: object) -> None:
    with pytest.raises(BadNotation):
        Game(seed=1).play_action(action)  # type: ignore[arg-type]


def test_an_action_on_a_meld_that_is_not_there() -> None:
    with pytest.raises(IllegalMove, match="no meld"):
        Game.from_position(OPENING).play_action(60)


def hand_over() -> Game:
    position = {
        "rules": {"preset": "fisca", "num_players": 3},
        "turn": 0,
        "phase": "play",
        "hands": ["9d", "6h", "Jc"],
        "opened": [True, True, True],
        "scores": [10, 95, 80],
    }
    return Game.from_position(position).play("discard 9d")


def test_the_outcome_of_a_hand() -> None:
    game = hand_over()
    outcome = game.outcome
    assert outcome is not None
    assert (outcome.winner, outcome.closing, outcome.match_over) == (0, "normal", False)
    assert (outcome.hand_points, outcome.scores) == ((0, 6, 10), (10, 101, 90))
    assert (outcome.eliminated, outcome.champions) == ((1,), ())
    assert (game.hand_points, game.scores) == ([0, 6, 10], [10, 101, 90])


def test_a_hand_that_is_over_takes_no_move_but_the_next_hand() -> None:
    game = hand_over()
    assert (game.legal_moves(), game.legal_actions(), game.mask().sum()) == ([], [], 0)
    with pytest.raises(IllegalMove, match="the hand is over"):
        game.play("stock")
    with pytest.raises(IllegalMove, match="the hand is over"):
        game.play_action(0)
    assert game.next_hand() is game
    assert (game.phase, game.position()["hands"][1], game.dealer) == ("draw", "", 0)


def test_no_next_hand_while_one_runs_or_after_the_match() -> None:
    with pytest.raises(IllegalMove, match="not over yet"):
        Game(seed=1).next_hand()
    position = {**hand_over().position(), "phase": "match_over", "champions": [0]}
    with pytest.raises(IllegalMove, match="match is over"):
        Game.from_position(position).next_hand()


def test_turn_text_may_go_over_several_turns() -> None:
    game = Game(Rules.fisca(num_players=2), seed=11)
    first = game.copy().play("stock")
    discard = next(move for move in first.legal_moves() if move.startswith("discard"))
    assert game.play(f"stock; {discard}; stock").position()["turns_played"] == 1


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, Game.copy, lambda game: pickle.loads(pickle.dumps(game))]
)
def test_copies_go_on_alike_and_apart(duplicate: object) -> None:
    game = Game(Rules.casa(num_players=3), seed=9)
    play_on(game, 1, 60)
    twin: Game = duplicate(game)  # type: ignore[operator]
    assert twin == game
    before = game.position()
    played = play_on(twin, 2, 100)
    assert game.position() == before
    assert play_on(game, 2, 100) == played
    assert game == twin
    assert game.record() == twin.record()


def test_equality_is_about_what_stands() -> None:
    game = Game(seed=2)
    assert game != Game(seed=3)
    assert game != "game"
    assert game == Game.from_position(game.position())
    with pytest.raises(TypeError):
        hash(game)


def test_state_is_a_read_only_copy() -> None:
    state = Game(seed=2).state
    assert (state.shape, state.dtype) == ((1,), GAME)
    with pytest.raises(ValueError, match="read-only"):
        state["seed"] = 0


def test_the_table_as_text_is_plain_ascii() -> None:
    game = Game(Rules.fisca(num_players=3), seed=7)
    play_on(game, 4, 30)
    text = str(game)
    assert text.isascii()
    for word in ("stock", "pozzo", "seat 0", "seat 2", "table"):
        assert word in text
    assert len(repr(game)) < 200
    assert "closed" in str(hand_over())


def test_what_the_turn_owes_is_in_the_text() -> None:
    position = {
        **OPENING,
        "hands": ["9d Kc 5h Qs", "2h", "3h"],
        "opened": [True] * 3,
        "table": ["8d *9d Td", "3c 4c 5c"],
    }
    assert "joker" in str(Game.from_position(position).play("swap 9d 1"))
    owing = {**position, "this_turn": {"pozzo_card": "9d"}}
    assert "9d from the pozzo" in str(Game.from_position(owing))


def test_every_card_is_somewhere_at_every_step() -> None:
    game = Game(Rules.casa(num_players=3, buying=True), seed=12)
    for step in range(150):
        if game.hand_over:
            break
        play_on(game, step, 1)
        position = game.position()
        cards = " ".join([*position["hands"], position["pozzo"], position["stock"]]).split()
        melded = " ".join(position["table"]).split()
        assert len(cards) + len(melded) == 108
        assert cards.count("*") + sum(card.startswith("*") for card in melded) == 4


def test_the_package_exports_lazily() -> None:
    assert set(scala40_env.__all__) <= set(dir(scala40_env))
    for name in scala40_env.__all__:
        assert getattr(scala40_env, name) is not None
    with pytest.raises(AttributeError, match="Gme"):
        scala40_env.Gme  # noqa: B018


def test_the_rules_alone_load_no_compiler() -> None:
    code = "import sys; from scala40_env import Rules, BadRules; Rules(); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
