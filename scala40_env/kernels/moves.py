"""The moves that the rules allow at this moment, before asking whether the turn can still be ended after them.

Together with `legality`, which asks that, this is the one source of legal moves. Everything here looks at the hand of
the seat on move and at what lies open: it never needs a hidden card.
"""

import numpy as np

from scala40_env.kernels.actions import (
    DISCARD,
    PER_SLOT,
    RUNS,
    SETS,
    SLOTS,
    SWAP,
    SWAPS,
    TWO_JOKER_RUNS,
    TWO_JOKER_SETS,
)
from scala40_env.kernels.bits import count_bits, lowest_bit
from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.lanes import (
    BASES,
    SUIT_TRIPLES,
    bit_of,
    card_at,
    pairs_in_sets,
    rank_bit,
    run_bases,
    suits_with,
    triples_in_sets,
    with_high_aces,
)
from scala40_env.kernels.state import (
    AFTER_THRESHOLD,
    CLOSING_OPTIONAL,
    FEDERAL,
    FORBIDDEN,
    JOKER,
    NONE,
    RECOVERED_ANY,
    RECOVERED_NEW,
    RUN,
    UNOPENED_FORBIDDEN,
)
from scala40_env.kernels.table import (
    ban_of_table,
    joker_card_bit,
    missing_suit,
    natural_fits,
    next_high,
    next_low,
    replaceable_bits,
)

__all__ = [
    "ban_binds",
    "closing_allowed",
    "discardable",
    "emit_discards",
    "emit_table_moves",
    "jokers_to_take",
    "may_close_in_hand_below",
    "min_left",
    "owes",
    "usable_jokers",
]

#: How far the rules on discards are lifted because the turn could not be ended otherwise (rules.md, *The turn*, 3).
ALL_RULES, BAN_LIFTED, JOKERS_LIFTED = range(3)


@kernel
def owes(g: Record) -> bool:
    """Whether a card from the pozzo or a recovered joker still has to be used."""
    return int(g["owed_card"]) != NONE or int(g["recovered_jokers"]) > 0


@kernel
def closing_allowed(g: Record) -> bool:
    """Nobody closes before every player of the hand has had a turn (F)."""
    return int(g["first_lap_closing"]) != 0 or int(g["turns_played"]) >= int(g["seats_in"])


@kernel
def may_close_in_hand_below(g: Record) -> bool:
    """Whether a player may lay its whole hand without reaching the threshold of the opening."""
    return int(g["in_hand_needs_opening_points"]) == 0 and closing_allowed(g)


@kernel
def min_left(g: Record) -> int:
    """How many cards a move to the table has to leave in the hand."""
    if not closing_allowed(g):
        return 2
    return 0 if int(g["closing_discard"]) == CLOSING_OPTIONAL else 1


@kernel
def ban_binds(g: Record, opened: bool) -> bool:
    """Whether a player may not discard a card that attaches."""
    rule = int(g["attaching_discard"])
    if rule == FEDERAL:
        rule = FORBIDDEN if int(g["seats_in"]) >= 3 else UNOPENED_FORBIDDEN
    if rule == UNOPENED_FORBIDDEN:
        return not opened
    return rule == FORBIDDEN


@kernel
def usable_jokers(g: Record) -> int:
    """Jokers that the player may put on the table now (``opening_jokers``)."""
    seat = int(g["turn"])
    if int(g["opened"][seat]) == 0 and int(g["opening_jokers"]) == AFTER_THRESHOLD:
        return 0
    return int(g["jokers"][seat])


@kernel
def jokers_to_take(g: Record) -> int:
    """How many jokers on the table cards of the hand could take the place of."""
    one, jokers = int(g["one"][int(g["turn"])]), 0
    for slot in range(int(g["meld_n"])):
        held = int(g["meld_jokers"][slot])
        if held:
            kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
            jokers += count_bits(one & replaceable_bits(kind, key, int(g["meld_cells"][slot]), held))
    return jokers


