"""What a player has in view at the end of its turn, as numbers: its hand, the table, the others, the card it throws.

The expert weighs these numbers; nothing here looks at anything that a view does not show. *Outs* are counted in
thousandths: how many of a thousand unseen cards would do.
"""

import numpy as np

from agents.kernels.laying import best_laying
from agents.kernels.worth import PER_CARD, card_cost, cost_of, melds_in, seen_cards, take_out
from scala40_env.kernels.bits import clear_record, count_bits, lowest_bit
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
    "AROUND",
    "BLOCK",
    "CONTEXTS",
    "FEATURES",
    "NUM_CONTEXTS",
    "NUM_FEATURES",
    "ROOM",
    "ROW",
    "look_again",
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

#: Features are added up so many at once: a row of them has room for whole blocks, with zeros at the end.
BLOCK = 8
ROOM = -(-NUM_FEATURES // BLOCK) * BLOCK
#: The numbers of one end of a turn, by their names.
ROW = np.dtype([*((name, "<i8") for name in FEATURES), ("spare", "<i8", (ROOM - NUM_FEATURES,))])

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

#: What `look_around` writes. Cards are words of four lanes.
AROUND = np.dtype(
    [
        # cards seen at least once and twice, and the thousandths of the unseen cards that one copy is, shifted
        ("seen_one", "<i8"),
        ("seen_two", "<i8"),
        ("per_copy", "<i8"),
        # the table: cards that attach, that attach to those, that take a joker's place; how many melds lie there
        ("attachable", "<i8"),
        ("next_attachable", "<i8"),
        ("replaceable", "<i8"),
        ("melds", "<i8"),
        # the next seat: cards known of it and thrown by it, whether it has opened
        ("known", "<i8"),
        ("threw", "<i8"),
        ("next_opened", "<i8"),
        # the rivals: the fewest cards, all cards, how many have opened and the fewest cards of these; the lap
        ("least", "<i8"),
        ("others", "<i8"),
        ("opened", "<i8"),
        ("open_least", "<i8"),
        ("lap", "<i8"),
        # the own hand before the discard: the cards of its melds, what they are worth to lay, outs for them
        ("cover", "<i8"),
        ("laid", "<i8"),
        ("cover_outs", "<i8"),
    ]
)

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
def _outs(around: Record, bits: int) -> int:
    """How many of a thousand unseen cards are copies of these."""
    copies = count_bits(bits & ~int(around["seen_one"])) + count_bits(bits & ~int(around["seen_two"]))
    return copies * int(around["per_copy"]) >> _OUTS_SHIFT


@kernel
def _outs_one_by_one(around: Record, bits: int) -> int:
    """The sum of the outs of each of these cards, of which at most one copy has been seen."""
    both = count_bits(bits & ~int(around["seen_one"]))
    single = count_bits(bits) - both
    return both * (2 * int(around["per_copy"]) >> _OUTS_SHIFT) + single * (int(around["per_copy"]) >> _OUTS_SHIFT)


# ---------------------------------------------------------------------------------------------------------------------
# What does not depend on the card thrown


@kernel
def look_around(g: Record, around: Record) -> None:
    """Write into ``around`` (`AROUND`) what the seat to move sees around it, and what melds it holds."""
    seat = int(g["turn"])
    one, two = seen_cards(g, seat)
    naturals = PACK - 4
    around["seen_one"], around["seen_two"] = one, two
    around["per_copy"] = (1000 << _OUTS_SHIFT) // max(naturals - count_bits(one) - count_bits(two), 1) + 1
    around["lap"] = min(int(g["turns_played"]) // max(int(g["seats_in"]), 1), _LAST_LAP)
    _look_at_rivals(g, seat, around)
    _look_at_next(g, next_seat(g, seat), around)
    look_again(g, around)


@kernel
def look_again(g: Record, around: Record) -> None:
    """Bring up to date what changes within a turn: the table and the own hand; which cards are seen does not."""
    _look_at_table(g, around)
    _look_at_hand(g, int(g["turn"]), around)


@kernel
def _look_at_hand(g: Record, seat: int, around: Record) -> None:
    """The melds of the whole hand, which stay as they are when a card beside them is thrown."""
    one, two = int(g["one"][seat]), int(g["two"][seat])
    cover = melds_in(one)
    around["cover"] = cover
    around["laid"] = best_laying(g, one, two, 0) if cover else 0
    around["cover_outs"] = _outs(around, _longer(one)) if cover else 0


@kernel
def _look_at_table(g: Record, around: Record) -> None:
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
    around["attachable"] = accepted
    around["replaceable"] = replaceable
    around["next_attachable"] = _beside(runs, 1) & ~accepted
    around["melds"] = int(g["meld_n"])


@kernel
def _look_at_rivals(g: Record, seat: int, around: Record) -> None:
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
    around["least"], around["others"], around["opened"], around["open_least"] = least, cards, opened, open_least


@kernel
def _look_at_next(g: Record, seat: int, around: Record) -> None:
    """The one who may take the card thrown."""
    around["next_opened"] = int(g["opened"][seat])
    around["known"] = int(g["known_one"][seat]) & _LOW
    around["threw"] = int(g["threw"][seat]) & _LOW


@kernel
def _context_of(opened: bool, around: Record, left: int) -> int:
    """Which of `CONTEXTS` it is with so many cards left after the discard."""
    own = min(max(left, 1), 5) if opened else 0
    if int(around["opened"]):
        least = int(around["open_least"])
        others = 4 if least <= _AT_THE_DOOR else 3 if least <= _NEAR else 2
    else:
        others = 1 if int(around["lap"]) >= _EARLY_LAPS else 0
    return own * _OF_OTHERS + others


# ---------------------------------------------------------------------------------------------------------------------
# The numbers


@kernel
def write_features(g: Record, around: Record, card: int, out: Record) -> int:
    """Write the numbers (`ROW`) for throwing ``card`` now; returns the context."""
    seat = int(g["turn"])
    jokers, bit = int(g["jokers"][seat]), 0
    if card == JOKER:
        jokers -= 1
    else:
        bit = bit_of(card)
    one, two = take_out(int(g["one"][seat]), int(g["two"][seat]), bit)
    left, opened = int(g["hand_n"][seat]) - 1, int(g["opened"][seat]) != 0
    clear_record(out)
    out["one"] = 1
    cover = _write_hand(g, around, one, two, bit, jokers, left, out)
    if not opened:
        _write_opening(g, around, one, two, cover, jokers, out)
    elif left <= _SMALL_HAND:
        _write_chances(around, one, jokers, left, out)
    _write_table(around, one, out)
    if card == JOKER:
        out["thrown_joker"] = 1
    else:
        _write_thrown(around, bit, out)
    out["thrown_points"] = card_cost(g, card)
    out["stock"] = int(g["stock_n"])
    return _context_of(opened, around, left)


@kernel
def _write_melds(g: Record, around: Record, one: int, two: int, thrown: int, whole: int, out: Record) -> int:
    """The melds left without the card thrown (a bit), of a hand that costs ``whole``; returns their cards."""
    cover, laid, outs = int(around["cover"]), int(around["laid"]), int(around["cover_outs"])
    if thrown & cover:
        cover = melds_in(one)
        laid = best_laying(g, one, two, 0) if cover else 0
        outs = _outs(around, _longer(one)) if cover else 0
    out["longer_outs"] = outs
    out["dead_points"] = whole - laid
    return cover


@kernel
def _write_hand(g: Record, around: Record, one: int, two: int, thrown: int, jokers: int, left: int, out: Record) -> int:
    """The hand left, and what its loose cards could become; returns the cards of its melds."""
    whole = cost_of(g, one) + cost_of(g, two)
    cover = _write_melds(g, around, one, two, thrown, whole, out)
    loose = one & ~cover
    beside, gapped = _pairs(loose)
    pairs = pairs_in_sets(loose)
    out["hand_points"] = whole - PER_CARD * left + jokers * (PER_CARD + int(g["joker_in_hand"]))
    out["cards"] = left
    out["loose_cards"] = count_bits(loose)
    out["run_outs"] = _outs(around, _folded((beside << 2 | beside >> 1) & _POSITIONS))
    out["gap_outs"] = _outs(around, _folded(gapped << 1 & _POSITIONS))
    out["set_outs"] = _outs(around, _all_suits(pairs) & ~loose)
    near = (_beside(loose, 1) | _beside(loose, 2)) & ~one
    out["partners"] = _outs(around, near) + _outs(around, _same_rank(loose) & ~one)
    out["doubles"] = count_bits(two)
    out["jokers"] = jokers
    out["joker_with_pair"] = 1 if jokers and (beside | gapped | pairs) else 0
    return cover


@kernel
def _write_table(around: Record, one: int, out: Record) -> None:
    """What attaches, what the others hold, how far the hand has come."""
    out["attaching"] = count_bits(one & int(around["attachable"]))
    out["attaching_next"] = count_bits(one & int(around["next_attachable"]))
    out["table_outs"] = _outs(around, int(around["attachable"]))
    out["swaps"] = count_bits(one & int(around["replaceable"]))
    out["swap_outs"] = _outs(around, int(around["replaceable"]))
    out["least_cards"] = int(around["least"])
    out["others_cards"] = int(around["others"])
    out["others_opened"] = int(around["opened"])
    out["lap"] = int(around["lap"])
    out["melds"] = int(around["melds"])


@kernel
def _write_thrown(around: Record, bit: int, out: Record) -> None:
    """A natural card thrown: whether it attaches, what could still come to it, what the next seat knows of it."""
    attaches = 1 if (int(around["attachable"]) | int(around["replaceable"])) & bit else 0
    near, far, same = _beside(bit, 1), _beside(bit, 2), _same_rank(bit) & ~bit
    out["thrown_attaches"] = attaches
    out["thrown_to_opened"] = attaches * int(around["next_opened"])
    out["thrown_extends"] = 1 if int(around["next_attachable"]) & bit else 0
    out["thrown_run_partners"] = _outs(around, near)
    out["thrown_gap_partners"] = _outs(around, far)
    out["thrown_set_partners"] = _outs(around, same)
    out["thrown_near_known"] = count_bits(int(around["known"]) & (near | far | same))
    out["thrown_near_thrown"] = count_bits(int(around["threw"]) & (near | far))
    out["thrown_same_thrown"] = count_bits(int(around["threw"]) & (same | bit))


# ---------------------------------------------------------------------------------------------------------------------
# The way to the opening


@kernel
def _run_points(ascending: int, low: int) -> int:
    """Points of the run of three from a position."""
    return POSITION_POINTS[ascending, low] + POSITION_POINTS[ascending, low + 1] + POSITION_POINTS[ascending, low + 2]


@kernel
def _opening_runs(ascending: int, around: Record, pairs: int, shift: int, need: int) -> tuple[int, int]:
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
def _opening_sets(ascending: int, around: Record, loose: int, need: int) -> tuple[int, int]:
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
def _opening_melds(ascending: int, around: Record, loose: int, need: int) -> tuple[int, int]:
    """Outs for melds worth ``need`` of two loose cards and one to come, and the most points of any such meld."""
    beside, gapped = _pairs(loose)
    sets, most_of_sets = _opening_sets(ascending, around, loose, need)
    below, most_below = _opening_runs(ascending, around, beside, -1, need)
    above, most_above = _opening_runs(ascending, around, beside, 2, need)
    between, most_between = _opening_runs(ascending, around, gapped, 1, need)
    return sets + below + above + between, max(most_of_sets, most_below, most_above, most_between)


@kernel
def _write_opening(g: Record, around: Record, one: int, two: int, cover: int, jokers: int, out: Record) -> None:
    """How far a seat that has not opened is from it, with the cards of its melds (``cover``)."""
    ascending, threshold = int(g["court_values"]), int(g["opening_points"])
    points = points_of(cover, ascending) + points_of(two & cover, ascending)
    need, loose = threshold - points, one & ~cover
    outs, most = _opening_melds(ascending, around, loose, need)
    out["meld_points"] = min(points, threshold)
    out["pair_points"] = most
    if need <= 0:
        out["can_open"] = 1
        return
    out["opening_outs"] = outs
    if jokers and most >= need:
        out["joker_opens"] = 1
    elif jokers:
        out["opening_outs_joker"] = _opening_melds(ascending, around, loose, need - most)[0]


# ---------------------------------------------------------------------------------------------------------------------
# The next turn of a small hand


@kernel
def _laid(around: Record, one: int, jokers: int) -> int:
    """About how many of these cards could be laid now."""
    attaching = one & int(around["attachable"])
    attaching |= one & int(around["next_attachable"]) & _beside(attaching, 1)
    most = count_bits(attaching | melds_in(one))
    if jokers == 0:
        return most
    loose = one & ~attaching
    beside, gapped = _pairs(loose)
    if beside | gapped | pairs_in_sets(loose):
        return most + 3
    return most + (jokers if int(around["melds"]) else 0)


@kernel
def _surely_laid(around: Record, one: int) -> int:
    """The cards that would attach, if they make no meld, and change nothing for any other card of the hand."""
    attaching = one & int(around["attachable"])
    beside = _beside(attaching, 1)
    waiting = one & int(around["next_attachable"]) & ~beside
    return (int(around["attachable"]) & ~_beside(waiting, 1)) | (int(around["next_attachable"]) & beside)


@kernel
def _write_chances(around: Record, one: int, jokers: int, left: int, out: Record) -> None:
    """What the card drawn next may do: close, or lay more cards than could go without it."""
    now, unseen = _laid(around, one, jokers), ~int(around["seen_two"]) & ~one
    beside, gapped = _pairs(one)
    melding = _folded((beside << 2 | beside >> 1 | gapped << 1) & _POSITIONS) | _all_suits(pairs_in_sets(one))
    sure = _surely_laid(around, one) & ~melding & unseen
    laying = _outs_one_by_one(around, sure)
    closing = 1000 if now >= left else laying if now + 1 == left else 0
    useful = melding | int(around["attachable"])
    if jokers:  # a card that does not attach may still make a meld with one
        useful |= int(around["next_attachable"])
    useful &= unseen & ~sure
    while useful:
        bit = useful & -useful
        useful &= useful - 1
        more = _laid(around, one | bit, jokers) - now
        if more > 0:
            outs = _outs(around, bit)
            laying += outs * more
            closing += outs if now < left <= now + more else 0
    out["closing_outs"] = closing
    out["laying_outs"] = laying
