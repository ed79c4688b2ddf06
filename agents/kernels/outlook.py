"""What a player has in view at the end of its turn, as numbers: its hand, the table, the others, the card it throws.

The expert weighs these numbers (`weighing`); nothing here looks at anything that a view does not show.
"""

import numpy as np

from agents.kernels.laying import best_laying
from agents.kernels.worth import card_cost, cost_of, melds_in, seen_cards, take_out
from scala40_env.kernels.bits import count_bits, lowest_bit
from scala40_env.kernels.deal import next_seat
from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.lanes import (
    ACES,
    POSITION_POINTS,
    bit_of,
    pairs_in_sets,
    points_of,
    run_bases,
    triples_in_sets,
    with_high_aces,
)
from scala40_env.kernels.scoring import unit_of
from scala40_env.kernels.state import JOKER, RUN
from scala40_env.kernels.table import accepted_bits, replaceable_bits

__all__ = ["CONTEXTS", "FEATURES", "NUM_CONTEXTS", "NUM_FEATURES", "Outlook", "context_of", "look_around", "write_features"]

#: Names of the numbers, in their order.
FEATURES = (
    "one",
    # the hand left: points, cards, what they could become
    "dead_points",
    "hand_points",
    "cards",
    "loose_cards",
    "run_outs",
    "gap_outs",
    "set_outs",
    "longer_outs",
    "partners",
    "doubles",
    "jokers",
    "joker_with_pair",
    # the way to the opening
    "meld_points",
    "can_open",
    "opening_outs",
    "joker_opens",
    "pair_points",
    # what attaches
    "attaching",
    "attaching_next",
    "table_outs",
    "swaps",
    "swap_outs",
    # the others and the time left
    "least_cards",
    "others_cards",
    "others_opened",
    "stock",
    "lap",
    "melds",
    # the card thrown
    "thrown_points",
    "thrown_attaches",
    "thrown_to_opened",
    "thrown_extends",
    "thrown_run_partners",
    "thrown_gap_partners",
    "thrown_set_partners",
    "thrown_near_known",
    "thrown_near_thrown",
    "thrown_same_thrown",
    "thrown_joker",
    # chances of the next turn
    "closing_outs",
    "laying_outs",
    "opening_outs_joker",
)
NUM_FEATURES = len(FEATURES)
#: Each end of a turn is weighed by where the seat is (unopened; opened, with so many cards left), and where the others
#: are: all unopened, in the first laps or later, or the best of the opened with many, few or hardly any cards.
CONTEXTS = tuple(
    f"{own}, {others}"
    for own in ("unopened", "1 left", "2 left", "3 left", "4 left", "more left")
    for others in ("others unopened early", "others unopened", "others opened", "others near", "others at the door")
)
NUM_CONTEXTS = len(CONTEXTS)

_HIGH_ACE = 13
_LOW = 0x1FFF_1FFF_1FFF_1FFF
_POSITIONS = 0x3FFF_3FFF_3FFF_3FFF
_RANKS = 0x1FFF

# Places of what `look_around` writes.
SEEN_ONE, SEEN_TWO, ATTACHABLE, NEXT_ATTACHABLE, REPLACEABLE, KNOWN, THREW, NEXT_OPENED = range(8)
LEAST, OTHERS, OPENED, STOCK_LEFT, LAP, MELDS, OPEN_LEAST, UNSEEN = range(8, 16)
#: Length of it.
Outlook = 16


@kernel
def _folded(positions: int) -> int:
    """Positions of runs as cards: the ace above the king is the ace."""
    return (positions & _LOW) | (positions >> _HIGH_ACE & ACES)


@kernel
def _beside(bits: int, distance: int) -> int:
    """The cards at a distance in their runs from any of these."""
    e = with_high_aces(bits)
    return _folded(((e << distance) | (e >> distance)) & _POSITIONS)


@kernel
def _all_suits(ranks: int) -> int:
    return ranks | ranks << 16 | ranks << 32 | ranks << 48


