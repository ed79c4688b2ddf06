"""The opening solver: can a player who has not opened still lay enough new melds from here?

`outlook` answers for a player below the threshold: NO, YES, or UNSURE where the melds are there but ending the turn
after them needs more than a look (every card left attaches to the table, say); `legality` then searches move by move.

`_pack` goes depth first over sets of melds. Melds commute, so they are laid in the order of their three base cards;
each is made longer before the next is laid. A run's base are its three lowest cards, so it only grows upwards, except
where two jokers in a meld could forbid that base, and except melds that lie there already. Branches end where an upper
bound shows that the points can't be reached and the hand can't be emptied either.
"""

import numpy as np

from scala40_env.kernels.bits import copy_record, count_bits, lowest_bit
from scala40_env.kernels.islands import address_of, game_at, island
from scala40_env.kernels.jit import Record, Records, kernel
from scala40_env.kernels.lanes import (
    ACES,
    BASES,
    POSITION_POINTS,
    SUIT_TRIPLES,
    bit_or_joker,
    card_at,
    may_be_melded,
    meld_points,
    natural_bits,
    pairs_in_sets,
    points_of,
    run_bases,
    suits_with,
    triples_in_sets,
    with_high_aces,
)
from scala40_env.kernels.moves import (
    ALL_RULES,
    ban_binds,
    jokers_to_take,
    may_close_in_hand_below,
    min_left,
)
from scala40_env.kernels.state import AFTER_THRESHOLD, JOKER_BIT, NONE, RUN, SET
from scala40_env.kernels.table import (
    accepted_bits,
    ban_of_table,
    missing_suit,
    natural_fits,
    next_high,
    next_low,
    nth_bit,
    replaceable_bits,
)

__all__ = ["NO", "UNSURE", "YES", "joker_run_table", "natural_cover", "outlook"]

NO, UNSURE, YES = range(3)

_LANE = 0x1FFF
_HIGH_ACE = 13
_LOW_RANKS = 0x1FFF_1FFF_1FFF_1FFF


#: Added to a level: pack without the card that is owed.
_FORGIVEN = 4
#: Orders of sets are below it: 13 ranks, 4 triples of suits, 8 patterns of jokers.
_RUN_ORDERS = 13 * 4 * 8

#: Most frames that one frame leads to: four ways to grow, the next own meld, sets and runs in all patterns.
_MOST_CHILDREN = 4 + 1 + _RUN_ORDERS + 48 * 8

FRAME = np.dtype(
    [
        # the hand
        ("one", "<i8"),
        ("two", "<i8"),
        ("owed", "<i8"),  # bit of a card that has to be laid (JOKER_BIT: a joker), 0 if none
        ("fresh", "<i8"),  # what the melds of this search accept, for the attaching ban
        ("own", "<i8"),  # slots of melds of this turn that may be made longer later
        ("jokers", "<i2"),
        ("left", "<i2"),
        ("need", "<i4"),  # points still to be had
        # the meld that may be made longer now (kind 0: none)
        ("kind", "<i2"),
        ("key", "<i2"),
        ("cells", "<i2"),
        ("held", "<i2"),
        ("grows_down", "<i2"),
        ("last", "<i2"),  # order number of the last meld laid
    ],
    align=True,
)


def _best_joker_run(ranks: int, points: list[int]) -> int:
    """Most points of a run with one joker and two or more of these ranks (bits, ace to king)."""
    positions = ranks | (ranks & 1) << _HIGH_ACE
    best = 0
    for joker in range(14):
        low, high = joker, joker
        while low > 0 and positions >> (low - 1) & 1:
            low -= 1
        while high < _HIGH_ACE and positions >> (high + 1) & 1:
            high += 1
        if high - low >= 2:
            best = max(best, sum(points[low : high + 1]))
    return best


def joker_run_table() -> np.ndarray:
    """int8[2, 8192]: most points of a run with exactly one joker, by `court_values` and the ranks held of a suit."""
    rows = []
    for values in POSITION_POINTS.tolist():
        gain = [_best_joker_run(ranks, values) for ranks in range(1 << 13)]
        rows.append(gain)
    return np.array(rows, dtype=np.int8)


_JOKER_RUN = joker_run_table()


