"""Charges at the end of a hand, eliminations, re-entries and the end of the match (rules.md, *Points*)."""

from scala40_env.kernels.bits import count_bits, lowest_bit
from scala40_env.kernels.islands import address_of, game_at, island
from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.lanes import ACES, POSITION_POINTS
from scala40_env.kernels.state import (
    ACE_ONE,
    ACE_ONE_IF_ALONE,
    CLOSED_IN_HAND,
    CLOSED_NONE,
    ELIMINATION,
    HAND_OVER,
    HANDS,
    MATCH_OVER,
    NONE,
    SINGLE_HAND,
    TEAM_WORST,
    TOTAL,
    VOID,
)

__all__ = ["end_hand", "hand_value", "num_units", "unit_of"]

_ACE_LOW, _ACE_HIGH = 0, 13


@kernel
def num_units(g: Record) -> int:
    """How many sides play: teams, or seats where everybody plays alone."""
    return int(g["num_players"]) // int(g["team_size"])


@kernel
def unit_of(g: Record, seat: int) -> int:
    """The side of a seat: seats alternate between the teams."""
    return seat % num_units(g)


@kernel
def _ace_value(g: Record, seat: int) -> int:
    rule, ascending = int(g["ace_in_hand"]), int(g["court_values"])
    if rule == ACE_ONE or (rule == ACE_ONE_IF_ALONE and int(g["hand_n"][seat]) == 1):
        return POSITION_POINTS[ascending, _ACE_LOW]
    return POSITION_POINTS[ascending, _ACE_HIGH]


@kernel
def hand_value(g: Record, seat: int) -> int:
    """Value of all cards left in a hand."""
    one, two = int(g["one"][seat]), int(g["two"][seat])
    ascending = int(g["court_values"])
    aces = count_bits(one & ACES) + count_bits(two & ACES)
    total = int(g["jokers"][seat]) * int(g["joker_in_hand"]) + aces * _ace_value(g, seat)
    for held in (one & ~ACES, two & ~ACES):
        left = held
        while left:
            total += POSITION_POINTS[ascending, lowest_bit(left) & 15]
            left &= left - 1
    return total


@kernel
def _charge(g: Record, seat: int, closing: int) -> int:
    """What a seat that did not close is charged."""
    in_hand = closing == CLOSED_IN_HAND
    full = int(g["in_hand_full_hand"])
    if in_hand and full != NONE and int(g["hand_n"][seat]) >= int(g["hand_size"]):
        return full
    flat = int(g["unopened_points"])
    if flat != NONE and int(g["opened"][seat]) == 0:
        return flat
    value = hand_value(g, seat)
    return value * int(g["in_hand_multiplier"]) if in_hand else value


@kernel
def _bonus(g: Record, closing: int) -> int:
    """What is taken off the total of who closes."""
    return int(g["closing_bonus"]) + (int(g["in_hand_bonus"]) if closing == CLOSED_IN_HAND else 0)


@kernel
def _charge_seats(g: Record, closer: int, closing: int) -> None:
    """Write ``hand_points`` of every seat."""
    void = closing == CLOSED_NONE and int(g["abandoned_hand"]) == VOID
    for seat in range(int(g["num_players"])):
        if int(g["out"][seat]) or void:
            g["hand_points"][seat] = 0
        elif seat == closer:
            g["hand_points"][seat] = -_bonus(g, closing)
        else:
            g["hand_points"][seat] = _charge(g, seat, closing)


@kernel
def _charge_totals(g: Record, closer: int, closing: int) -> None:
    """Add the hand to the totals; every seat shows the total of its side."""
    units, worst = num_units(g), int(g["team_score"]) == TEAM_WORST
    for unit in range(units):
        total, highest = 0, 0
        for seat in range(unit, int(g["num_players"]), units):
            points = 0 if seat == closer else int(g["hand_points"][seat])
            total += points
            highest = max(highest, points)
        delta = highest if worst else total
        if closer != NONE and unit_of(g, closer) == unit:
            delta -= _bonus(g, closing)
        for seat in range(unit, int(g["num_players"]), units):
            g["scores"][seat] = int(g["scores"][seat]) + delta


@kernel
def _count_statistics(g: Record, closer: int) -> None:
    """Count hands won and hands ended unopened, for the tie-breaks."""
    for seat in range(int(g["num_players"])):
        if int(g["out"][seat]) == 0 and int(g["opened"][seat]) == 0 and seat != closer:
            g["unopened_hands"][seat] = int(g["unopened_hands"][seat]) + 1
    if closer != NONE:
        g["hands_won"][closer] = int(g["hands_won"][closer]) + 1


@kernel
def _sum_of_unit(g: Record, counts_won: bool, unit: int) -> int:
    total = 0
    for seat in range(unit, int(g["num_players"]), num_units(g)):
        total += int(g["hands_won"][seat]) if counts_won else int(g["unopened_hands"][seat])
    return total


