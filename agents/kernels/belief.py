"""What a hand that one does not see most likely holds, by what everybody saw its holder do.

How likely a hand is follows from its cards: each counts by how it goes with the others, and with what its holder threw.
Nobody keeps the neighbours of cards that it has thrown, or throws the neighbours of what it keeps; a hand that was
played with for some turns has more near melds and fewer copies than a dealt one; and who has opened has laid what it
could. The weights are data, fitted to hands as they were (`experiments.fit_beliefs`). A dealt hand is made likely by
swaps of single cards with unseen ones, kept by Metropolis' rule, so that hands come up as often as they are likely.
"""

import numpy as np

from scala40_env.kernels.bits import count_bits
from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.lanes import POSITION_POINTS, bit_of, suits_with, with_high_aces
from scala40_env.kernels.random import below, philox
from scala40_env.kernels.state import JOKER, JOKER_BIT, MAX_SEATS
from scala40_env.kernels.table import ban_of_table

__all__ = [
    "BELIEFS",
    "BELIEF_CONTEXTS",
    "BELIEF_FEATURES",
    "BELIEF_TABLES",
    "PUBLIC",
    "context_of",
    "make_likely",
    "public_words",
    "write_card",
]

#: What counts of a card in a hand. Of the others held: its copy, cards one and two ranks away in its suit, runs of
#: three that it completes, another suit of its rank (a pair), two or three others (a set). Then the same of cards that
#: the holder threw, and that others did.
BELIEF_FEATURES = (
    "points",
    "joker",
    "copy",
    "next",
    "after next",
    "run",
    "pair",
    "set",
    "thrown copy",
    "thrown next",
    "thrown after next",
    "thrown rank",
    "attaches",
    "others threw copy",
    "others threw next",
    "others threw rank",
)
#: When it counts: by how many different cards the holder has thrown if it has not opened, else by the cards it holds.
BELIEF_CONTEXTS = (
    *("unopened, 0 or 1 thrown", "unopened, 2 or 3", "unopened, 4 to 6", "unopened, 7 and more"),
    *("opened, 1 to 3 cards", "opened, 4 to 7", "opened, 8 and more"),
)
#: For how many seats there are weights, in the order in which they lie: by context and feature.
BELIEF_TABLES = ("two_seats", "more_seats")
_FEATURES, _CONTEXTS = len(BELIEF_FEATURES), len(BELIEF_CONTEXTS)
BELIEFS = len(BELIEF_TABLES) * _CONTEXTS * _FEATURES
_POINTS, _JOKER, _COPY, _NEXT, _AFTER, _RUN, _PAIR, _SET = range(8)
_THROWN, _T_NEXT, _T_AFTER, _T_RANK, _ATTACHES, _O_COPY, _O_NEXT, _O_RANK = range(8, _FEATURES)
#: Weights are in thousandths of a natural logarithm.
_UNIT = 1000.0
#: What everybody knows, as words of cards: what the seat threw, what others threw, what attaches to the table.
_THREW, _OTHERS_THREW, _TABLE = range(3)
PUBLIC = 3
#: The stream of the generator, after those of `determinize`.
_SWAPS = 6


@kernel
def context_of(g: Record, seat: int) -> int:
    """The row of the weights that holds for a seat: the contexts for two seats, then those for more."""
    table = 0 if int(g["seats_in"]) == 2 else _CONTEXTS
    if int(g["opened"][seat]):
        held = int(g["hand_n"][seat])
        return table + (4 if held <= 3 else 5 if held <= 7 else 6)
    thrown = count_bits(int(g["threw"][seat]))
    return table + (0 if thrown <= 1 else 1 if thrown <= 3 else 2 if thrown <= 6 else 3)


@kernel
def public_words(g: Record, seat: int, words: np.ndarray) -> None:
    """Write what is known about a seat's play into ``words`` (int64[PUBLIC])."""
    words[_THREW] = int(g["threw"][seat]) & ~JOKER_BIT
    words[_OTHERS_THREW] = 0
    for other in range(MAX_SEATS):
        if other != seat:
            words[_OTHERS_THREW] |= int(g["threw"][other]) & ~JOKER_BIT
    words[_TABLE] = ban_of_table(g)[0] if int(g["opened"][seat]) else 0


