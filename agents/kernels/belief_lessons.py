"""Lessons for `belief`: hands as they were, beside the same with one card swapped for one that was elsewhere."""

import numpy as np

from agents.kernels.belief import BELIEF_FEATURES, PUBLIC, context_of, public_words, write_card
from agents.kernels.determinize import unseen_cards
from scala40_env.kernels.bits import count_bits
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.lanes import bit_of
from scala40_env.kernels.random import below, philox
from scala40_env.kernels.state import JOKER, PACK

__all__ = ["LESSON", "write_swaps"]

_FEATURES = len(BELIEF_FEATURES)
#: Columns of a lesson: what counts of the card that was there less what counts of the other; then the context.
LESSON = _FEATURES + 1
_KINDS = 53
#: The stream of the generator.
_LESSONS = 7


@kernel
def _hidden_cards(g: Record, seat: int, cards: np.ndarray) -> int:
    """Write the cards of a hand that only its holder knows into ``cards`` (int8), ascending; returns how many."""
    n = 0
    for card in range(JOKER):
        bit = bit_of(card)
        held = count_bits(int(g["one"][seat]) & bit) + count_bits(int(g["two"][seat]) & bit)
        known = count_bits(int(g["known_one"][seat]) & bit) + count_bits(int(g["known_two"][seat]) & bit)
        for _ in range(held - known):
            cards[n] = card
            n += 1
    for _ in range(int(g["jokers"][seat]) - int(g["known_jokers"][seat])):
        cards[n] = JOKER
        n += 1
    return n


@kernel
def _elsewhere(unseen: np.ndarray, n: int, hidden: np.ndarray, count: int, rest: np.ndarray) -> int:
    """Write the unseen cards that are not among the hidden ones into ``rest``; both ascend; returns how many."""
    at, left = 0, 0
    for card in unseen[:n]:
        if at < count and hidden[at] == card:
            at += 1
        else:
            rest[left] = card
            left += 1
    return left


@kernel
def _write_swap(
    g: Record, seat: int, out: int, into: int, words: np.ndarray, room: np.ndarray, row: np.ndarray
) -> None:
    """Write one lesson: this card of the hand against one that could be there in its place."""
    one = int(g["one"][seat])
    if out != JOKER:
        one &= ~(bit_of(out) & ~int(g["two"][seat]))
    write_card(into, one, words, room)
    for at in range(_FEATURES):
        row[at] = -room[at]
    write_card(out, one, words, room)
    for at in range(_FEATURES):
        row[at] += room[at]
    row[_FEATURES] = context_of(g, seat)


@entry
def write_swaps(games: Records, i: int, seat: int, views: Records, k: int, key: int, lessons: np.ndarray) -> int:
    """Write lessons about the hand of ``seat`` in game ``i``, of which view ``k`` of another seat does not show all.

    ``key`` (uint64) decides which cards are swapped. ``lessons``: int8[n, LESSON]. Returns how many were written: n, or
    0 where there is nothing to swap.
    """
    g, hidden, unseen = games[i], np.empty(PACK, np.int8), np.empty(PACK, np.int8)
    rest, words, room = np.empty(PACK, np.int8), np.empty(PUBLIC, np.int64), np.empty(_FEATURES, np.int64)
    count = _hidden_cards(g, seat, hidden)
    left = _elsewhere(unseen, unseen_cards(views[k], unseen), hidden, count, rest)
    if count == 0 or left == 0:
        return 0
    public_words(g, seat, words)
    for lesson in range(len(lessons)):
        draws = philox(key, seat, _LESSONS, lesson)
        out, into = int(hidden[below(draws[0], count)]), int(rest[below(draws[1], left)])
        _write_swap(g, seat, out, into, words, room, lessons[lesson])
    return len(lessons)
