"""The generator inside the game: Philox by its published values, fair shuffles, decks that can be made again."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare

from scala40_env import Rules
from scala40_env.kernels import engine
from scala40_env.kernels import random as generator
from scala40_env.kernels.deal import first_dealer
from scala40_env.kernels.jit import Records, entry
from scala40_env.kernels.state import NONE, PACK
from scala40_env.rules.cards import JOKER
from scala40_env.rules.reading import Games, new_games, pozzo_of, stock_of
from tests.reference.compare import new_game
from tests.walks import fewer

MASK = (1 << 32) - 1
Words = tuple[int, ...]


@entry
def block(seed: int, hand: int, stream: int, number: int, out: np.ndarray) -> None:
    """Four words of the kernels' generator (int64[4])."""
    out[0], out[1], out[2], out[3] = generator.philox(seed, hand, stream, number)


@entry
def number_below(word: int, bound: int) -> int:
    return generator.below(word, bound)


@entry
def shuffled(cards: np.ndarray, count: int, seed: int, hand: int, stream: int) -> None:
    generator.shuffle(cards, count, seed, hand, stream)


@entry
def lot(games: Records, i: int) -> int:
    return first_dealer(games[i])


def words(seed: int, hand: int, stream: int, number: int) -> Words:
    out = np.zeros(4, np.int64)
    block(np.uint64(seed), hand, stream, number, out)
    return tuple(out.tolist())


