"""No seat is special: rotate the seats and everything rotates; every seat wins, in every way."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from scala40_env import Rules
from scala40_env.kernels import engine
from scala40_env.kernels.state import CLOSINGS, GAME, HAND_OVER, MATCH_OVER, MAX_SEATS, NONE, PACK
from scala40_env.rules.reading import Games, number, numbers
from tests.walks import choose, fewer, go_on, legal_ids, name_of, started, walk

BY_SEAT = [name for name in GAME.names or () if GAME[name].shape == (MAX_SEATS,)]
SEATS = ("dealer", "turn", "mover", "winner")


def rotated(games: Games, by: int) -> Games:
    """The same game with every seat `by` places further on."""
    n = number(games, "num_players")
    turned = games.copy()
    for name in BY_SEAT:
        turned[name][0, :n] = np.roll(games[name][0, :n], by)
    for name in SEATS:
        if turned[name][0] != NONE:
            turned[name] = (number(games, name) + by) % n
    held = turned["discarded_by"][0]
    held[held != NONE] = (held[held != NONE] + by) % n
    return turned


def same(games: Games, other: Games) -> bool:
    """Equal records, but for what a renewed or drawn card left behind outside the pozzo."""
    one, two = games.copy(), other.copy()
    for each in (one, two):
        each["discarded_by"][0, : PACK - number(each, "pozzo_n")] = 0
    return one.tobytes() == two.tobytes()


SETS = [
    *(Rules.fisca(num_players=n, hand_size=7, opening_points=20) for n in range(2, 7)),
    Rules.casa(num_players=3, hand_size=6, limit=250),
    Rules.scala_quaranta(num_players=4, hand_size=5),
    Rules.tavolo(num_players=5, hand_size=5, limit=300),
    Rules.megajogos(num_players=4, hand_size=6),
    Rules.fisca(num_players=4, hand_size=6, opening_points=10, buying=True),
    Rules.fisca(num_players=4, team_size=2, hand_size=5),
    Rules.fisca(num_players=6, team_size=2, team_score="worst", hand_size=5, limit=60),
    Rules.fisca(num_players=6, team_size=3, hand_size=4, unopened_points=50, limit=400),
    Rules.fisca(num_players=4, match="total", limit=60, hand_size=4, max_laps=3),
    Rules.fisca(num_players=3, match="single_hand", hand_size=3, max_laps=4),
    Rules.fisca(num_players=5, reentries=1, hand_size=4, limit=60, opening_points=0),
]


@pytest.mark.parametrize("rules", SETS, ids=name_of)
def test_rotated_seats_rotate_everything(rules: Rules) -> None:
    """The legal moves stay the same, and cards, charges, totals, eliminations and champions rotate."""
    rng, games = random.Random(1), started(rules, 5)
    turned = [(by, rotated(games, by)) for by in range(1, rules.num_players)]
    for _ in range(fewer(250)):
        over = number(games, "phase")
        actions = legal_ids(games)
        assert all(legal_ids(other) == actions for _, other in turned)
        action = choose(actions, rng, 0.8) if actions else None
        for each in (games, *(other for _, other in turned)):
            play_on(each, action)
        if over == MATCH_OVER:  # the lot for the first dealer falls on a seat
            turned = [(by, rotated(games, by)) for by, _ in turned]
        for by, other in turned:
            assert same(rotated(games, by), other)


def play_on(games: Games, action: int | None) -> None:
    if action is None:
        go_on(games)
    else:
        engine.step(games, 0, action)


@pytest.mark.jit
@pytest.mark.parametrize("players", range(2, 7))
def test_every_seat_wins_in_every_way(players: int) -> None:
    """Hands closed in both ways by every seat, hands abandoned with every seat on move, matches won by every seat."""
    ways: Counter[tuple[str, int]] = Counter()
    champions: Counter[int] = Counter()
    for size, laps in ((3, 100), (5, 100), (4, 3)):
        rules = Rules.fisca(num_players=players, hand_size=size, opening_points=0, max_laps=laps, limit=60)
        for games, actions in walk(rules, seed=players, decisions=6000, eagerness=0.9):
            if actions is None:
                who = "winner" if number(games, "winner") != NONE else "turn"
                ways[CLOSINGS[number(games, "closing")], number(games, who)] += 1
                if number(games, "phase") == MATCH_OVER:
                    champions.update(seat for seat, won in enumerate(numbers(games, "champion")) if won)
    assert set(ways) == {(closing, seat) for closing in CLOSINGS for seat in range(players)}
    assert set(champions) == set(range(players))
    for closing in ("normal", "in_hand"):
        won = [ways[closing, seat] for seat in range(players)]
        assert min(won) > sum(won) / players / 3, "one seat wins far less often"


def test_the_deal_goes_round() -> None:
    """The deal passes to the next seat still in the match, and the seat after the dealer plays first."""
    before, hands = NONE, 0
    for games, actions in walk(Rules.fisca(num_players=4, hand_size=3, limit=40), 3, fewer(3000), 1.0):
        inside = [seat for seat, out in enumerate(numbers(games, "out")) if not out]
        if actions is None:
            before = number(games, "dealer") if number(games, "phase") == HAND_OVER else NONE
        elif number(games, "turns_played") == 0 and before != NONE:
            assert number(games, "dealer") == min(inside, key=lambda seat: (seat - before - 1) % 4)
            assert number(games, "turn") == min(inside, key=lambda seat: (seat - number(games, "dealer") - 1) % 4)
            before, hands = NONE, hands + 1
    assert hands > fewer(20)