@kernel
def _closing_discard(g: Record) -> tuple[int, bool]:
    """What may be discarded as the last card: exempt from the attaching ban (F)."""
    seat, barred = int(g["turn"]), int(g["barred_card"])
    if not closing_allowed(g):
        return 0, False
    one = int(g["one"][seat])
    if barred != NONE and barred != JOKER:
        one &= ~bit_of(barred)
    return one, one == 0 and int(g["jokers"][seat]) == 1 and barred != JOKER and int(g["closing_joker_discard"]) != 0


@kernel
def discardable(g: Record, level: int) -> tuple[int, bool]:
    """The cards that may be discarded now, and whether a joker may, with the rules lifted to ``level``."""
    seat = int(g["turn"])
    opened = int(g["opened"][seat]) != 0
    if owes(g):
        return 0, False
    last = int(g["hand_n"][seat]) == 1
    if not opened and (last or int(g["new_melds"])) and not (last and may_close_in_hand_below(g)):
        return 0, False
    if last:
        return _closing_discard(g)
    bits, jokers = int(g["one"][seat]), int(g["jokers"][seat])
    barred = int(g["barred_card"])
    if barred == JOKER:
        jokers -= 1
    elif barred != NONE and int(g["two"][seat]) & bit_of(barred) == 0:
        bits &= ~bit_of(barred)
    joker = jokers > 0 and (opened or level >= JOKERS_LIFTED or int(g["unopened_joker_discard"]) != 0)
    if level == ALL_RULES and ban_binds(g, opened):
        banned, joker_banned = ban_of_table(g)
        bits &= ~banned
        joker = joker and not joker_banned
    return bits, joker


@kernel
def emit_discards(bits: int, joker: bool, out: np.ndarray, n: int) -> int:
    """Append the discards of these cards; returns the new count."""
    while bits:
        out[n] = DISCARD + card_at(lowest_bit(bits))
        n += 1
        bits &= bits - 1
    if joker:
        out[n] = DISCARD + JOKER
        n += 1
    return n


@kernel
def _emit_bases(bases: int, first: int, stride: int, offset: int, out: np.ndarray, n: int) -> int:
    """Append runs of three that begin at these bits."""
    while bases:
        at = lowest_bit(bases)
        out[n] = first + ((at >> 4) * 12 + (at & 15)) * stride + offset
        n += 1
        bases &= bases - 1
    return n


@kernel
def _emit_runs(one: int, jokers: int, two_jokers: bool, out: np.ndarray, n: int) -> int:
    e = with_high_aces(one)
    n = _emit_bases(run_bases(e, 0), RUNS, 4, 0, out, n)
    if jokers:
        for place in range(1, 4):
            n = _emit_bases(run_bases(e, place), RUNS, 4, place, out, n)
    if two_jokers:
        for place in range(3):
            n = _emit_bases((e >> place) & BASES, TWO_JOKER_RUNS, 3, place, out, n)
    return n


@kernel
def _emit_sets_of_rank(one: int, rank: int, jokers: int, two_jokers: bool, out: np.ndarray, n: int) -> int:
    held = suits_with(one, rank)
    for triple in range(4):
        suits = int(SUIT_TRIPLES[triple])
        lacking = suits & ~held
        base = rank * 4 + triple
        if lacking == 0:
            out[n] = SETS + base * 4
            n += 1
        left, place = suits, 1
        while left:
            suit = left & -left
            if jokers and lacking & ~suit == 0:
                out[n] = SETS + base * 4 + place
                n += 1
            if two_jokers and held & suit:
                out[n] = TWO_JOKER_SETS + base * 3 + place - 1
                n += 1
            left &= left - 1
            place += 1
    return n


@kernel
def _emit_sets(one: int, jokers: int, two_jokers: bool, out: np.ndarray, n: int) -> int:
    if two_jokers:
        ranks = (one | one >> 16 | one >> 32 | one >> 48) & 0x1FFF
    elif jokers:
        ranks = pairs_in_sets(one)
    else:
        ranks = triples_in_sets(one)
    while ranks:
        n = _emit_sets_of_rank(one, lowest_bit(ranks), jokers, two_jokers, out, n)
        ranks &= ranks - 1
    return n