@kernel
def natural_cover(one: int) -> int:
    """The cards that are part of some meld without a joker."""
    runs = run_bases(with_high_aces(one), 0)
    runs |= runs << 1 | runs << 2
    runs = (runs | (runs >> _HIGH_ACE & ACES)) & _LOW_RANKS
    ranks = triples_in_sets(one)
    return runs | (one & (ranks | ranks << 16 | ranks << 32 | ranks << 48))


@kernel
def _best_joker_set(one: int, ascending: int) -> int:
    """Most points of a set with one joker: three suits held and the joker, or two and the joker."""
    best = 0
    for ranks, size in ((triples_in_sets(one), 4), (pairs_in_sets(one), 3)):
        left = ranks
        while left:
            rank = lowest_bit(left)
            best = max(best, size * POSITION_POINTS[ascending, _HIGH_ACE if rank == 0 else rank])
            left &= left - 1
    return best


@kernel
def _joker_worth(one: int, ascending: int) -> int:
    """Most points of one meld with one joker."""
    best = _best_joker_set(one, ascending)
    for suit in range(4):
        best = max(best, int(_JOKER_RUN[ascending, one >> (suit << 4) & _LANE]))
    return best


@kernel
def _growth(one: int, jokers: int, kind: int, key: int, cells: int, held: int, ascending: int) -> int:
    """An upper bound of the points by which one meld can be made longer."""
    top = POSITION_POINTS[ascending, _HIGH_ACE]
    if kind == SET:
        return top if missing_suit(cells) != NONE else 0
    positions = one >> (key << 4) & _LANE
    positions |= (positions & 1) << _HIGH_ACE
    total, at = 0, lowest_bit(cells) - 1
    while at >= 0 and positions >> at & 1:
        total += POSITION_POINTS[ascending, at]
        at -= 1
    at = lowest_bit(cells) + count_bits(cells)
    while at <= _HIGH_ACE and positions >> at & 1:
        total += POSITION_POINTS[ascending, at]
        at += 1
    if jokers:  # a joker and one natural beyond it; two or more beyond it are a meld with a joker of their own
        total += 4 * top
    return total


@kernel
def _all_points(one: int, two: int, ascending: int) -> int:
    return points_of(one, ascending) + points_of(two, ascending)


@kernel
def _natural_bound(one: int, two: int, ascending: int) -> int:
    """An upper bound of the points of melds without jokers."""
    cover = natural_cover(one)
    return 0 if cover == 0 else _all_points(one & cover, two & cover, ascending)


@kernel
def _points_reachable(g: Record, one: int, two: int, jokers: int, need: int) -> bool:
    """Whether new melds might still be worth ``need`` points: an upper bound, cheap."""
    ascending = int(g["court_values"])
    reach = _natural_bound(one, two, ascending)
    if reach >= need:
        return True
    if jokers == 0:
        return False
    if jokers >= 2 and int(g["max_jokers_per_meld"]) >= 2:
        return _all_points(one, two, ascending) + jokers * POSITION_POINTS[ascending, _HIGH_ACE] >= need
    return reach + jokers * _joker_worth(one, ascending) >= need


@kernel
def _may_empty(one: int, two: int, jokers: int) -> bool:
    """Whether all cards but one might still be laid: a joker brings four cards at most into a meld."""
    cover = natural_cover(one)
    return count_bits(one & ~cover) + count_bits(two & ~cover) <= 4 * jokers + 1


@kernel
def _end_after(g: Record, level: int, one: int, jokers: int, left: int, fresh: int) -> int:
    """Whether a discard ends the turn after opening with these cards left; ``fresh`` is what the new melds accept."""
    barred = int(g["barred_card"]) != NONE
    if left >= 2:
        if not (level == ALL_RULES and ban_binds(g, True)):
            return YES
        if barred:
            return UNSURE
        return YES if one & ~(ban_of_table(g)[0] | fresh) else UNSURE
    if left < min_left(g):
        return NO
    if left == 1 and (barred or (jokers and int(g["closing_joker_discard"]) == 0)):
        return UNSURE
    return YES


@kernel
def _verdict(g: Record, level: int, frame: Record) -> int:
    """Whether the turn can end with the melds laid so far."""
    left, jokers = int(frame["left"]), int(frame["jokers"])
    if int(frame["owed"]):
        return NO
    if int(frame["need"]) <= 0:
        return _end_after(g, level, int(frame["one"]), jokers, left, int(frame["fresh"]))
    if left > 1 or not may_close_in_hand_below(g) or left < min_left(g):
        return NO
    if left == 1 and int(g["barred_card"]) != NONE:
        return UNSURE
    if left == 1 and jokers and int(g["closing_joker_discard"]) == 0:
        return NO
    return YES


