"""Cards counted in many records at once: hands, what a seat can't see, and what a hand could do with one more card.

Counts are int8[n, 53]: how often each card type (0 to 51, then the joker) is there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.notebooks.hands import Moments
from scala40_env import Rules
from scala40_env.rules.cards import JOKER, NUM_CARD_TYPES, NUM_NATURALS, NUM_RANKS, NUM_SUITS, card_id
from scala40_env.rules.melds import ACE_HIGH, POSITION_POINTS

__all__ = ["CHARGES", "PARTNERS", "could_use", "dealt_anew", "held_by", "live_pairs", "unseen_by"]

Counts = NDArray[np.int8]
_LANE = 16
_BITS = np.array([card // NUM_RANKS * _LANE + card % NUM_RANKS for card in range(NUM_NATURALS)])
#: Copies of a card type that there may be: of jokers up to four.
_COPIES = 4


def _partners_of(card: int) -> list[tuple[int, int]]:
    """The pairs of natural cards that make a meld of three with a card."""
    suit, rank = divmod(card, NUM_RANKS)
    others = [card_id(other, rank) for other in range(NUM_SUITS) if other != suit]
    sets = [(a, b) for at, a in enumerate(others) for b in others[at + 1 :]]
    lows = [low for low in range(NUM_RANKS - 1) if rank in {(low + k) % NUM_RANKS for k in range(3)}]
    runs = [[card_id(suit, (low + k) % NUM_RANKS) for k in range(3)] for low in lows]
    return sets + [(a, b) for run in runs for a, b in [[other for other in run if other != card]]]


def _table() -> NDArray[np.int64]:
    pairs = [_partners_of(card) for card in range(NUM_NATURALS)]
    found = np.full((NUM_NATURALS, max(map(len, pairs)), 2), -1, np.int64)
    for card, its_own in enumerate(pairs):
        found[card, : len(its_own)] = its_own
    return found


def _charges(rules: Rules) -> NDArray[np.int64]:
    points = POSITION_POINTS[rules.court_values]
    suit = (points[ACE_HIGH], *points[1:NUM_RANKS])
    return np.array([*suit * NUM_SUITS, rules.joker_in_hand], np.int64)


CHARGES = _charges(Rules.fisca())
"""What every card type costs who is left with it, under the federation's rules: int64[53]."""
PARTNERS = _table()
"""For each natural card the pairs that make a meld of three with it, three sets and up to three runs: int64[52, 6, 2],
filled up with -1."""


def held_by(moments: Moments, seats: NDArray[np.int64]) -> Counts:
    """The hands of these seats, one for each moment."""
    return _in_words(*(moments.of_seat(name, seats) for name in ("one", "two", "jokers")))


def _known_of(moments: Moments, seats: NDArray[np.int64]) -> Counts:
    """Those cards in the hands that everybody saw go there."""
    return _in_words(*(moments.of_seat(f"known_{name}", seats) for name in ("one", "two", "jokers")))


def _in_words(one: NDArray[Any], two: NDArray[Any], jokers: NDArray[Any]) -> Counts:
    naturals = (one[:, None] >> _BITS & 1) + (two[:, None] >> _BITS & 1)
    return np.column_stack([naturals, jokers]).astype(np.int8)


def _counted(cards: NDArray[Any], there: NDArray[np.bool_]) -> Counts:
    """Rows of cards as counts, those that are not `there` left out."""
    counts = np.zeros((len(cards), NUM_CARD_TYPES), np.int8)
    rows, columns = np.nonzero(there)
    np.add.at(counts, (rows, cards[rows, columns].astype(np.int64)), 1)
    return counts


def unseen_by(moments: Moments, seats: NDArray[np.int64]) -> Counts:
    """The cards that a seat can't place: in the stock, or in other hands where nobody saw them go."""
    pile = moments.states["pile"]
    unseen = _counted(pile, np.arange(pile.shape[1]) < moments.states["stock_n"][:, None])
    for step in range(1, moments.rules.num_players):
        others = (seats + step) % moments.rules.num_players
        unseen += held_by(moments, others) - _known_of(moments, others)
    return unseen


def dealt_anew(moments: Moments, seats: NDArray[np.int64], others: NDArray[np.int64], seed: int) -> Counts:
    """Hands of the `others` as far as `seats` know: what was seen stays, the rest is drawn evenly from the unseen."""
    known, unseen = _known_of(moments, others), unseen_by(moments, seats)
    missing = moments.of_seat("hand_n", others) - known.sum(axis=1)
    present = (unseen[:, :, None] > np.arange(_COPIES)).reshape(len(unseen), -1)
    chance = np.random.default_rng(seed).random(present.shape)
    order = np.argsort(np.where(present, chance, 2.0), axis=1)[:, : int(missing.max(initial=0))]
    return known + _counted(order // _COPIES, np.arange(order.shape[1]) < missing[:, None])


def _pairs_in(there: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which pairs of `PARTNERS` are there, of cards that are: bool[n, 52, pairs]."""
    found: NDArray[np.bool_] = there[:, PARTNERS].all(axis=3) & (PARTNERS[:, :, 0] >= 0)
    return found


def live_pairs(unseen: Counts) -> NDArray[np.int64]:
    """For each natural card how many pairs that would make a meld with it may still be in one hand: int64[n, 52]."""
    pairs: NDArray[np.int64] = _pairs_in(unseen > 0).sum(axis=2)
    return pairs


def could_use(hands: Counts) -> NDArray[np.bool_]:
    """For each natural card whether a hand makes a new meld of three with it, by one joker at most: bool[n, 52]."""
    there = hands > 0
    one_of_two = there[:, PARTNERS].any(axis=3) & (PARTNERS[:, :, 0] >= 0)
    found: NDArray[np.bool_] = _pairs_in(there).any(axis=2) | (there[:, JOKER, None] & one_of_two.any(axis=2))
    return found
