"""What holds at every step of random games under all presets and options."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from scala40_env import Rules
from scala40_env.kernels import engine
from scala40_env.kernels.state import BUY, DRAW, HAND_OVER, MATCH_OVER, MAX_SEATS, NONE, PACK, PLAY
from scala40_env.rules.cards import JOKER
from scala40_env.rules.melds import format_meld, parse_meld
from scala40_env.rules.moves import DISCARD, MAX_MELDS, SLOTS, expand_meld, num_actions
from scala40_env.rules.reading import (
    Games,
    discarders_of,
    hand_of,
    known_of,
    legal_ids,
    legal_mask,
    melds_of,
    number,
    numbers,
    pozzo_of,
    stock_of,
)
from tests.walks import RULE_SETS, choose, copied, fewer, name_of, played, started, walk

LANES = 0x1FFF_1FFF_1FFF_1FFF
every_rule_set = pytest.mark.parametrize("rules", RULE_SETS, ids=name_of)


def seats_in(games: Games) -> list[int]:
    return [seat for seat, out in enumerate(numbers(games, "out")) if not out]


def check_cards(games: Games, rules: Rules) -> None:
    """Every natural card exists twice, and there are `num_jokers` jokers, wherever they lie."""
    held = Counter(stock_of(games) + pozzo_of(games))
    for seat in range(rules.num_players):
        held.update(hand_of(games, seat))
    for meld in melds_of(games):
        held.update(JOKER if card.is_joker else card.card for card in meld.cards())
    assert held == Counter({**dict.fromkeys(range(52), 2), **({JOKER: rules.num_jokers} if rules.num_jokers else {})})


def check_piles(games: Games, rules: Rules) -> None:
    """Stock and pozzo fit their array, and every card of the pozzo knows who discarded it."""
    assert number(games, "stock_n") + number(games, "pozzo_n") <= PACK
    assert len(stock_of(games)) == number(games, "stock_n")
    assert all(NONE <= seat < rules.num_players for seat in discarders_of(games))


def check_hands(games: Games, rules: Rules) -> None:
    """The words of a hand agree with its size, and known cards are cards held."""
    game = games[0]
    for seat in range(MAX_SEATS):
        one, two, jokers = (int(game[name][seat]) for name in ("one", "two", "jokers"))
        assert one & ~LANES == 0 and two & ~one == 0
        assert int(game["hand_n"][seat]) == one.bit_count() + two.bit_count() + jokers
        assert not Counter(known_of(games, seat)) - Counter(hand_of(games, seat))
        if seat not in seats_in(games) and number(games, "phase") in (DRAW, PLAY, BUY):
            assert int(game["hand_n"][seat]) == 0 and not game["opened"][seat]


def check_table(games: Games, rules: Rules) -> None:
    """Every meld is one by the rules, and could have been laid as three cards first."""
    melds = melds_of(games)
    assert len(melds) <= MAX_MELDS
    for meld in melds:
        assert parse_meld(format_meld(meld), rules) == meld
        assert expand_meld(f"meld {meld}", rules, 1)


def check_turn(games: Games, rules: Rules) -> None:
    """Phase, seats, debts and points of the turn fit each other."""
    phase, turn, mover = (number(games, name) for name in ("phase", "turn", "mover"))
    assert phase in (DRAW, PLAY, BUY, HAND_OVER, MATCH_OVER)
    if phase in (HAND_OVER, MATCH_OVER):
        return
    assert {turn, mover, number(games, "dealer")} <= set(seats_in(games))
    assert number(games, "seats_in") == len(seats_in(games)) >= 2
    assert (mover == turn) == (phase != BUY)
    debts = ("owed_card", "barred_card")
    for card in (number(games, name) for name in debts):
        assert card == NONE or card in hand_of(games, turn)
    assert NONE in [number(games, name) for name in debts]
    assert number(games, "recovered_jokers") <= int(games["jokers"][0, turn])
    assert bool(number(games, "recovered_jokers")) == bool(number(games, "swapped_melds"))
    assert (number(games, "new_melds") | number(games, "swapped_melds")) >> number(games, "meld_n") == 0
    if phase == DRAW:
        assert not any(number(games, name) for name in ("new_melds", "touched_table", "laid_points"))
        assert [number(games, name) for name in debts] == [NONE, NONE]


def check_points(games: Games, rules: Rules) -> None:
    """The points laid are those of this turn's melds; an opening that has reached the threshold has opened."""
    if number(games, "phase") not in (DRAW, PLAY):
        return
    laid, natural = number(games, "laid_points"), number(games, "laid_natural_points")
    word = number(games, "new_melds")
    new = [meld for slot, meld in enumerate(melds_of(games)) if word >> slot & 1]
    points = sum(meld.points(rules) for meld in new)
    assert 0 <= natural <= laid <= points
    if not games["opened"][0, number(games, "turn")]:
        assert laid == points and (laid < rules.opening_points or not new)
        assert natural == sum(meld.points(rules) for meld in new if not meld.jokers)
    else:
        assert laid == 0 or laid >= rules.opening_points