@kernel
def _ranks_of(bits: int) -> int:
    return (bits | bits >> 16 | bits >> 32 | bits >> 48) & _RANKS


@kernel
def _same_rank(bits: int) -> int:
    """All cards of the ranks of these, themselves too."""
    return _all_suits(_ranks_of(bits))


@kernel
def _live(around: np.ndarray, bits: int) -> int:
    """How many of a thousand cards to come are copies of these."""
    live = count_bits(bits & ~around[SEEN_ONE]) + count_bits(bits & ~around[SEEN_TWO])
    return live * 1000 // around[UNSEEN]


@kernel
def look_around(g: Record, around: np.ndarray) -> None:
    """Write into ``around`` (int64[Outlook]) what does not depend on the card thrown."""
    seat = int(g["turn"])
    around[SEEN_ONE], around[SEEN_TWO] = seen_cards(g, seat)
    around[UNSEEN] = max(104 - count_bits(around[SEEN_ONE]) - count_bits(around[SEEN_TWO]), 1)
    _look_at_table(g, around)
    _look_at_others(g, seat, around)
    around[STOCK_LEFT] = int(g["stock_n"])
    around[LAP] = min(int(g["turns_played"]) // max(int(g["seats_in"]), 1), 20)


@kernel
def _look_at_table(g: Record, around: np.ndarray) -> None:
    max_run = int(g["max_run_length"])
    accepted, replaceable, runs = 0, 0, 0
    for slot in range(int(g["meld_n"])):
        kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
        cells, jokers = int(g["meld_cells"][slot]), int(g["meld_jokers"][slot])
        bits = accepted_bits(kind, key, cells, jokers, max_run)
        accepted |= bits
        if kind == RUN:
            runs |= bits
        if jokers:
            replaceable |= replaceable_bits(kind, key, cells, jokers)
    around[ATTACHABLE] = accepted
    around[REPLACEABLE] = replaceable
    around[NEXT_ATTACHABLE] = _beside(runs, 1) & ~accepted
    around[MELDS] = int(g["meld_n"])


@kernel
def _look_at_others(g: Record, seat: int, around: np.ndarray) -> None:
    least, cards, opened, open_least = 14, 0, 0, 14
    for other in range(int(g["num_players"])):
        if int(g["out"][other]) or unit_of(g, other) == unit_of(g, seat):
            continue
        left = int(g["hand_n"][other])
        least = min(least, left)
        cards += left
        if int(g["opened"][other]):
            opened += 1
            open_least = min(open_least, left)
    following = next_seat(g, seat)
    around[LEAST], around[OTHERS], around[OPENED], around[OPEN_LEAST] = least, cards, opened, open_least
    around[NEXT_OPENED] = int(g["opened"][following])
    around[KNOWN] = int(g["known_one"][following]) & _LOW
    around[THREW] = int(g["threw"][following]) & _LOW


@kernel
def context_of(g: Record, around: np.ndarray, left: int) -> int:
    """Which weights hold, with so many cards left after the discard."""
    own = 0
    if int(g["opened"][int(g["turn"])]):
        own = min(max(left, 1), 5)
    others = 1 if around[LAP] >= 6 else 0
    if around[OPENED]:
        least = around[OPEN_LEAST]
        others = 4 if least <= 2 else 3 if least <= 5 else 2
    return own * 5 + others


@kernel
def _run_points(g: Record, low: int) -> int:
    """Points of the run of three from a position."""
    ascending, total = int(g["court_values"]), 0
    for position in range(low, low + 3):
        total += POSITION_POINTS[ascending, position]
    return total


@kernel
def _opening_by_runs(g: Record, around: np.ndarray, pairs: int, shift: int, need: int) -> tuple[int, int]:
    """Cards to come that make runs worth ``need`` of pairs (their lower positions), and the most points of such a run.

    ``shift``: where the run begins, and the card that it lacks lies, from the lower card of the pair.
    """
    live, most = 0, 0
    while pairs:
        at = lowest_bit(pairs)
        pairs &= pairs - 1
        low = (at & 15) + (-1 if shift < 0 else 0)
        if low < 0 or low > 11:
            continue
        points = _run_points(g, low)
        most = max(most, points)
        if points >= need:
            live += _live(around, _folded(1 << (at + shift)))
    return live, most


@kernel
def _opening_by_sets(g: Record, around: np.ndarray, loose: int, ranks: int, need: int) -> tuple[int, int]:
    live, most = 0, 0
    while ranks:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        points = 3 * POSITION_POINTS[int(g["court_values"]), _HIGH_ACE if rank == 0 else rank]
        most = max(most, points)
        if points >= need:
            live += _live(around, _all_suits(1 << rank) & ~loose)
    return live, most


@kernel
def _write_opening(
    g: Record, around: np.ndarray, one: int, two: int, jokers: int, loose: int, out: np.ndarray
) -> None:
    """The numbers on the way to the opening."""
    cover, ascending = one & ~loose, int(g["court_values"])
    points = points_of(cover, ascending) + points_of(two & cover, ascending)
    need = int(g["opening_points"]) - points
    e = with_high_aces(loose)
    beside, gapped = e & e >> 1 & _POSITIONS, e & e >> 2 & _POSITIONS
    live, most = _opening_by_sets(g, around, loose, pairs_in_sets(loose), need)
    for found, best in (
        _opening_by_runs(g, around, beside, -1, need),
        _opening_by_runs(g, around, beside, 2, need),
        _opening_by_runs(g, around, gapped, 1, need),
    ):
        live += found
        most = max(most, best)
    out[13] = min(points, int(g["opening_points"]))
    out[14] = 1 if need <= 0 else 0
    out[15] = live if need > 0 else 0
    out[16] = 1 if need > 0 and jokers and most >= need else 0
    out[17] = most
    if jokers and need > most:
        out[42] = _opening_by_sets(g, around, loose, pairs_in_sets(loose), need - most)[0]
        out[42] += _opening_by_runs(g, around, beside, -1, need - most)[0]
        out[42] += _opening_by_runs(g, around, beside, 2, need - most)[0]
        out[42] += _opening_by_runs(g, around, gapped, 1, need - most)[0]


@kernel
def write_features(g: Record, around: np.ndarray, card: int, out: np.ndarray) -> int:
    """Write the numbers (int64[NUM_FEATURES]) for throwing ``card`` now; returns the context."""
    seat = int(g["turn"])
    one, two, jokers = int(g["one"][seat]), int(g["two"][seat]), int(g["jokers"][seat])
    if card == JOKER:
        jokers -= 1
    else:
        one, two = take_out(one, two, bit_of(card))
    left = int(g["hand_n"][seat]) - 1
    opened = int(g["opened"][seat]) != 0
    out[0] = 1
    _write_hand(g, around, one, two, jokers, left, out)
    loose = one & ~melds_in(one)
    out[40] = 0
    out[41] = 0
    out[42] = 0
    if opened:
        out[13:18] = 0
        if left <= 4:
            _write_chances(around, one, two, jokers, left, out)
    else:
        _write_opening(g, around, one, two, jokers, loose, out)
    attaching = one & around[ATTACHABLE]
    out[18] = count_bits(attaching)
    out[19] = count_bits(one & around[NEXT_ATTACHABLE])
    out[20] = _live(around, around[ATTACHABLE])
    out[21] = count_bits(one & around[REPLACEABLE])
    out[22] = _live(around, around[REPLACEABLE])
    out[23] = around[LEAST]
    out[24] = around[OTHERS]
    out[25] = around[OPENED]
    out[26] = around[STOCK_LEFT]
    out[27] = around[LAP]
    out[28] = around[MELDS]
    _write_thrown(g, around, card, out)
    return context_of(g, around, left)


@kernel
def _write_hand(g: Record, around: np.ndarray, one: int, two: int, jokers: int, left: int, out: np.ndarray) -> None:
    """The numbers on the hand left."""
    cover = melds_in(one)
    loose = one & ~cover
    whole = cost_of(g, one) + cost_of(g, two)
    out[1] = whole - (best_laying(g, one, two, 0) if cover else 0)
    out[2] = whole - 3 * left + jokers * (3 + int(g["joker_in_hand"]))
    out[3] = left
    out[4] = count_bits(loose)
    e = with_high_aces(loose)
    beside, gapped = e & e >> 1 & _POSITIONS, e & e >> 2 & _POSITIONS
    pairs = pairs_in_sets(loose)
    out[5] = _live(around, _folded((beside << 2 | beside >> 1) & _POSITIONS))
    out[6] = _live(around, _folded(gapped << 1 & _POSITIONS))
    out[7] = _live(around, _all_suits(pairs) & ~loose)
    out[8] = _live(around, _longer(one)) if cover else 0
    out[9] = _live(around, (_beside(loose, 1) | _beside(loose, 2)) & ~one) + _live(around, _same_rank(loose) & ~one)
    out[10] = count_bits(two)
    out[11] = jokers
    out[12] = 1 if jokers and (beside | gapped | pairs) else 0


@kernel
def _laid(around: np.ndarray, one: int, two: int, jokers: int) -> int:
    """About how many of these cards could be laid now."""
    attaching = one & around[ATTACHABLE]
    chained = one & around[NEXT_ATTACHABLE] & _beside(attaching, 1)
    loose = one & ~attaching & ~chained
    melded = melds_in(one)
    most = count_bits(attaching | chained | melded)
    if jokers:
        e = with_high_aces(loose)
        if (e & e >> 1 & _POSITIONS) | (e & e >> 2 & _POSITIONS) | pairs_in_sets(loose):
            return most + 3
        return most + (jokers if around[MELDS] else 0)
    return most


@kernel
def _write_chances(around: np.ndarray, one: int, two: int, jokers: int, left: int, out: np.ndarray) -> None:
    """What the card drawn next may do for a small hand."""
    now = _laid(around, one, two, jokers)
    closing, laying = 0, 0
    if now >= left:
        closing = 1000
    e = with_high_aces(one)
    beside, gapped = e & e >> 1 & _POSITIONS, e & e >> 2 & _POSITIONS
    useful = _folded((beside << 2 | beside >> 1 | gapped << 1) & _POSITIONS) | _all_suits(pairs_in_sets(one))
    useful |= around[ATTACHABLE] | around[NEXT_ATTACHABLE]
    useful &= ~around[SEEN_TWO]
    while useful:
        bit = useful & -useful
        useful &= useful - 1
        if one & bit:
            continue
        then, live = _laid(around, one | bit, two, jokers), _live(around, bit)
        if then > now:
            laying += live * (then - now)
            if now < left and then >= left:
                closing += live
    out[40] = closing
    out[41] = laying


@kernel
def _longer(one: int) -> int:
    """The cards that make melds of the hand longer."""
    bases = run_bases(with_high_aces(one), 0)
    runs = bases | bases << 1 | bases << 2
    return _folded((runs << 1 | runs >> 1) & _POSITIONS & ~runs) | (_all_suits(triples_in_sets(one)) & ~one)


@kernel
def _write_thrown(g: Record, around: np.ndarray, card: int, out: np.ndarray) -> None:
    """The numbers on the card thrown."""
    out[29] = card_cost(g, card)
    if card == JOKER:
        out[30:39] = 0
        out[39] = 1
        return
    bit = bit_of(card)
    attaches = 1 if (around[ATTACHABLE] | around[REPLACEABLE]) & bit else 0
    near, far, same = _beside(bit, 1), _beside(bit, 2), _same_rank(bit) & ~bit
    out[30] = attaches
    out[31] = attaches * around[NEXT_OPENED]
    out[32] = 1 if around[NEXT_ATTACHABLE] & bit else 0
    out[33] = _live(around, near)
    out[34] = _live(around, far)
    out[35] = _live(around, same)
    out[36] = count_bits(around[KNOWN] & (near | far | same))
    out[37] = count_bits(around[THREW] & (near | far))
    out[38] = count_bits(around[THREW] & (same | bit))
    out[39] = 0
