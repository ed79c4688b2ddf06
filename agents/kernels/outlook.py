"""What a player has in view at the end of its turn, as numbers: its hand, the table, the others, the card it throws.

The expert weighs these numbers; nothing here looks at anything that a view does not show. *Outs* are counted in
thousandths: how many of a thousand unseen cards would do.
"""

import numpy as np

from agents.kernels.laying import best_laying
from agents.kernels.worth import PER_CARD, card_cost, cost_of, melds_in, seen_cards, take_out
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
from scala40_env.kernels.state import JOKER, MAX_SEATS, PACK, RUN
from scala40_env.kernels.table import accepted_bits, replaceable_bits

__all__ = [
    "CONTEXTS",
    "FEATURES",
    "NUM_CONTEXTS",
    "NUM_FEATURES",
    "OUTLOOK",
    "look_around",
    "write_features",
]

#: Names of the numbers, in the order of their places below.
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

# Places of the numbers: of the hand left,
ONE, DEAD_POINTS, HAND_POINTS, CARDS, LOOSE_CARDS = range(5)
RUN_OUTS, GAP_OUTS, SET_OUTS, LONGER_OUTS, PARTNERS, DOUBLES, JOKERS, JOKER_WITH_PAIR = range(5, 13)
# of the way to the opening, and of what attaches,
MELD_POINTS, CAN_OPEN, OPENING_OUTS, JOKER_OPENS, PAIR_POINTS = range(13, 18)
ATTACHING, ATTACHING_NEXT, TABLE_OUTS, SWAPS, SWAP_OUTS = range(18, 23)
# of the others and the time left,
LEAST_CARDS, OTHERS_CARDS, OTHERS_OPENED, IN_STOCK, IN_LAP, ON_TABLE = range(23, 29)
# of the card thrown,
THROWN_POINTS, THROWN_ATTACHES, THROWN_TO_OPENED, THROWN_EXTENDS = range(29, 33)
THROWN_RUN_PARTNERS, THROWN_GAP_PARTNERS, THROWN_SET_PARTNERS = range(33, 36)
THROWN_NEAR_KNOWN, THROWN_NEAR_THROWN, THROWN_SAME_THROWN, THROWN_JOKER = range(36, 40)
# and of the next turn.
CLOSING_OUTS, LAYING_OUTS, JOKER_OUTS = range(40, 43)

#: Each end of a turn is weighed by where the seat is (unopened; opened, with so many cards left), and where the others
#: are: all unopened, in the first laps or later, or the best of the opened with many, few or hardly any cards.
CONTEXTS = tuple(
    f"{own}, {others}"
    for own in ("unopened", "1 left", "2 left", "3 left", "4 left", "more left")
    for others in ("others unopened early", "others unopened", "others opened", "others near", "others at the door")
)
NUM_CONTEXTS = len(CONTEXTS)
_OF_OTHERS = 5
_EARLY_LAPS, _LAST_LAP, _NEAR, _AT_THE_DOOR = 6, 20, 5, 2
#: With more cards left nobody closes in the next turn but by chance.
_SMALL_HAND = 4

# Places of what `look_around` writes, and how many there are.
SEEN_ONE, SEEN_TWO, PER_COPY, ATTACHABLE, NEXT_ATTACHABLE, REPLACEABLE, MELDS = range(7)
KNOWN, THREW, NEXT_OPENED, LEAST, OTHERS, OPENED, OPEN_LEAST, LAP = range(7, 15)
OUTLOOK = 15

#: A division by the number of unseen cards is a product with this many bits behind the point, exact for so few cards.
_OUTS_SHIFT = 32
_HIGH_ACE = 13
_LOW = 0x1FFF_1FFF_1FFF_1FFF
_POSITIONS = 0x3FFF_3FFF_3FFF_3FFF
_RANKS = 0x1FFF


# ---------------------------------------------------------------------------------------------------------------------
# Neighbours


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
def _pairs(loose: int) -> tuple[int, int]:
    """The lower positions of two cards that lie side by side in a run, and of two with one between them."""
    e = with_high_aces(loose)
    return e & e >> 1 & _POSITIONS, e & e >> 2 & _POSITIONS


