"""The cards that a seat does not see, dealt anew: the view stays the same, and all else may be otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

import agents
from agents.beliefs import read_beliefs
from agents.kernels.determinize import deal_view
from scala40_env import Game, Rules, View
from scala40_env.kernels.jit import JIT_DISABLED
from scala40_env.kernels.state import GAME
from scala40_env.rules.cards import COPIES, JOKER, NUM_NATURALS
from scala40_env.rules.reading import Games, hand_of, known_of, melds_of, pozzo_of, stock_of

RULES = [
    Rules.fisca(num_players=2),
    Rules.casa(num_players=4, buying=True),
    Rules.scala_quaranta(num_players=3),
    Rules.megajogos(num_players=5, num_jokers=2),
    Rules.fisca(num_players=6, team_size=2, max_jokers_per_meld=4),
]
PLAIN, LIKELY = 0, 6
BELIEFS = read_beliefs()


def views(rules: Rules, seed: int) -> Iterator[View]:
    """The views of every seat all through a hand that `greedy` plays."""
    game, greedy, rng = Game(rules, seed=seed), agents.make("greedy"), np.random.default_rng(seed)
    while not game.hand_over and not (JIT_DISABLED and game.turns_played > 8):
        for seat in range(rules.num_players):
            yield game.view(seat)
        game._step(greedy.act(game.view(game.turn), rng))


def dealt(view: View, swaps: int, deal: int, key: int = 11) -> Games:
    games = np.zeros(1, GAME)
    deal_view(view.state, 0, view.seat, swaps, BELIEFS, np.uint64(key), deal, games, 0)
    return games


def cards_of(games: Games, rules: Rules) -> Counter[int]:
    cards: Counter[int] = Counter(stock_of(games) + pozzo_of(games))
    for seat in range(rules.num_players):
        cards.update(hand_of(games, seat))
    for meld in melds_of(games):
        cards.update(JOKER if card.is_joker else card.card for card in meld.cards())
    return cards


@pytest.mark.parametrize("likely", [PLAIN, LIKELY], ids=["plain", "likely"])
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: f"{rules.preset}{rules.num_players}")
def test_a_deal_could_be_behind_the_view(rules: Rules, likely: int) -> None:
    pack = Counter({**dict.fromkeys(range(NUM_NATURALS), COPIES), JOKER: rules.num_jokers})
    for at, view in enumerate(views(rules, 1)):
        games = dealt(view, likely, at)
        assert View.of(games, view.seat, rules) == view
        assert cards_of(games, rules) == +pack
        for seat in range(rules.num_players):
            hand = hand_of(games, seat)
            assert len(hand) == view.hand_sizes[seat]
            assert not Counter(known_of(games, seat)) - Counter(hand)


@pytest.mark.parametrize("likely", [PLAIN, LIKELY], ids=["plain", "likely"])
def test_deals_vary_and_come_again(likely: int) -> None:
    rules = Rules.fisca(num_players=3)
    view = next(view for view in views(rules, 2) if view.turns_played == 7)
    deals = [dealt(view, likely, deal).tobytes() for deal in range(20)]
    assert len(set(deals)) == 20
    assert deals == [dealt(view, likely, deal).tobytes() for deal in range(20)]
    assert deals[0] != dealt(view, likely, 0, key=12).tobytes()


@pytest.mark.jit
def test_every_unseen_card_goes_everywhere_alike() -> None:
    """Before anybody had a turn, each unseen card is in each other hand as often as the sizes say."""
    rules = Rules.fisca(num_players=3)
    view = Game(rules, seed=5).view(0)
    times, counts = 4000, np.zeros((2, NUM_NATURALS + 1))
    for deal in range(times):
        games = dealt(view, LIKELY, deal)
        for row, seat in enumerate((1, 2)):
            for card in hand_of(games, seat):
                counts[row, card] += 1
    unseen = cards_of(dealt(view, PLAIN, 0), rules) - Counter(hand_of(view.state, 0)) - Counter(pozzo_of(view.state))
    share = rules.hand_size / unseen.total()
    for card, copies in unseen.items():
        spread = np.sqrt(times * copies * share)
        assert np.abs(counts[:, card] - times * copies * share).max() < 5 * spread
