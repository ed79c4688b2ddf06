"""`View`: what a seat knows, and nothing else. Reshuffling all that it can't see must change no byte of it."""

from __future__ import annotations

import copy
import pickle
import random
from collections import Counter
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from scala40_env import Game, Rules, Scala40Error, View
from scala40_env.kernels.state import GAME, PACK
from scala40_env.rules.moves import num_actions
from scala40_env.rules.reading import Games, hand_of, known_of, number, stock_of, words_in

RULES = [
    Rules.fisca(num_players=3),
    Rules.casa(num_players=2),
    Rules.scala_quaranta(num_players=4, hand_size=9, opening_points=20, max_laps=8),
    Rules.megajogos(num_players=3, hand_size=6, opening_points=15),
    Rules.casa(num_players=4, buying=True, hand_size=10, opening_points=12, limit=300),
]


def reshuffled(games: Games, seat: int, rng: random.Random) -> Games:
    """The same game to a seat: all that it can't see dealt anew, and noise wherever nothing lies."""
    twin = games.copy()
    n = number(games, "num_players")
    hidden = [list((Counter(hand_of(games, other)) - Counter(known_of(games, other))).elements()) for other in range(n)]
    hidden[seat] = []
    pool = [*stock_of(games), *(card for hand in hidden for card in hand)]
    rng.shuffle(pool)
    for other in range(n):
        if other != seat:
            dealt = known_of(games, other) + [pool.pop() for _ in hidden[other]]
            for name, word in zip(("one", "two", "jokers"), words_in(dealt), strict=True):
                twin[name][0, other] = word
    stock_n, pozzo_n = number(games, "stock_n"), number(games, "pozzo_n")
    twin["pile"][0, :stock_n] = pool
    twin["pile"][0, stock_n : PACK - pozzo_n] = rng.randrange(52)
    twin["discarded_by"][0, : PACK - pozzo_n] = rng.randrange(n)
    for name in ("meld_kind", "meld_key", "meld_cells", "meld_jokers"):
        twin[name][0, number(games, "meld_n") :] = rng.randrange(4)
    twin["seed"] = rng.getrandbits(64)
    return twin


def everything(view: View) -> tuple[object, ...]:
    """All that a view can say."""
    properties = [name for name in dir(View) if isinstance(getattr(View, name), property) and name != "state"]
    said = [repr(getattr(view, name)) for name in properties]
    shown = (str(view), repr(view), view.position(), view.legal_moves(), view.legal_actions(), view.mask().tolist())
    return (*said, *shown, view.state.tobytes(), pickle.dumps(view))


def leaks(games: Games, seat: int, rules: Rules, rng: random.Random) -> bool:
    """Does a view change when hidden cards do?"""
    return everything(View.of(games, seat, rules)) != everything(View.of(reshuffled(games, seat, rng), seat, rules))


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: f"{rules.preset}-{rules.num_players}")
def test_no_hidden_card_changes_a_view(rules: Rules) -> None:
    rng, game, phases = random.Random(8), Game(rules, seed=21), set()
    for step in range(400):
        phases.add(game.phase)
        if step % 5 == 0 or game.phase in ("buy", "hand_over", "match_over"):
            assert not [seat for seat in range(rules.num_players) if leaks(game.state, seat, rules, rng)]
        if game.phase == "match_over":
            break
        if game.phase == "hand_over":
            game.next_hand()
            continue
        keen = [move for move in game.legal_moves() if move.split()[0] in ("meld", "attach", "swap", "pozzo", "buy")]
        game.play(rng.choice(keen or game.legal_moves()))
    assert {"draw", "play", "hand_over"} <= phases
    assert rules.buying == ("buy" in phases)


@pytest.mark.parametrize("field", ["seed", "one", "pile", "discarded_by", "meld_cells"])
def test_a_planted_leak_is_caught(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import scala40_env.rules.view as module

    honest = module.write_view

    def leaky(games: Games, i: int, seat: int, views: Games, j: int) -> None:
        honest(games, i, seat, views, j)
        views[field][j] = games[field][i]

    monkeypatch.setattr(module, "write_view", leaky)
    game = Game(Rules.fisca(num_players=3), seed=5)
    assert leaks(game.state, 0, game.rules, random.Random(1))


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: f"{rules.preset}-{rules.num_players}")
def test_the_seat_on_move_sees_its_legal_moves_and_the_others_none(rules: Rules) -> None:
    rng, game = random.Random(2), Game(rules, seed=3)
    for _ in range(120):
        if game.hand_over:
            break
        for seat in range(rules.num_players):
            view = game.view(seat)
            on_move = seat == game.turn
            assert view.on_move == on_move
            assert view.legal_moves() == (game.legal_moves() if on_move else [])
            assert view.legal_actions() == (game.legal_actions() if on_move else [])
            assert view.mask().tolist() == (game.mask().tolist() if on_move else [0] * num_actions(rules))
        game.play(rng.choice(game.legal_moves()))