@kernel
def _beats(g: Record, unit: int, other: int) -> bool:
    """Whether a side is ahead: lower total, then fewer hands ended unopened, then more hands won (002)."""
    if int(g["scores"][unit]) != int(g["scores"][other]):
        return int(g["scores"][unit]) < int(g["scores"][other])
    mine, theirs = _sum_of_unit(g, False, unit), _sum_of_unit(g, False, other)
    if mine != theirs:
        return mine < theirs
    return _sum_of_unit(g, True, unit) > _sum_of_unit(g, True, other)


@kernel
def _leads(g: Record, unit: int, playing: int) -> bool:
    """Whether no side among ``playing`` (bits) is ahead of this one."""
    for other in range(num_units(g)):
        if (playing >> other) & 1 and _beats(g, other, unit):
            return False
    return True


@kernel
def _leaders(g: Record, playing: int) -> int:
    """The sides (bits) that nobody is ahead of."""
    best = 0
    for unit in range(num_units(g)):
        if (playing >> unit) & 1 and _leads(g, unit, playing):
            best |= 1 << unit
    return best


@kernel
def _playing(g: Record) -> int:
    """The sides (bits) that are in the match."""
    units = 0
    for unit in range(num_units(g)):
        if int(g["out"][unit]) == 0:
            units |= 1 << unit
    return units


@kernel
def _stay(g: Record, units: int) -> None:
    """Only these sides stay in the match."""
    for seat in range(int(g["num_players"])):
        g["out"][seat] = 1 - ((units >> unit_of(g, seat)) & 1)


@kernel
def _crown(g: Record, units: int) -> None:
    """The match is over; these sides have won it."""
    for seat in range(int(g["num_players"])):
        g["champion"][seat] = (units >> unit_of(g, seat)) & 1
    g["phase"] = MATCH_OVER


@kernel
def _decide(g: Record, playing: int) -> None:
    """Crown the leader, or let those still equal play one more hand."""
    best, form = _leaders(g, playing), int(g["match"])
    if count_bits(best) == 1 or form == SINGLE_HAND:
        _crown(g, best)
    if form == ELIMINATION or int(g["phase"]) != MATCH_OVER:
        _stay(g, best)


@kernel
def _reenter(g: Record, playing: int, below: int) -> int:
    """Bring sides at the limit back with the worst total among those below it; returns who is in now."""
    if count_bits(below) < 2:
        return below
    worst = -(1 << 30)
    for unit in range(num_units(g)):
        if (below >> unit) & 1:
            worst = max(worst, int(g["scores"][unit]))
    allowed, back = int(g["reentries"]), below
    for unit in range(num_units(g)):
        used = int(g["reentries_used"][unit])
        if (playing & ~below) >> unit & 1 and (allowed == NONE or used < allowed):
            back |= 1 << unit
            for seat in range(unit, int(g["num_players"]), num_units(g)):
                g["scores"][seat] = worst
                g["reentries_used"][seat] = used + 1
    return back


@kernel
def _eliminate(g: Record, playing: int) -> None:
    """Who reaches the limit is out; the last one in wins."""
    below = 0
    for unit in range(num_units(g)):
        if (playing >> unit) & 1 and int(g["scores"][unit]) < int(g["limit"]):
            below |= 1 << unit
    if below == 0:
        _decide(g, playing)
        return
    left = _reenter(g, playing, below)
    _stay(g, left)
    if count_bits(left) == 1:
        _crown(g, left)


@kernel
def _reached(g: Record, playing: int) -> bool:
    """Whether a total has reached the limit (``match="total"``)."""
    for unit in range(num_units(g)):
        if (playing >> unit) & 1 and int(g["scores"][unit]) >= int(g["limit"]):
            return True
    return False


@kernel
def _end_or_go_on(g: Record) -> None:
    """Decide whether the match is over after this hand."""
    form, playing = int(g["match"]), _playing(g)
    g["phase"] = HAND_OVER
    if form == ELIMINATION:
        _eliminate(g, playing)
    elif (
        form == SINGLE_HAND
        or (form == HANDS and int(g["hand_no"]) + 1 >= int(g["num_hands"]))
        or (form == TOTAL and _reached(g, playing))
    ):
        _decide(g, playing)


@island
def _end_hand_island(address: int, closing: int) -> int:
    g = game_at(address)
    closer = NONE if closing == CLOSED_NONE else int(g["turn"])
    g["winner"] = closer
    g["closing"] = closing
    _charge_seats(g, closer, closing)
    _charge_totals(g, closer, closing)
    _count_statistics(g, closer)
    _end_or_go_on(g)
    return 0


@kernel
def end_hand(g: Record, closing: int) -> None:
    """Charge everybody, and end the match if it is decided.

    The player to move has closed the hand, or (CLOSED_NONE) it is abandoned.
    """
    _end_hand_island(address_of(g), closing)