@kernel
def _window(cards: int, suit: int, position: int) -> int:
    """The cards of a suit from two below a position to two above, in five bits."""
    return (with_high_aces(cards) >> (suit << 4) & 0x3FFF) << 2 >> position & 31


@kernel
def _next_to(window: int) -> int:
    return (window >> 1 & 1) + (window >> 3 & 1)


@kernel
def _after_next(window: int) -> int:
    return (window & 1) + (window >> 4 & 1)


@kernel
def _runs(window: int) -> int:
    """How many runs of three the card in the middle makes with the others."""
    return int(window & 3 == 3) + int(window & 10 == 10) + int(window & 24 == 24)


@kernel
def _of_rank(cards: int, suit: int, rank: int) -> int:
    """In how many other suits a rank is there."""
    return count_bits(suits_with(cards, rank) & ~(1 << suit))


@kernel
def write_card(card: int, one: int, words: np.ndarray, out: np.ndarray) -> None:
    """Write what counts of a card that comes to these others (``one``: each held at least once) into ``out``."""
    out[:] = 0
    if card == JOKER:
        out[_JOKER] = 1
        return
    suit, rank, bit = card // 13, card % 13, bit_of(card)
    out[_POINTS] = POSITION_POINTS[0, 13 if rank == 0 else rank]
    out[_COPY] = int(one & bit != 0)
    for position in range(rank, 14, 13):
        held, threw = _window(one, suit, position), _window(words[_THREW], suit, position)
        out[_NEXT] += _next_to(held)
        out[_AFTER] += _after_next(held)
        out[_RUN] += _runs(held)
        out[_T_NEXT] += _next_to(threw)
        out[_T_AFTER] += _after_next(threw)
        out[_O_NEXT] += _next_to(_window(words[_OTHERS_THREW], suit, position))
    held = _of_rank(one, suit, rank)
    out[_PAIR], out[_SET] = int(held == 1), int(held >= 2)
    out[_THROWN] = int(words[_THREW] & bit != 0)
    out[_T_RANK] = _of_rank(words[_THREW], suit, rank)
    out[_ATTACHES] = int(words[_TABLE] & bit != 0)
    out[_O_COPY] = int(words[_OTHERS_THREW] & bit != 0)
    out[_O_RANK] = _of_rank(words[_OTHERS_THREW], suit, rank)


@kernel
def _score(card: int, one: int, words: np.ndarray, weights: np.ndarray, features: np.ndarray) -> int:
    write_card(card, one, words, features)
    total = 0
    for at in range(_FEATURES):
        total += features[at] * weights[at]
    return total


@kernel
def _without(one: int, two: int, card: int) -> tuple[int, int]:
    """A hand's words after one copy of a card has left it."""
    if card == JOKER:
        return one, two
    bit = bit_of(card)
    return (one, two & ~bit) if two & bit else (one & ~bit, two)


@kernel
def _with(one: int, two: int, card: int) -> tuple[int, int]:
    if card == JOKER:
        return one, two
    bit = bit_of(card)
    return one | bit, two | (one & bit)


@kernel
def make_likely(
    g: Record, seat: int, rest: np.ndarray, count: int, swaps: int, beliefs: np.ndarray, key: int, deal: int
) -> None:
    """Try so many ``swaps`` of hidden cards of a hand for unseen ones.

    The hand is what the record says; ``rest`` (int8) are the unseen cards, of which the first ``count`` are in it: only
    their order changes. ``beliefs`` (int64[BELIEFS]) are the weights.
    """
    one, two, words = int(g["one"][seat]), int(g["two"][seat]), np.empty(PUBLIC, np.int64)
    weights, features = beliefs[context_of(g, seat) * _FEATURES :], np.empty(_FEATURES, np.int64)
    public_words(g, seat, words)
    for swap in range(swaps):
        draws = philox(key, deal, _SWAPS, seat << 14 | swap)
        at, other = below(draws[0], count), count + below(draws[1], len(rest) - count)
        out, into = int(rest[at]), int(rest[other])
        less, less_two = _without(one, two, out)
        change = _score(into, less, words, weights, features) - _score(out, less, words, weights, features)
        if change >= 0 or draws[2] < np.exp(change / _UNIT) * 4294967296.0:
            rest[at], rest[other] = into, out
            one, two = _with(less, less_two, into)