KNOWN = {
    "rules": {"preset": "fisca", "num_players": 3},
    "turn": 0,
    "phase": "draw",
    "hands": ["9s 2c Kd", "8d Ts 7h", "4d 4h"],
    "opened": [True, True, False],
    "known": ["", "Ts", ""],
    "table": ["5s 6s 7s", "Jd *Qd Kd"],
    "pozzo": "3h 8s",
    "discarded_by": [None, 2],
    "stock": "As Ah Ad",
    "scores": [10, 20, 30],
}


def test_what_a_view_says() -> None:
    view = Game.from_position(KNOWN).view(0)
    assert (view.seat, view.hand, view.hand_sizes) == (0, ("9s", "Kd", "2c"), (3, 3, 2))
    assert (view.table, view.pozzo, view.discarded_by) == (("5s 6s 7s", "Jd *Qd Kd"), ("3h", "8s"), (None, 2))
    assert (view.stock_size, view.known) == (3, ((), ("Ts",), ()))
    assert (view.opened, view.scores, view.out) == ((True, True, False), (10, 20, 30), ())
    assert (view.phase, view.turn, view.dealer, view.turns_played) == ("draw", 0, 2, 30)
    assert view.this_turn["pozzo_card"] is None
    assert view.rules == Rules.fisca(num_players=3)
    assert view.legal_moves() == ["pozzo", "stock"]


def test_hidden_cards_are_question_marks() -> None:
    view = Game.from_position(KNOWN).view(0)
    assert view.position()["hands"] == ["9s Kd 2c", "Ts ?2", "?2"]
    assert "stock" not in view.position()
    assert "Ts ?2 (3)" in str(view)
    assert "8d" not in str(view)
    assert str(view).isascii()


def test_a_view_makes_games_that_could_be() -> None:
    view = Game.from_position(KNOWN).view(0)
    games = [Game.from_position({**view.position(), "seed": seed}) for seed in range(1, 9)]
    assert {tuple(game.view(0).hand) for game in games} == {view.hand}
    assert {game.view(0).legal_moves()[0] for game in games} == {"pozzo"}
    assert len({game.position()["hands"][2] for game in games}) > 1
    assert all("Ts" in game.position()["hands"][1].split() for game in games)


def test_hands_stay_hidden_when_the_hand_is_over() -> None:
    position = {**KNOWN, "phase": "play", "hands": ["9s", "8d Ts 7h", "4d 4h"]}
    game = Game.from_position(position).play("discard 9s")
    assert game.view(0).position()["hands"] == ["", "Ts ?2", "?2"]
    assert game.view(0).position()["hand_points"] == [0, 25, 8]


def test_taking_from_the_pozzo_makes_a_card_known_and_laying_it_ends_that() -> None:
    game = Game.from_position({**KNOWN, "rules": {"preset": "scala_quaranta", "num_players": 3}}).play("pozzo")
    assert game.view(1).known == (("8s",), ("Ts",), ())
    assert game.view(1).position()["hands"][0] == "8s ?3"
    assert game.play("attach 8s 1 high").view(1).known[0] == ()


def test_views_are_values() -> None:
    game = Game(seed=4)
    view = game.view(1)
    assert view == game.view(1)
    assert view != game.view(0)
    assert view != "view"
    assert len({view, game.view(1), game.view(2)}) == 2
    assert pickle.loads(pickle.dumps(view)) == view == copy.deepcopy(view)
    with pytest.raises(FrozenInstanceError):
        view.seat = 2  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        view.state["seed"] = 1
    game.play("stock")
    assert view.phase == "draw"


def test_the_gaps_between_the_fields_say_nothing() -> None:
    noisy = np.full(GAME.itemsize, 255, np.uint8).view(GAME)
    game = Game(seed=4).state
    for name in GAME.names or ():
        noisy[name] = game[name]
    assert View.of(noisy, 0).state.tobytes() == View.of(game, 0).state.tobytes()


@pytest.mark.parametrize("seat", [-1, 4, None, True, 1.0])
def test_seats_out_of_range(seat: object) -> None:
    with pytest.raises(Scala40Error, match="seat"):
        Game(seed=1).view(seat)  # type: ignore[arg-type]