def philox(counter: Words, key: Words) -> Words:
    """Philox4x32-10 as Salmon et al. (2011) print it, in plain Python."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        low, high = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (high >> 32) ^ c1 ^ k0, high & MASK, (low >> 32) ^ c3 ^ k1, low & MASK
        k0, k1 = k0 + 0x9E3779B9 & MASK, k1 + 0xBB67AE85 & MASK
    return c0, c1, c2, c3


#: Known answers that Random123 is distributed with: counter, key, result.
KNOWN = [
    ((0,) * 4, (0,) * 2, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((MASK,) * 4, (MASK,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN)
def test_the_plain_philox_gives_the_known_answers(counter: Words, key: Words, result: Words) -> None:
    assert philox(counter, key) == result


def test_the_kernel_gives_the_known_answer_for_zeros() -> None:
    assert words(0, 0, 0, 0) == KNOWN[0][2]


def test_the_kernel_is_the_plain_philox() -> None:
    """The key is the seed; block, stream and hand are the counter; all 64 bits of the seed count."""
    rng = np.random.default_rng(5)
    for _ in range(fewer(500)):
        seed = int(rng.integers(0, 2**64, dtype=np.uint64))
        hand, stream, number = (int(rng.integers(0, bound)) for bound in (1 << 30, 1 << 22, 200))
        assert words(seed, hand, stream, number) == philox((number, stream, hand, 0), (seed & MASK, seed >> 32))


def test_numbers_below_a_bound() -> None:
    for bound in (1, 2, 53, 108):
        assert number_below(0, bound) == 0 and number_below(MASK, bound) == bound - 1
        assert [number_below((at << 32) // bound + 1, bound) for at in range(bound)] == list(range(bound))


def is_uniform(counts: list[int]) -> bool:
    """Chi-square; the seeds are fixed, so this holds always or never."""
    return bool(chisquare(counts).pvalue > 0.001)


def test_a_shuffle_is_a_permutation_and_leaves_the_rest_alone() -> None:
    cards = np.arange(20, dtype=np.int8)
    shuffled(cards, 12, np.uint64(3), 1, 2)
    assert sorted(cards[:12].tolist()) == list(range(12)) != cards[:12].tolist()
    assert cards[12:].tolist() == list(range(12, 20))


def test_all_orders_of_four_cards_are_as_likely() -> None:
    counts = dict.fromkeys(permutations(range(4)), 0)
    for hand in range(fewer(12_000)):
        cards = np.arange(4, dtype=np.int8)
        shuffled(cards, 4, np.uint64(11), hand, 0)
        counts[tuple(cards.tolist())] += 1
    assert is_uniform(list(counts.values()))


def deck_of(games: Games, hand: int) -> list[int]:
    games["hand_no"] = hand
    deck = np.zeros(PACK, np.int8)
    return deck[: engine.hand_deck(games, 0, deck)].tolist()


def test_every_card_lies_everywhere_in_the_pack_as_often() -> None:
    games = new_game(Rules.megajogos(num_players=2), 4)  # keeps an upturned joker where it is
    decks = [deck_of(games, hand) for hand in range(fewer(4000))]
    pack = Counter({**dict.fromkeys(range(52), 2), JOKER: 4})
    assert all(Counter(deck) == pack for deck in decks)
    for place in (0, 13, 53, 107):
        found = Counter(deck[place] for deck in decks)
        assert is_uniform([found[card] for card in range(52)])
    places = [at for deck in decks for at, card in enumerate(deck) if card == JOKER]
    assert is_uniform([sum(at // 12 == part for at in places) for part in range(9)])


def test_a_deck_is_a_function_of_seed_and_hand() -> None:
    rules = Rules.fisca(num_players=3)
    decks = {(seed, hand): deck_of(new_game(rules, seed), hand) for seed in (0, 1, 2**63 + 5) for hand in (0, 1)}
    assert len({tuple(deck) for deck in decks.values()}) == len(decks)
    assert all(deck == deck_of(new_game(rules, seed), hand) for (seed, hand), deck in decks.items())


def test_a_new_stock_is_shuffled_by_seed_hand_and_number() -> None:
    """The same pozzo makes the same stock in the same shuffle of the same hand, and another one otherwise."""
    stocks = {}
    for seed, hand, shuffles in ((1, 0, 0), (1, 0, 0), (2, 0, 0), (1, 1, 0), (1, 0, 1)):
        games = new_game(Rules.fisca(num_players=2), seed=1)
        games["seed"], games["hand_no"], games["shuffles"] = seed, hand, shuffles
        stock = stock_of(games)
        games["pile"][0, PACK - 1 - len(stock) : PACK - 1] = stock[::-1]
        games["pozzo_n"], games["stock_n"] = 1 + len(stock), 0
        before = Counter(pozzo_of(games)[:-1])
        engine.step(games, 0, 0)
        drawn = games["pile"][0, number_of(games, "stock_n")]
        assert Counter([*stock_of(games), int(drawn)]) == before
        stocks.setdefault((seed, hand, shuffles), set()).add(tuple(stock_of(games)))
    assert all(len(orders) == 1 for orders in stocks.values())
    assert len(set.union(*stocks.values())) == len(stocks) == 4


def number_of(games: Games, name: str) -> int:
    return int(games[name][0])


def test_every_seat_deals_first_as_often() -> None:
    for players in (2, 3, 5):
        games = new_games(Rules.fisca(num_players=players), 0)
        dealers = Counter()
        for seed in range(fewer(3000)):
            games["seed"] = seed
            dealers[lot(games, 0)] += 1
        assert is_uniform([dealers[seat] for seat in range(players)])
    assert {int(new_game(Rules.fisca(num_players=3), seed)["dealer"][0]) for seed in range(20)} == {0, 1, 2}


@pytest.mark.parametrize("hand_size", [3, 13])
def test_an_upturned_joker_goes_back_or_stays(hand_size: int) -> None:
    """`upcard_joker`: another card is turned and the joker lies in the stock; or it starts the pozzo."""
    tops: dict[str, set[int]] = {"redraw": set(), "keep": set()}
    for rule, found in tops.items():
        rules = Rules.fisca(num_players=2, hand_size=hand_size, upcard_joker=rule)
        for seed in range(150):
            games = new_game(rules, seed)
            found.add(pozzo_of(games)[-1])
            assert games["discarded_by"][0, PACK - 1] == NONE
    assert JOKER in tops["keep"] and JOKER not in tops["redraw"]


def test_a_buried_joker_lies_anywhere_in_the_stock() -> None:
    places = []
    keep, redraw = (Rules.fisca(num_players=2, upcard_joker=rule) for rule in ("keep", "redraw"))
    for seed in range(fewer(6000)):
        games = new_games(keep, seed)
        games["seats_in"] = 2
        kept = deck_of(games, 0)
        if kept[26] == JOKER and kept[27] != JOKER:
            games["upcard_joker"] = redraw.encode()["upcard_joker"]
            deck = deck_of(games, 0)
            assert deck[:26] == kept[:26] and deck[26] == kept[27]
            places.append(next(at for at in range(27, 108) if at == 107 or deck[at] != kept[at + 1]))
    assert len(places) > fewer(150) and all(deck_place >= 27 for deck_place in places)
    assert min(places) < 45 and max(places) > 90
