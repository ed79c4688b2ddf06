"""Dealing the cards that a seat does not see: a game that could be behind its view.

What everybody saw go into a hand stays there; the sizes of hands and stock, the pozzo and the table stay as they are.
All else is dealt at random. But after some turns of play not all hands are as likely as all others: cards are swapped
until a hand is a likely one, by what everybody saw its holder do (`belief`).
"""

import numpy as np

from agents.kernels.belief import make_likely
from scala40_env.kernels.bits import copy_record, count_bits, lowest_bit
from scala40_env.kernels.hands import give
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.lanes import card_at, natural_bits
from scala40_env.kernels.random import below, philox
from scala40_env.kernels.state import JOKER, MAX_SEATS, PACK

__all__ = ["deal_unseen", "deal_view", "unseen_cards"]

#: Streams of the generator: deals, and the seed of the shuffles that a dealt game will need.
_DEALS, _SEEDS = range(2, 4)
_KINDS = 53
#: Bits for the blocks of the generator that the deals of one hand use up.
_BLOCKS = 14


# ---------------------------------------------------------------------------------------------------------------------
# Which cards they are


@kernel
def _take_off(counts: np.ndarray, bits: int) -> None:
    """Count one copy of each of these cards less."""
    while bits:
        counts[card_at(lowest_bit(bits))] -= 1
        bits &= bits - 1


@kernel
def _take_off_hands(g: Record, counts: np.ndarray) -> None:
    """In a view the other hands hold what is known of them."""
    for seat in range(MAX_SEATS):
        _take_off(counts, int(g["one"][seat]))
        _take_off(counts, int(g["two"][seat]))
        counts[JOKER] -= int(g["jokers"][seat])


@kernel
def _take_off_table(g: Record, counts: np.ndarray) -> None:
    for slot in range(int(g["meld_n"])):
        jokers = int(g["meld_jokers"][slot])
        bits = natural_bits(int(g["meld_kind"][slot]), int(g["meld_key"][slot]), int(g["meld_cells"][slot]), jokers)
        _take_off(counts, bits)
        counts[JOKER] -= count_bits(jokers)


@kernel
def _take_off_pozzo(g: Record, counts: np.ndarray) -> None:
    for at in range(PACK - int(g["pozzo_n"]), PACK):
        counts[int(g["pile"][at])] -= 1


@kernel
def unseen_cards(g: Record, cards: np.ndarray) -> int:
    """Write the cards that a view does not show into ``cards`` (int8[108]), ascending; returns how many there are."""
    counts = np.full(_KINDS, 2, np.int64)
    counts[JOKER] = int(g["num_jokers"])
    _take_off_hands(g, counts)
    _take_off_table(g, counts)
    _take_off_pozzo(g, counts)
    n = 0
    for card in range(_KINDS):
        for _ in range(int(counts[card])):
            cards[n] = card
            n += 1
    return n


@kernel
def _hidden_in(g: Record, seat: int) -> int:
    """How many cards of a hand only its holder knows."""
    known = count_bits(int(g["known_one"][seat])) + count_bits(int(g["known_two"][seat]))
    return int(g["hand_n"][seat]) - known - int(g["known_jokers"][seat])


# ---------------------------------------------------------------------------------------------------------------------
# One hand. ``rest`` are the cards that nobody was dealt yet; the first ``count`` of them are the hand's.


@kernel
def _pick(rest: np.ndarray, count: int, key: int, deal: int, block: int) -> int:
    """Bring ``count`` random cards to the front; returns the next block of the generator."""
    words = philox(key, deal, _DEALS, block)
    for at in range(min(count, len(rest) - 1)):
        if at and at & 3 == 0:
            block += 1
            words = philox(key, deal, _DEALS, block)
        _swap(rest, at, at + below(words[at & 3], len(rest) - at))
    return block + 1


@kernel
def _swap(rest: np.ndarray, at: int, other: int) -> None:
    kept = rest[at]
    rest[at] = rest[other]
    rest[other] = kept


@kernel
def _hold(g: Record, seat: int, rest: np.ndarray, count: int) -> None:
    """Give a seat what is known to be in its hand and its hidden cards, in place of whatever it holds."""
    g["one"][seat] = g["known_one"][seat]
    g["two"][seat] = g["known_two"][seat]
    g["jokers"][seat] = g["known_jokers"][seat]
    g["hand_n"][seat] = int(g["hand_n"][seat]) - count
    for at in range(count):
        give(g, seat, int(rest[at]))


@kernel
def _turns_of(g: Record, seat: int) -> int:
    """How many turns a seat has had, as far as its different discards tell."""
    return count_bits(int(g["threw"][seat]))


@kernel
def _deal_hand(g: Record, seat: int, rest: np.ndarray, swaps: int, beliefs: np.ndarray, key: int, deal: int) -> int:
    """Deal a seat its hidden cards; returns how many."""
    count = _hidden_in(g, seat)
    _pick(rest, count, key, deal, seat << _BLOCKS)
    _hold(g, seat, rest, count)
    if 0 < count < len(rest) and (int(g["opened"][seat]) or _turns_of(g, seat)):
        make_likely(g, seat, rest, count, swaps * count, beliefs, key, deal)
        _hold(g, seat, rest, count)
    return count


# ---------------------------------------------------------------------------------------------------------------------
# All hands


@kernel
def deal_unseen(g: Record, observer: int, swaps: int, beliefs: np.ndarray, key: int, deal: int) -> None:
    """Turn a view of ``observer`` into a game that could be behind it, by a key (uint64) and the number of the deal.

    ``swaps`` are tried for each hidden card of a hand; ``beliefs`` (int64[BELIEFS]) are the weights of `belief`.
    """
    cards = np.empty(PACK, np.int8)
    n, start = unseen_cards(g, cards), 0
    for seat in range(int(g["num_players"])):
        if seat != observer and int(g["hand_n"][seat]) > 0:
            start += _deal_hand(g, seat, cards[start:n], swaps, beliefs, key, deal)
    _pick(cards[start:n], n - start, key, deal, MAX_SEATS << _BLOCKS)
    for at in range(start, n):
        g["pile"][at - start] = cards[at]
    words = philox(key, deal, _SEEDS, 0)
    g["seed"] = np.uint64(words[0]) << np.uint64(32) | np.uint64(words[1])


@entry
def deal_view(
    views: Records, k: int, observer: int, swaps: int, beliefs: np.ndarray, key: int, deal: int, games: Records, i: int
) -> None:
    """`deal_unseen` of view ``k`` into game ``i`` of another array, called from Python."""
    copy_record(games, i, views[k])
    deal_unseen(games[i], observer, swaps, beliefs, key, deal)