@kernel
def _all_suits(ranks: int) -> int:
    return ranks | ranks << 16 | ranks << 32 | ranks << 48


@kernel
def _same_rank(bits: int) -> int:
    """All cards of the ranks of these, themselves too."""
    return _all_suits((bits | bits >> 16 | bits >> 32 | bits >> 48) & _RANKS)


@kernel
def _longer(one: int) -> int:
    """The cards that make melds of the hand longer."""
    bases = run_bases(with_high_aces(one), 0)
    runs = bases | bases << 1 | bases << 2
    return _folded((runs << 1 | runs >> 1) & _POSITIONS & ~runs) | (_all_suits(triples_in_sets(one)) & ~one)


@kernel
def _outs(around: np.ndarray, bits: int) -> int:
    """How many of a thousand unseen cards are copies of these."""
    copies = count_bits(bits & ~around[SEEN_ONE]) + count_bits(bits & ~around[SEEN_TWO])
    return copies * around[PER_COPY] >> _OUTS_SHIFT


# ---------------------------------------------------------------------------------------------------------------------
# What does not depend on the card thrown


@kernel
def look_around(g: Record, around: np.ndarray) -> None:
    """Write into ``around`` (int64[OUTLOOK]) what the seat to move sees around it."""
    seat = int(g["turn"])
    one, two = seen_cards(g, seat)
    naturals = PACK - 4
    around[SEEN_ONE], around[SEEN_TWO] = one, two
    around[PER_COPY] = (1000 << _OUTS_SHIFT) // max(naturals - count_bits(one) - count_bits(two), 1) + 1
    around[LAP] = min(int(g["turns_played"]) // max(int(g["seats_in"]), 1), _LAST_LAP)
    _look_at_table(g, around)
    _look_at_rivals(g, seat, around)
    _look_at_next(g, next_seat(g, seat), around)


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
def _look_at_rivals(g: Record, seat: int, around: np.ndarray) -> None:
    least, cards, opened, open_least = MAX_SEATS * PACK, 0, 0, MAX_SEATS * PACK
    for other in range(int(g["num_players"])):
        if int(g["out"][other]) or unit_of(g, other) == unit_of(g, seat):
            continue
        left = int(g["hand_n"][other])
        least = min(least, left)
        cards += left
        if int(g["opened"][other]):
            opened += 1
            open_least = min(open_least, left)
    around[LEAST], around[OTHERS], around[OPENED], around[OPEN_LEAST] = least, cards, opened, open_least


@kernel
def _look_at_next(g: Record, seat: int, around: np.ndarray) -> None:
    """The one who may take the card thrown."""
    around[NEXT_OPENED] = int(g["opened"][seat])
    around[KNOWN] = int(g["known_one"][seat]) & _LOW
    around[THREW] = int(g["threw"][seat]) & _LOW


@kernel
def _context_of(opened: bool, around: np.ndarray, left: int) -> int:
    """Which of `CONTEXTS` it is with so many cards left after the discard."""
    own = min(max(left, 1), 5) if opened else 0
    if around[OPENED]:
        least = around[OPEN_LEAST]
        others = 4 if least <= _AT_THE_DOOR else 3 if least <= _NEAR else 2
    else:
        others = 1 if around[LAP] >= _EARLY_LAPS else 0
    return own * _OF_OTHERS + others


# ---------------------------------------------------------------------------------------------------------------------
# The numbers


@kernel
def write_features(g: Record, around: np.ndarray, card: int, out: np.ndarray) -> int:
    """Write the numbers (int64[NUM_FEATURES]) for throwing ``card`` now; returns the context."""
    seat = int(g["turn"])
    one, two, jokers = int(g["one"][seat]), int(g["two"][seat]), int(g["jokers"][seat])
    if card == JOKER:
        jokers -= 1
    else:
        one, two = take_out(one, two, bit_of(card))
    left, opened = int(g["hand_n"][seat]) - 1, int(g["opened"][seat]) != 0
    out[:] = 0
    out[ONE] = 1
    _write_hand(g, around, one, two, jokers, left, out)
    if not opened:
        _write_opening(g, around, one, two, jokers, out)
    elif left <= _SMALL_HAND:
        _write_chances(around, one, jokers, left, out)
    _write_table(around, one, out)
    if card == JOKER:
        out[THROWN_JOKER] = 1
    else:
        _write_thrown(around, bit_of(card), out)
    out[THROWN_POINTS] = card_cost(g, card)
    out[IN_STOCK] = int(g["stock_n"])
    return _context_of(opened, around, left)


@kernel
def _write_hand(g: Record, around: np.ndarray, one: int, two: int, jokers: int, left: int, out: np.ndarray) -> None:
    """The hand left."""
    cover = melds_in(one)
    loose = one & ~cover
    whole = cost_of(g, one) + cost_of(g, two)
    beside, gapped = _pairs(loose)
    pairs = pairs_in_sets(loose)
    out[DEAD_POINTS] = whole - (best_laying(g, one, two, 0) if cover else 0)
    out[HAND_POINTS] = whole - PER_CARD * left + jokers * (PER_CARD + int(g["joker_in_hand"]))
    out[CARDS] = left
    out[LOOSE_CARDS] = count_bits(loose)
    out[RUN_OUTS] = _outs(around, _folded((beside << 2 | beside >> 1) & _POSITIONS))
    out[GAP_OUTS] = _outs(around, _folded(gapped << 1 & _POSITIONS))
    out[SET_OUTS] = _outs(around, _all_suits(pairs) & ~loose)
    out[LONGER_OUTS] = _outs(around, _longer(one)) if cover else 0
    near = (_beside(loose, 1) | _beside(loose, 2)) & ~one
    out[PARTNERS] = _outs(around, near) + _outs(around, _same_rank(loose) & ~one)
    out[DOUBLES] = count_bits(two)
    out[JOKERS] = jokers
    out[JOKER_WITH_PAIR] = 1 if jokers and (beside | gapped | pairs) else 0


@kernel
def _write_table(around: np.ndarray, one: int, out: np.ndarray) -> None:
    """What attaches, what the others hold, how far the hand has come."""
    out[ATTACHING] = count_bits(one & around[ATTACHABLE])
    out[ATTACHING_NEXT] = count_bits(one & around[NEXT_ATTACHABLE])
    out[TABLE_OUTS] = _outs(around, around[ATTACHABLE])
    out[SWAPS] = count_bits(one & around[REPLACEABLE])
    out[SWAP_OUTS] = _outs(around, around[REPLACEABLE])
    out[LEAST_CARDS] = around[LEAST]
    out[OTHERS_CARDS] = around[OTHERS]
    out[OTHERS_OPENED] = around[OPENED]
    out[IN_LAP] = around[LAP]
    out[ON_TABLE] = around[MELDS]


@kernel
def _write_thrown(around: np.ndarray, bit: int, out: np.ndarray) -> None:
    """A natural card thrown: whether it attaches, what could still come to it, what the next seat knows of it."""
    attaches = 1 if (around[ATTACHABLE] | around[REPLACEABLE]) & bit else 0
    near, far, same = _beside(bit, 1), _beside(bit, 2), _same_rank(bit) & ~bit
    out[THROWN_ATTACHES] = attaches
    out[THROWN_TO_OPENED] = attaches * around[NEXT_OPENED]
    out[THROWN_EXTENDS] = 1 if around[NEXT_ATTACHABLE] & bit else 0
    out[THROWN_RUN_PARTNERS] = _outs(around, near)
    out[THROWN_GAP_PARTNERS] = _outs(around, far)
    out[THROWN_SET_PARTNERS] = _outs(around, same)
    out[THROWN_NEAR_KNOWN] = count_bits(around[KNOWN] & (near | far | same))
    out[THROWN_NEAR_THROWN] = count_bits(around[THREW] & (near | far))
    out[THROWN_SAME_THROWN] = count_bits(around[THREW] & (same | bit))


# ---------------------------------------------------------------------------------------------------------------------
# The way to the opening


@kernel
def _run_points(ascending: int, low: int) -> int:
    """Points of the run of three from a position."""
    return POSITION_POINTS[ascending, low] + POSITION_POINTS[ascending, low + 1] + POSITION_POINTS[ascending, low + 2]


@kernel
def _opening_runs(ascending: int, around: np.ndarray, pairs: int, shift: int, need: int) -> tuple[int, int]:
    """Outs of pairs (their lower positions) for runs worth ``need``, and the most points of any run of them.

    ``shift``: where the card that the run lacks lies, from the lower card of the pair.
    """
    outs, most = 0, 0
    while pairs:
        at = lowest_bit(pairs)
        pairs &= pairs - 1
        low = (at & 15) + min(shift, 0)
        if low < 0 or low + 2 > _HIGH_ACE:
            continue
        points = _run_points(ascending, low)
        most = max(most, points)
        if points >= need:
            outs += _outs(around, _folded(1 << (at + shift)))
    return outs, most


@kernel
def _opening_sets(ascending: int, around: np.ndarray, loose: int, need: int) -> tuple[int, int]:
    """The same for pairs of one rank."""
    outs, most, ranks = 0, 0, pairs_in_sets(loose)
    while ranks:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        points = 3 * POSITION_POINTS[ascending, _HIGH_ACE if rank == 0 else rank]
        most = max(most, points)
        if points >= need:
            outs += _outs(around, _all_suits(1 << rank) & ~loose)
    return outs, most


@kernel
def _opening_melds(ascending: int, around: np.ndarray, loose: int, need: int) -> tuple[int, int]:
    """Outs for melds worth ``need`` of two loose cards and one to come, and the most points of any such meld."""
    beside, gapped = _pairs(loose)
    sets, most_of_sets = _opening_sets(ascending, around, loose, need)
    below, most_below = _opening_runs(ascending, around, beside, -1, need)
    above, most_above = _opening_runs(ascending, around, beside, 2, need)
    between, most_between = _opening_runs(ascending, around, gapped, 1, need)
    return sets + below + above + between, max(most_of_sets, most_below, most_above, most_between)


@kernel
def _write_opening(g: Record, around: np.ndarray, one: int, two: int, jokers: int, out: np.ndarray) -> None:
    """How far a seat that has not opened is from it."""
    cover, ascending, threshold = melds_in(one), int(g["court_values"]), int(g["opening_points"])
    points = points_of(cover, ascending) + points_of(two & cover, ascending)
    need, loose = threshold - points, one & ~cover
    outs, most = _opening_melds(ascending, around, loose, need)
    out[MELD_POINTS] = min(points, threshold)
    out[PAIR_POINTS] = most
    if need <= 0:
        out[CAN_OPEN] = 1
        return
    out[OPENING_OUTS] = outs
    if jokers and most >= need:
        out[JOKER_OPENS] = 1
    elif jokers:
        out[JOKER_OUTS] = _opening_melds(ascending, around, loose, need - most)[0]


# ---------------------------------------------------------------------------------------------------------------------
# The next turn of a small hand


@kernel
def _laid(around: np.ndarray, one: int, jokers: int) -> int:
    """About how many of these cards could be laid now."""
    attaching = one & around[ATTACHABLE]
    attaching |= one & around[NEXT_ATTACHABLE] & _beside(attaching, 1)
    most = count_bits(attaching | melds_in(one))
    if jokers == 0:
        return most
    loose = one & ~attaching
    beside, gapped = _pairs(loose)
    if beside | gapped | pairs_in_sets(loose):
        return most + 3
    return most + (jokers if around[MELDS] else 0)


@kernel
def _write_chances(around: np.ndarray, one: int, jokers: int, left: int, out: np.ndarray) -> None:
    """What the card drawn next may do: close, or lay more cards than could go without it."""
    now = _laid(around, one, jokers)
    closing, laying = 1000 if now >= left else 0, 0
    beside, gapped = _pairs(one)
    useful = _folded((beside << 2 | beside >> 1 | gapped << 1) & _POSITIONS) | _all_suits(pairs_in_sets(one))
    useful |= around[ATTACHABLE] | around[NEXT_ATTACHABLE]
    useful &= ~around[SEEN_TWO] & ~one
    while useful:
        bit = useful & -useful
        useful &= useful - 1
        more = _laid(around, one | bit, jokers) - now
        if more > 0:
            outs = _outs(around, bit)
            laying += outs * more
            closing += outs if now < left <= now + more else 0
    out[CLOSING_OUTS] = closing
    out[LAYING_OUTS] = laying
