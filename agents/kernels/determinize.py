"""Dealing the cards that a seat does not see: a game that could be behind its view.

What everybody saw go into a hand stays there; the sizes of hands and stock, the pozzo and the table stay as they are.
All else is dealt at random. But after some turns of play not all hands are as likely as all others: cards are swapped
until a hand is a likely one, by what everybody saw its holder do (`belief`). And who had a turn and did not open most
likely could not: from a hand that could, more cards are swapped, a few times at most.
"""

import numpy as np

from agents.kernels.belief import make_likely
from scala40_env.kernels.bits import copy_record, count_bits, keep, lowest_bit
from scala40_env.kernels.deal import clear_turn
from scala40_env.kernels.hands import give
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.lanes import card_at, natural_bits
from scala40_env.kernels.moves import ALL_RULES
from scala40_env.kernels.packing import YES, outlook
from scala40_env.kernels.random import below, philox
from scala40_env.kernels.state import GAME, JOKER, MAX_SEATS, PACK, PLAY

__all__ = ["NUM_LIKELY", "SWAPS", "TRIES", "deal_unseen", "deal_view", "unseen_cards"]

# How likely hands are made, by place in an int64 array.
#: How many swaps are tried for each hidden card, and how often more for a hand that could have opened.
SWAPS, TRIES = range(2)
NUM_LIKELY = 2

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
# What a seat would do. ``trial`` is one game in which it is on move.


@kernel
def _put_on_move(trial: Records, g: Record, seat: int) -> None:
    """Copy a game, and let it be a seat's turn."""
    copy_record(trial, 0, g)
    state = trial[0]
    state["turn"] = seat
    state["mover"] = seat
    state["phase"] = PLAY
    clear_turn(state)


@kernel
def _could_open(state: Record) -> bool:
    return outlook(state, ALL_RULES) == YES


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
def _make_likely(
    g: Record, seat: int, rest: np.ndarray, count: int, first: int, last: int, beliefs: np.ndarray, key: int, deal: int
) -> None:
    """Swap cards, from swap number ``first`` up to ``last``, and let the seat hold what comes of it."""
    make_likely(g, seat, rest, count, first, last, beliefs, key, deal)
    _hold(g, seat, rest, count)


@kernel
def _deal_hand(
    g: Record,
    seat: int,
    rest: np.ndarray,
    settings: np.ndarray,
    beliefs: np.ndarray,
    key: int,
    deal: int,
    trial: Records,
) -> int:
    """Deal a seat its hidden cards; returns how many."""
    count, opened = _hidden_in(g, seat), int(g["opened"][seat]) != 0
    _pick(rest, count, key, deal, seat << _BLOCKS)
    _hold(g, seat, rest, count)
    if count == 0 or count == len(rest) or (not opened and _turns_of(g, seat) == 0):
        return count
    swaps, tries = int(settings[SWAPS]) * count, 0 if opened else int(settings[TRIES])
    _make_likely(g, seat, rest, count, 0, swaps, beliefs, key, deal)
    while tries:
        _put_on_move(trial, g, seat)
        if not _could_open(trial[0]):
            break
        _make_likely(g, seat, rest, count, swaps, swaps + 2 * count, beliefs, key, deal)
        swaps += 2 * count
        tries -= 1
    return count


# ---------------------------------------------------------------------------------------------------------------------
# All hands


@kernel
def deal_unseen(
    g: Record, observer: int, settings: np.ndarray, beliefs: np.ndarray, key: int, deal: int, trial: Records
) -> None:
    """Turn a view of ``observer`` into a game that could be behind it, by a key (uint64) and the number of the deal.

    ``settings`` are `SWAPS` and `TRIES`; ``beliefs`` (int64[BELIEFS]) the weights of `belief`; ``trial`` (one record)
    is room to work in.
    """
    cards = np.empty(PACK, np.int8)
    n, start = unseen_cards(g, cards), 0
    for seat in range(int(g["num_players"])):
        if seat != observer and int(g["hand_n"][seat]) > 0:
            start += _deal_hand(g, seat, cards[start:n], settings, beliefs, key, deal, trial)
    _pick(cards[start:n], n - start, key, deal, MAX_SEATS << _BLOCKS)
    for at in range(start, n):
        g["pile"][at - start] = cards[at]
    words = philox(key, deal, _SEEDS, 0)
    g["seed"] = np.uint64(words[0]) << np.uint64(32) | np.uint64(words[1])


@entry
def deal_view(
    views: Records,
    k: int,
    observer: int,
    settings: np.ndarray,
    beliefs: np.ndarray,
    key: int,
    deal: int,
    games: Records,
    i: int,
) -> None:
    """`deal_unseen` of view ``k`` into game ``i`` of another array, called from Python."""
    trial = np.empty(1, GAME)
    copy_record(games, i, views[k])
    deal_unseen(games[i], observer, settings, beliefs, key, deal, trial)
    keep(trial)