@kernel
def _two_joker_melds(g: Record, jokers: int) -> bool:
    """Whether three cards with two jokers may be laid."""
    return jokers >= 2 and int(g["max_jokers_per_meld"]) >= 2 and int(g["min_naturals_per_meld"]) == 1


@kernel
def _recovered_may_go(g: Record, slot: int) -> bool:
    """Whether a joker taken from the table may be attached to this meld (``recovered_joker``)."""
    rule, here = int(g["recovered_joker"]), 1 << slot
    if rule == RECOVERED_ANY:
        return True
    if rule == RECOVERED_NEW:
        return int(g["new_melds"]) & here != 0
    origins = int(g["swapped_melds"])
    return origins & here == 0 or origins & ~here != 0


@kernel
def _joker_may_go(g: Record, slot: int) -> bool:
    """Whether some joker of the hand may be attached to this meld."""
    seat, owed = int(g["turn"]), int(g["recovered_jokers"])
    if owed and _recovered_may_go(g, slot):
        return True
    own = int(g["jokers"][seat]) - owed
    if int(g["owed_card"]) == JOKER and int(g["laid_points"]) > 0 and (int(g["new_melds"]) >> slot) & 1 == 0:
        own -= 1  # a joker that opened from the pozzo stays in the new melds (`opening_from_pozzo`)
    return own > 0


@kernel
def _emit_attaches_to(g: Record, slot: int, one: int, jokers: int, out: np.ndarray, n: int) -> int:
    kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
    cells, held = int(g["meld_cells"][slot]), int(g["meld_jokers"][slot])
    joker = jokers > 0 and count_bits(held) < int(g["max_jokers_per_meld"]) and _joker_may_go(g, slot)
    first = SLOTS + slot * PER_SLOT
    if kind != RUN:
        suit = missing_suit(cells)
        if suit == NONE:
            return n
        if one >> ((suit << 4) + key) & 1:
            out[n] = first
            n += 1
        if joker:
            out[n] = first + 2
            n += 1
        return n
    for end in range(2):
        max_run = int(g["max_run_length"])
        position = next_high(cells, max_run) if end else next_low(cells, max_run)
        if position == NONE:
            continue
        if one & rank_bit(key, position) and natural_fits(cells, held, position):
            out[n] = first + end
            n += 1
        if joker:
            out[n] = first + 2 + end
            n += 1
    return n


@kernel
def _emit_swaps_of(g: Record, slot: int, one: int, out: np.ndarray, n: int) -> int:
    kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
    cells, held = int(g["meld_cells"][slot]), int(g["meld_jokers"][slot])
    left, number = held, 0
    while left:
        if one & joker_card_bit(kind, key, cells, held, lowest_bit(left)):
            out[n] = SLOTS + slot * PER_SLOT + SWAP if number == 0 else SWAPS + slot * 3 + number - 1
            n += 1
        number += 1
        left &= left - 1
    return n


@kernel
def emit_table_moves(g: Record, room: int, out: np.ndarray, n: int) -> int:
    """Append the melds, attaches and swaps that the rules allow, where ``room`` cards may leave the hand."""
    seat = int(g["turn"])
    one, jokers = int(g["one"][seat]), usable_jokers(g)
    opened = int(g["opened"][seat]) != 0
    if room >= 3:
        two_jokers = _two_joker_melds(g, jokers)
        n = _emit_runs(one, jokers, two_jokers, out, n)
        n = _emit_sets(one, jokers, two_jokers, out, n)
    new = int(g["new_melds"])
    if not opened and new == 0:
        return n
    for slot in range(int(g["meld_n"])):
        if room >= 1 and (opened or (new >> slot) & 1):
            n = _emit_attaches_to(g, slot, one, jokers, out, n)
        if opened and int(g["meld_jokers"][slot]):
            n = _emit_swaps_of(g, slot, one, out, n)
    return n