@kernel
def _accepts(g: Record, kind: int, key: int, cells: int, held: int) -> int:
    """What a meld accepts, for the attaching ban."""
    bits = accepted_bits(kind, key, cells, held, int(g["max_run_length"]))
    if held and int(g["replacing_attaches"]):
        bits |= replaceable_bits(kind, key, cells, held)
    return bits


@kernel
def _may_grow(g: Record, frame: Record, usable: int) -> int:
    """An upper bound of the points by which the melds of this turn can be made longer."""
    ascending, one = int(g["court_values"]), int(frame["one"])
    growth = 0
    if int(frame["kind"]):
        growth = _growth(
            one, usable, int(frame["kind"]), int(frame["key"]), int(frame["cells"]), int(frame["held"]), ascending
        )
    left = int(frame["own"])
    while left:
        slot = lowest_bit(left)
        kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
        growth += _growth(one, usable, kind, key, int(g["meld_cells"][slot]), int(g["meld_jokers"][slot]), ascending)
        left &= left - 1
    return growth


@kernel
def _owed_is_lost(g: Record, frame: Record) -> bool:
    """Whether it is plain that the owed card can't be laid any more."""
    owed, jokers = int(frame["owed"]), int(frame["jokers"])
    if owed == JOKER_BIT:
        return jokers == 0
    if owed & int(frame["one"]) == 0:
        return True
    if int(frame["own"]):
        return False
    card, kind, key = card_at(lowest_bit(owed)), int(frame["kind"]), int(frame["key"])
    if (kind == RUN and key == card // 13) or (kind == SET and key == card % 13):
        return False
    jokers = min(jokers, int(g["max_jokers_per_meld"]))
    return not may_be_melded(int(frame["one"]), card, jokers, int(g["min_naturals_per_meld"]))


@kernel
def _hopeless(g: Record, frame: Record, usable: int) -> bool:
    """Whether neither the points nor an empty hand can be reached any more, nor the owed card be laid."""
    one, two = int(frame["one"]), int(frame["two"])
    if int(frame["owed"]) and _owed_is_lost(g, frame):
        return True
    need = int(frame["need"])
    if need <= 0:
        return False
    growing = int(frame["kind"]) != 0 or int(frame["own"]) != 0
    if may_close_in_hand_below(g) and (growing or _may_empty(one, two, usable)):
        return False
    return not _points_reachable(g, one, two, usable, need - (_may_grow(g, frame, usable) if growing else 0))


@kernel
def _usable(g: Record, frame: Record) -> int:
    """Jokers that may be laid now (``opening_jokers``)."""
    if int(frame["need"]) > 0 and int(g["opening_jokers"]) == AFTER_THRESHOLD:
        return 0
    return int(frame["jokers"])


@kernel
def _lay(frame: Record, bits: int, number: int, points: int) -> None:
    """Take these natural cards and ``number`` jokers out of the hand of a frame."""
    two = int(frame["two"])
    frame["two"] = two & ~bits
    frame["one"] = int(frame["one"]) & ~(bits & ~two)
    frame["jokers"] = int(frame["jokers"]) - number
    frame["left"] = int(frame["left"]) - count_bits(bits) - number
    frame["need"] = int(frame["need"]) - points
    frame["owed"] = int(frame["owed"]) & ~(bits | (JOKER_BIT if number else 0))


@kernel
def _set_current(frame: Record, kind: int, key: int, cells: int, held: int, grows_down: bool) -> None:
    """Make this the meld that may be made longer."""
    frame["kind"] = kind
    frame["key"] = key
    frame["cells"] = cells
    frame["held"] = held
    frame["grows_down"] = 1 if grows_down else 0


@kernel
def _place(g: Record, frame: Record, end: int) -> int:
    """The cell at one end where the current meld can grow, NONE if it can't there (a set grows in one place only)."""
    cells = int(frame["cells"])
    if int(frame["kind"]) == SET:
        return missing_suit(cells) if end == 0 else NONE
    if end == 0:
        return next_high(cells, int(g["max_run_length"]))
    return next_low(cells, int(g["max_run_length"])) if int(frame["grows_down"]) else NONE


@kernel
def _push_longer(g: Record, stack: Records, top: int, frame: Record, usable: int) -> int:
    """Push the current meld one card longer, at either end, by a joker or by a natural card."""
    kind, key = int(frame["kind"]), int(frame["key"])
    cells, held, down = int(frame["cells"]), int(frame["held"]), int(frame["grows_down"]) != 0
    for end in range(2):
        cell = _place(g, frame, end)
        if cell == NONE:
            continue
        longer = cells | 1 << cell
        points = meld_points(kind, key, 1 << cell, int(g["court_values"]))
        bit = natural_bits(kind, key, 1 << cell, 0)
        if usable and count_bits(held) < int(g["max_jokers_per_meld"]):
            copy_record(stack, top, frame)
            _lay(stack[top], 0, 1, points)
            _set_current(stack[top], kind, key, longer, held | 1 << cell, down)
            top += 1
        if int(frame["one"]) & bit and (kind == SET or natural_fits(cells, held, cell)):
            copy_record(stack, top, frame)
            _lay(stack[top], bit, 0, points)
            _set_current(stack[top], kind, key, longer, held, down)
            top += 1
    return top


@kernel
def _push_base(
    g: Record, stack: Records, top: int, frame: Record, order: int, kind: int, key: int, cells: int, held: int
) -> int:
    """Push three cards as a new meld."""
    points = meld_points(kind, key, cells, int(g["court_values"]))
    copy_record(stack, top, frame)
    after = stack[top]
    _lay(after, natural_bits(kind, key, cells, held), count_bits(held), points)
    _set_current(after, kind, key, cells, held, int(g["max_jokers_per_meld"]) >= 2)
    # Once the threshold lets jokers down (`opening_jokers`), they may go into melds of any place in the order.
    reached = int(after["need"]) <= 0 and int(g["opening_jokers"]) == AFTER_THRESHOLD
    after["last"] = 0 if reached else order
    return top + 1


@kernel
def _wild_suits(suits: int, pattern: int) -> int:
    """The suits of a triple that jokers take, by a pattern of places."""
    wild = 0
    for place in range(3):
        if pattern >> place & 1:
            wild |= 1 << nth_bit(suits, place)
    return wild


@kernel
def _push_sets(g: Record, stack: Records, top: int, frame: Record, most: int) -> int:
    """Push new sets with up to ``most`` jokers, in their order from the last meld on."""
    one, last = int(frame["one"]), int(frame["last"])
    ranks = triples_in_sets(one) if most == 0 else pairs_in_sets(one)
    if most == 2:
        ranks = (one | one >> 16 | one >> 32 | one >> 48) & _LANE
    while ranks:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        suits_held = suits_with(one, rank)
        for triple in range(4):
            suits = int(SUIT_TRIPLES[triple])
            for pattern in range(7):
                order = ((rank * 4 + triple) << 3) + pattern
                if order < last or count_bits(pattern) > most:
                    continue
                wild = _wild_suits(suits, pattern)
                if suits & ~wild & ~suits_held == 0:
                    top = _push_base(g, stack, top, frame, order, SET, rank, suits, wild)
    return top


@kernel
def _push_runs(g: Record, stack: Records, top: int, frame: Record, most: int) -> int:
    """Push new runs with up to ``most`` jokers, in their order from the last meld on."""
    e, last = with_high_aces(int(frame["one"])), int(frame["last"])
    for pattern in range(7):
        if count_bits(pattern) > most:
            continue
        bases = BASES
        for place in range(3):
            if pattern >> place & 1 == 0:
                bases &= e >> place
        while bases:
            at = lowest_bit(bases)
            bases &= bases - 1
            order = _RUN_ORDERS + (at << 3) + pattern
            if order >= last:
                low = at & 15
                top = _push_base(g, stack, top, frame, order, RUN, at >> 4, 7 << low, pattern << low)
    return top


@kernel
def _push_next_own(g: Record, stack: Records, top: int, frame: Record) -> int:
    """Push the next meld of this turn that lies on the table as the current one."""
    own = int(frame["own"])
    slot = lowest_bit(own)
    copy_record(stack, top, frame)
    after = stack[top]
    after["own"] = own & (own - 1)
    kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
    _set_current(after, kind, key, int(g["meld_cells"][slot]), int(g["meld_jokers"][slot]), True)
    return top + 1


@kernel
def _push_children(g: Record, stack: Records, top: int, frame: Record, usable: int) -> int:
    """Push all that can be laid next; what is pushed last is tried first."""
    if int(frame["own"]):
        top = _push_next_own(g, stack, top, frame)
    elif int(frame["left"]) - 3 >= min_left(g):
        # Jokers among the three cards first laid (`min_naturals_per_meld`)
        most = min(usable, int(g["max_jokers_per_meld"]), 3 - int(g["min_naturals_per_meld"]))
        top = _push_runs(g, stack, top, frame, most)
        top = _push_sets(g, stack, top, frame, most)
    if int(frame["kind"]):
        top = _push_longer(g, stack, top, frame, usable)
    return top


@kernel
def _first_frame(g: Record, frame: Record) -> None:
    """The hand of the player to move, before anything is laid in the search."""
    seat = int(g["turn"])
    frame["one"] = g["one"][seat]
    frame["two"] = g["two"][seat]
    frame["jokers"] = g["jokers"][seat]
    frame["left"] = g["hand_n"][seat]
    frame["owed"] = 0 if int(g["owed_card"]) == NONE else bit_or_joker(int(g["owed_card"]))
    frame["own"] = g["new_melds"]
    frame["need"] = _points_needed(g)
    frame["fresh"] = 0
    frame["last"] = 0
    _set_current(frame, 0, 0, 0, 0, False)


@kernel
def _points_needed(g: Record) -> int:
    """Points that the player to move still has to lay; a threshold of 0 still wants a meld."""
    need = int(g["opening_points"]) - int(g["laid_points"])
    return need if int(g["new_melds"]) else max(need, 1)


@kernel
def _longer_stack(stack: Records) -> Records:
    """The same frames with as much room again."""
    longer = np.empty(2 * len(stack), FRAME)
    for at in range(len(stack)):
        copy_record(longer, at, stack[at])
    return longer


@island
def _pack_island(address: int, number: int) -> int:
    """Search depth first; place 0 of the stack is the frame looked at.

    ``number`` is the level, plus _FORGIVEN where the card owed is not asked for.
    """
    g, level = game_at(address), number % _FORGIVEN
    stack = np.empty(1024, FRAME)
    _first_frame(g, stack[1])
    if number >= _FORGIVEN:
        stack[1]["owed"] = 0
    best, top = NO, 2
    while top > 1:
        top -= 1
        copy_record(stack, 0, stack[top])
        frame = stack[0]
        if int(frame["kind"]):
            frame["fresh"] = int(frame["fresh"]) | _accepts(
                g, int(frame["kind"]), int(frame["key"]), int(frame["cells"]), int(frame["held"])
            )
        best = max(best, _verdict(g, level, frame))
        if best == YES:
            return YES
        usable = _usable(g, frame)
        if int(frame["left"]) <= min_left(g) or _hopeless(g, frame, usable):
            continue
        if top + _MOST_CHILDREN > len(stack):
            stack = _longer_stack(stack)
        top = _push_children(g, stack, top, stack[0], usable)
    return best


@kernel
def _plainly_not(g: Record) -> bool:
    """Whether it is plain that a player who has laid nothing yet can't open: by far the most frequent case."""
    seat = int(g["turn"])
    one, two = int(g["one"][seat]), int(g["two"][seat])
    usable = 0 if int(g["opening_jokers"]) == AFTER_THRESHOLD else int(g["jokers"][seat])
    if may_close_in_hand_below(g) and _may_empty(one, two, usable):
        return False
    return not _points_reachable(g, one, two, usable, _points_needed(g))


@kernel
def outlook(g: Record, level: int) -> int:
    """NO, YES or UNSURE: can a player below the threshold, or who owes its new melds a card, end its turn by laying?"""
    owes = int(g["owed_card"]) != NONE
    if not owes and int(g["new_melds"]) == 0 and _plainly_not(g):
        return NO
    answer = _pack_island(address_of(g), level)
    if answer != NO or not owes or not (jokers_to_take(g) or int(g["opening_jokers"]) == AFTER_THRESHOLD):
        return answer
    # Once open, the card may go where a joker lies, or down with a joker that only then may be used.
    return NO if _pack_island(address_of(g), level + _FORGIVEN) == NO else UNSURE