def check_legal(games: Games, rules: Rules, actions: list[int]) -> None:
    """There is a legal move while a hand runs; the list has no move twice and agrees with the mask."""
    mask = legal_mask(games, rules)
    assert actions and len(set(actions)) == len(actions)
    assert actions[0] >= 0 and actions[-1] < num_actions(rules) == len(mask)
    assert np.flatnonzero(mask).tolist() == actions
    assert set(mask.tolist()) <= {0, 1}


CHECKS = (check_cards, check_piles, check_hands, check_table, check_turn, check_points)


def check(games: Games, rules: Rules) -> None:
    for each in CHECKS:
        each(games, rules)


@every_rule_set
def test_at_every_step(rules: Rules) -> None:
    for games, actions in walk(rules, seed=3, decisions=fewer(150)):
        check(games, rules)
        if actions is None:
            assert legal_ids(games) == [] and not legal_mask(games, rules).any()
        else:
            check_legal(games, rules, actions)


@every_rule_set
def test_every_legal_move_can_be_played(rules: Rules) -> None:
    for step, (games, actions) in enumerate(walk(rules, seed=4, decisions=fewer(150))):
        for action in actions or [] if step % 15 == 0 else []:
            after = copied(games)
            engine.step(after, 0, action)
            check(after, rules)
            over = number(after, "phase") in (HAND_OVER, MATCH_OVER)
            assert over == (legal_ids(after) == [])


def finish_turn(games: Games, rng: random.Random, eagerness: float) -> int:
    """Play on until the turn has ended; how many moves it took."""
    begun = number(games, "turns_played")
    for moves in range(80):
        if number(games, "turns_played") != begun or number(games, "phase") in (HAND_OVER, MATCH_OVER):
            return moves
        actions = legal_ids(games)
        assert actions, "stuck in a turn that can't be ended"
        discards = [action for action in actions if DISCARD <= action < SLOTS]
        engine.step(games, 0, choose(actions, rng, eagerness) if eagerness or not discards else rng.choice(discards))
    raise AssertionError("the turn does not end")


@every_rule_set
def test_from_everywhere_the_turn_can_be_ended(rules: Rules) -> None:
    """No dead ends: neither who discards as soon as possible gets stuck, nor who lays whatever is legal."""
    rng = random.Random(9)
    for games, actions in walk(rules, seed=5, decisions=fewer(200), eagerness=0.8):
        if actions and number(games, "phase") == PLAY and rng.random() < 0.3:
            for eagerness in (0.0, 0.5, 1.0):
                finish_turn(copied(games), rng, eagerness)


def test_the_totals_are_the_sums_of_the_hands() -> None:
    """Totals add up over the hands (without partners and re-entries, which have tests of their own)."""
    hands = 0
    small = {"num_players": 3, "hand_size": 4, "opening_points": 0}
    for seed, rules in enumerate([Rules.fisca(**small), Rules.tavolo(**small), Rules.scala_quaranta(**small)]):
        totals = [0] * rules.num_players
        for games, actions in walk(rules, seed, fewer(4000), eagerness=0.9):
            if actions is None:
                hands += 1
                totals = [total + points for total, points in zip(totals, numbers(games, "hand_points"), strict=True)]
                assert numbers(games, "scores") == totals
                if number(games, "phase") == MATCH_OVER:
                    totals = [0] * rules.num_players
    assert hands > fewer(100)


def test_who_closes_has_no_cards_and_pays_nothing() -> None:
    for games, actions in walk(Rules.fisca(num_players=4, hand_size=5), 8, fewer(3000), eagerness=1.0):
        winner = number(games, "winner")
        if actions is None and winner != NONE:
            assert hand_of(games, winner) == [] and numbers(games, "hand_points")[winner] == 0
            assert all(points > 0 for seat, points in enumerate(numbers(games, "hand_points")) if hand_of(games, seat))


def test_a_deal() -> None:
    """Every seat gets its cards, the upcard starts the pozzo, the seat after the dealer plays first."""
    for rules in RULE_SETS:
        games = started(rules, 12)
        check(games, rules)
        assert numbers(games, "hand_n") == [rules.hand_size] * rules.num_players
        assert number(games, "pozzo_n") == 1 and discarders_of(games) == [NONE]
        assert number(games, "stock_n") == 103 + rules.num_jokers - rules.num_players * rules.hand_size
        assert number(games, "turn") == (number(games, "dealer") + 1) % rules.num_players


@pytest.mark.jit
def test_the_checks_bite() -> None:
    """A card doubled, a card hidden, a meld out of order: each is noticed."""
    rules = Rules.fisca(num_players=2)
    for field, at, value in (("jokers", 0, 4), ("one", 1, 0), ("meld_cells", 0, 0b101)):
        games = played(rules.replace(opening_points=0), 1, 60, 1.0)
        check(games, rules.replace(opening_points=0))
        games[field][0, at] = value
        with pytest.raises((AssertionError, ValueError)):
            check(games, rules.replace(opening_points=0))
