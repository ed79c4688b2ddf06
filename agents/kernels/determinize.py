"""Dealing the cards that a seat does not see: games that could be behind its view, each as likely as it should be.

What everybody saw go into a hand stays there; sizes of hands and stock, the pozzo and the table stay as they are. All
else is dealt at random. A seat that had its turn and did not open most likely could not: a hand that could have opened
with the card that it threw is dealt again, a few times at most.
"""

import numpy as np

from scala40_env.kernels.bits import copy_record, count_bits, keep, lowest_bit
from scala40_env.kernels.deal import clear_turn
from scala40_env.kernels.hands import give
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.lanes import card_at, natural_bits
from scala40_env.kernels.moves import ALL_RULES
from scala40_env.kernels.packing import YES, outlook
from scala40_env.kernels.random import below, philox
from scala40_env.kernels.state import GAME, JOKER, MAX_SEATS, NONE, PACK, PLAY

__all__ = ["deal_unseen", "deal_unseen_into", "unseen_cards"]

#: Streams of the generator: the deals, and the seed of the shuffles that a dealt game will need.
_DEALS, _SEEDS = 2, 3
_KINDS = 53


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
        counts[g["pile"][at]] -= 1


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
        for _ in range(counts[card]):
            cards[n] = card
            n += 1
    return n


@kernel
def _hidden_in(g: Record, seat: int) -> int:
    """How many cards of a hand nobody else knows."""
    known = count_bits(int(g["known_one"][seat])) + count_bits(int(g["known_two"][seat]))
    return int(g["hand_n"][seat]) - known - int(g["known_jokers"][seat])


# ---------------------------------------------------------------------------------------------------------------------
# Dealing them


@kernel
def _pick(cards: np.ndarray, start: int, n: int, count: int, key: int, deal: int, block: int) -> int:
    """Bring ``count`` random ones of the cards from ``start`` to ``n`` to the front; returns the next block."""
    words = philox(key, deal, _DEALS, block)
    for step in range(min(count, n - start - 1)):
        if step and step & 3 == 0:
            block += 1
            words = philox(key, deal, _DEALS, block)
        at = start + step
        other = at + below(words[step & 3], n - at)
        kept = cards[at]
        cards[at] = cards[other]
        cards[other] = kept
    return block + 1


@kernel
def _hold(g: Record, seat: int, cards: np.ndarray, start: int, count: int) -> None:
    """Give a seat what is known to be in its hand, and these cards."""
    g["one"][seat] = g["known_one"][seat]
    g["two"][seat] = g["known_two"][seat]
    g["jokers"][seat] = g["known_jokers"][seat]
    g["hand_n"][seat] = int(g["hand_n"][seat]) - count
    for at in range(start, start + count):
        give(g, seat, int(cards[at]))


@kernel
def _last_thrown(g: Record, seat: int) -> int:
    """The card of the pozzo that a seat threw last, NONE if there is none."""
    for at in range(PACK - int(g["pozzo_n"]), PACK):
        if int(g["discarded_by"][at]) == seat:
            return int(g["pile"][at])
    return NONE


@kernel
def _had_a_turn(g: Record, seat: int) -> bool:
    """Whether a seat has ended a turn of this hand."""
    return int(g["threw"][seat]) != 0


@kernel
def _could_open(g: Record, seat: int, trial: Records) -> bool:
    """Whether a seat could have opened in its last turn, with the cards that it holds and the one that it threw."""
    copy_record(trial, 0, g)
    state = trial[0]
    state["turn"] = seat
    state["mover"] = seat
    state["phase"] = PLAY
    clear_turn(state)
    card = _last_thrown(g, seat)
    if card != NONE:
        give(state, seat, card)
    return outlook(state, ALL_RULES) == YES


@kernel
def _deal_hand(
    g: Record, seat: int, cards: np.ndarray, start: int, n: int, tries: int, key: int, deal: int, trial: Records
) -> int:
    """Deal a seat its hidden cards; returns how many."""
    count = _hidden_in(g, seat)
    check = int(g["opened"][seat]) == 0 and _had_a_turn(g, seat)
    block = seat << 12
    for _ in range(tries + 1 if check else 1):
        block = _pick(cards, start, n, count, key, deal, block)
        _hold(g, seat, cards, start, count)
        if not check or not _could_open(g, seat, trial):
            break
    return count


@kernel
def deal_unseen(g: Record, observer: int, cards: np.ndarray, tries: int, key: int, deal: int, trial: Records) -> None:
    """Turn a view of ``observer`` into a game that could be behind it, by a key (uint64) and a number of the deal.

    Hands that could have opened are dealt again up to ``tries`` times. ``cards`` (int8[108]) and ``trial`` (one record)
    are room to work in.
    """
    n, start = unseen_cards(g, cards), 0
    for seat in range(int(g["num_players"])):
        if seat != observer and int(g["hand_n"][seat]) > 0:
            start += _deal_hand(g, seat, cards, start, n, tries, key, deal, trial)
    _pick(cards, start, n, n - start, key, deal, MAX_SEATS << 12)
    for at in range(start, n):
        g["pile"][at - start] = cards[at]
    words = philox(key, deal, _SEEDS, 0)
    g["seed"] = np.uint64(words[0]) << np.uint64(32) | np.uint64(words[1])


@entry
def deal_unseen_into(views: Records, k: int, observer: int, tries: int, key: int, deal: int, games: Records) -> None:
    """`deal_unseen` of view ``k`` into ``games[0]``, called from Python."""
    cards, trial = np.empty(PACK, np.int8), np.empty(1, GAME)
    copy_record(games, 0, views[k])
    deal_unseen(games[0], observer, cards, tries, key, deal, trial)
    keep(trial)
