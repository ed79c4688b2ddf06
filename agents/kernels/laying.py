"""How much of a hand can go to the table: the best way to split it into melds without jokers and cards that attach."""

import numpy as np

from agents.kernels.worth import cost_of, melds_in, take_out
from scala40_env.kernels.bits import count_bits, lowest_bit, scratch
from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.lanes import ACES, run_bases, suits_with, triples_in_sets, with_high_aces

__all__ = ["best_laying"]

#: Most different melds looked at: a hand of 14 cards hardly ever has a dozen.
_MOST_MELDS = 48
#: Room for the four numbers of each choice that is open.
_STACK = 4 * (_MOST_MELDS + 16)
_HIGH_ACE = 13
_LOW_RANKS = 0x1FFF_1FFF_1FFF_1FFF
_LANES = 0x0001_0001_0001_0001


@kernel
def _runs_of(one: int, length: int, melds: np.ndarray, n: int) -> int:
    """Append the runs of three, four or five as words of their cards."""
    e = with_high_aces(one)
    bases = run_bases(e, 0)
    if length >= 4:
        bases &= e >> 3
    if length == 5:
        bases &= e >> 4
    while bases and n < _MOST_MELDS:
        cells = ((1 << length) - 1) << lowest_bit(bases)
        melds[n] = (cells & _LOW_RANKS) | (cells >> _HIGH_ACE & ACES)
        n += 1
        bases &= bases - 1
    return n


@kernel
def _sets_of(one: int, melds: np.ndarray, n: int) -> int:
    """Append the sets as words of their cards."""
    ranks = triples_in_sets(one)
    while ranks and n < _MOST_MELDS - 5:
        rank = lowest_bit(ranks)
        held = one & (_LANES << rank)
        melds[n] = held
        n += 1
        if count_bits(suits_with(one, rank)) == 4:
            left = held
            while left:
                melds[n] = held & ~(left & -left)
                n += 1
                left &= left - 1
        ranks &= ranks - 1
    return n


@kernel
def _melds_of(one: int, melds: np.ndarray) -> int:
    n = _sets_of(one, melds, 0)
    for length in range(3, 6):
        n = _runs_of(one, length, melds, n)
    return n


@kernel
def best_laying(g: Record, one: int, two: int, attachable: int) -> int:
    """Most that can be laid of these cards, as `cost_of` counts it, cards of ``attachable`` attaching one by one."""
    cover = melds_in(one)
    if cover == 0:
        return cost_of(g, one & attachable)
    melds = scratch(_MOST_MELDS, np.int64)
    n = _melds_of(one, melds)
    return _best_of(g, one, two, attachable, melds, n)


@kernel
def _best_of(g: Record, one: int, two: int, attachable: int, melds: np.ndarray, n: int) -> int:
    """Depth first over the melds in order: each is left out, or laid and perhaps laid again."""
    stack = scratch(_STACK, np.int64).reshape(-1, 4)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, one, two, 0
    depth, best = 1, 0
    while depth:
        depth -= 1
        at, one, two, gain = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        useful = melds_in(one)
        if gain + cost_of(g, useful | (one & attachable)) + cost_of(g, two & useful) <= best:
            continue
        while at < n and melds[at] & ~one:
            at += 1
        if at == n:
            best = max(best, gain + cost_of(g, one & attachable))
            continue
        stack[depth, 0] = at + 1
        stack[depth, 1], stack[depth, 2], stack[depth, 3] = one, two, gain
        left_one, left_two = take_out(one, two, melds[at])
        stack[depth + 1, 0] = at
        stack[depth + 1, 1], stack[depth + 1, 2] = left_one, left_two
        stack[depth + 1, 3] = gain + cost_of(g, melds[at])
        depth += 2
    return best
