"""What a seat knows as a vector of int8, and all that there is as another: the parts that the schemas describe.

Where a part begins is said by the schema (`scala40_env.observation`), in the layout that goes in beside the game;
nothing here knows a size that depends on the number of players. Every vector is zeroed, and then only what is not zero
is written. Seats go by order of play, the observer being seat 0.
"""

import numpy as np

from scala40_env.kernels.bits import count_bits, highest_bit, int8_at, int32_at, int64_at, lowest_bit, store_bytes
from scala40_env.kernels.deal import pozzo_top
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.lanes import bit_of, natural_bits, with_high_aces
from scala40_env.kernels.moves import closing_allowed
from scala40_env.kernels.phases import is_over
from scala40_env.kernels.state import (
    GAME,
    JOKER,
    JOKER_BIT,
    NONE,
    PACK,
    RULE_NAMES,
    RUN,
)
from scala40_env.kernels.table import (
    accepted_bits,
    accepts_joker,
    missing_suit,
    next_high,
    next_low,
    replaceable_bits,
)

__all__ = [
    "GRID",
    "MOST",
    "PARTS",
    "SLOT_FEATURES",
    "SMALL_RULES",
    "WIDE_RULES",
    "observe",
    "write_observation",
    "write_state",
]

#: Cells of a grid of cards: four suits by fourteen ranks, the ace at both ends.
GRID = 4 * 14
#: What the numbers without a natural bound are clipped to, both ways.
MOST = 127

#: The parts: where each begins stands at its number in a layout (int64[len(PARTS)]), or -1 if a schema lacks it.
PARTS = (
    "hand",
    "stock_next",
    "pozzo",
    "pozzo_top",
    "table",
    "table_jokers",
    "attaches",
    "replaces",
    "owed",
    "barred",
    "known",
    "threw",
    "took",
    "hand_jokers",
    "stock_next_joker",
    "pozzo_jokers",
    "pozzo_top_joker",
    "attaches_joker",
    "owed_joker",
    "barred_joker",
    "known_jokers",
    "threw_joker",
    "took_joker",
    "slots",
    "phase",
    "on_move",
    "turn",
    "mover",
    "dealer",
    "hand_sizes",
    "opened",
    "out",
    "scores",
    "reentries_used",
    "hands_won",
    "unopened_hands",
    "recovered_jokers",
    "laid_points",
    "laid_natural_points",
    "points_needed",
    "touched_table",
    "may_close",
    "lap",
    "stock_size",
    "pozzo_size",
    "reshuffles",
    "hands_played",
    "rules",
)
(
    _HAND,
    _STOCK_NEXT,
    _POZZO,
    _POZZO_TOP,
    _TABLE,
    _TABLE_JOKERS,
    _ATTACHES,
    _REPLACES,
    _OWED,
    _BARRED,
    _KNOWN,
    _THREW,
    _TOOK,
    _HAND_JOKERS,
    _STOCK_NEXT_JOKER,
    _POZZO_JOKERS,
    _POZZO_TOP_JOKER,
    _ATTACHES_JOKER,
    _OWED_JOKER,
    _BARRED_JOKER,
    _KNOWN_JOKERS,
    _THREW_JOKER,
    _TOOK_JOKER,
    _SLOTS,
    _PHASE,
    _ON_MOVE,
    _TURN,
    _MOVER,
    _DEALER,
    _HAND_SIZES,
    _OPENED,
    _OUT,
    _SCORES,
    _REENTRIES_USED,
    _HANDS_WON,
    _UNOPENED_HANDS,
    _RECOVERED_JOKERS,
    _LAID_POINTS,
    _LAID_NATURAL_POINTS,
    _POINTS_NEEDED,
    _TOUCHED_TABLE,
    _MAY_CLOSE,
    _LAP,
    _STOCK_SIZE,
    _POZZO_SIZE,
    _RESHUFFLES,
    _HANDS_PLAYED,
    _RULES,
) = range(len(PARTS))


def _offset_of(name: str) -> int:
    """Where a field begins in a record."""
    fields = GAME.fields
    assert fields is not None
    return int(fields[name][1])


#: The options in the order in which an observation has them: those of few values, then the others.
SMALL_RULES, WIDE_RULES = (tuple(name for name in RULE_NAMES if GAME[name].itemsize == size) for size in (1, 4))
#: Where they begin in a record; each kind lies there in a row.
_SMALL_AT, _WIDE_AT = _offset_of(SMALL_RULES[0]), _offset_of(WIDE_RULES[0])
_SMALL_WORDS = -(-len(SMALL_RULES) // 8)
assert len(RULE_NAMES) >= 8 * _SMALL_WORDS  # so that whole words stay within the part
#: Where the cards of stock and pozzo begin in a record.
_PILE_AT = _offset_of("pile")

#: What is said of each meld; positions are those in a grid of cards, from 1, and 0 is none.
SLOT_FEATURES = (
    *("run", "set", "size", "jokers", "new", "swapped", "accepts_joker", "first", "last", "low", "high"),
    *("joker_1", "joker_2", "joker_3", "joker_4"),
)
_IS_RUN, _IS_SET, _SIZE, _JOKERS, _NEW, _SWAPPED, _ACCEPTS, _FIRST, _LAST, _LOW, _HIGH, _JOKER_1 = range(12)
_NUM_FEATURES = len(SLOT_FEATURES)

#: The fourteen ranks of a suit.
_ROW = 0x3FFF
#: Eight bits as eight bytes.
_BYTES = np.array([sum((bits >> k & 1) << 8 * k for k in range(8)) for bits in range(256)], np.int64)
#: The bits of the 52 cards and the joker.
_CARD_BITS = np.array([*(1 << (card // 13 * 16 + card % 13) for card in range(52)), JOKER_BIT], np.int64)


# ---------------------------------------------------------------------------------------------------------------------
# Numbers


@kernel
def _clipped(number: int) -> int:
    """A number as far as eight bits hold it."""
    return min(max(number, -MOST), MOST)


@kernel
def _squeezed(number: int) -> int:
    """A number up to a million in seven bits: exact below 64, then four steps for each doubling; -1 stays."""
    if number < 64:
        return number
    power = highest_bit(number)
    return 64 + 4 * (power - 6) + (number >> (power - 2) & 3)


@kernel
def _points_needed(g: Record) -> int:
    """Points that the seat on move still has to lay before it has opened."""
    if is_over(g) or int(g["opened"][int(g["turn"])]):
        return 0
    return max(int(g["opening_points"]) - int(g["laid_points"]), 0)


# ---------------------------------------------------------------------------------------------------------------------
# Cards


@kernel
def _write_cards(out: np.ndarray, at: int, cards: int) -> None:
    """Mark a set of natural cards in the plane that begins at ``at``; a joker among them is passed over."""
    e = with_high_aces(cards & ~JOKER_BIT)
    # lanes are 16 bits wide, rows of the grid 14
    cells = (e & _ROW) | (e >> 2 & _ROW << 14) | (e >> 4 & _ROW << 28) | (e >> 6 & _ROW << 42)
    for word in range(GRID // 8):
        store_bytes(out, at + 8 * word, _BYTES[cells >> 8 * word & 255])


@kernel
def _write_held(out: np.ndarray, at: int, one: int, two: int) -> None:
    """Mark in two planes the cards that are there at least once, and those that are there twice."""
    if one:
        _write_cards(out, at, one)
    if two:
        _write_cards(out, at + GRID, two)


@kernel
def _write_card(out: np.ndarray, grid: int, joker: int, card: int) -> None:
    """Mark one card, if it is one: in its plane, or at the number that stands for a joker."""
    if card == JOKER:
        out[joker] = 1
    elif card != NONE:
        _write_cards(out, grid, bit_of(card))


@kernel
def _pozzo_jokers(g: Record) -> int:
    jokers = 0
    for place in range(PACK - int(g["pozzo_n"]), PACK):
        jokers += 1 if int8_at(g, _PILE_AT + place) == JOKER else 0
    return jokers


@kernel
def _write_pozzo(g: Record, at: np.ndarray, out: np.ndarray) -> None:
    """Its cards, and the top one."""
    one, two = 0, 0
    for place in range(PACK - int(g["pozzo_n"]), PACK):
        bit = _CARD_BITS[int8_at(g, _PILE_AT + place)]
        two |= one & bit
        one |= bit
    _write_held(out, at[_POZZO], one, two)
    if one & JOKER_BIT:
        out[at[_POZZO_JOKERS]] = _pozzo_jokers(g)
    _write_card(out, at[_POZZO_TOP], at[_POZZO_TOP_JOKER], pozzo_top(g))


# ---------------------------------------------------------------------------------------------------------------------
# The table


@kernel
def _position(kind: int, key: int, cell: int) -> int:
    """Where the card of a cell of a meld lies in the grid, from 1; 0 for no cell. The ace of a set is the low one."""
    if cell == NONE:
        return 0
    return key * 14 + cell + 1 if kind == RUN else cell * 14 + key + 1


@kernel
def _write_slot(g: Record, slot: int, out: np.ndarray, at: int) -> None:
    """The features of one meld."""
    kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
    cells, jokers = int(g["meld_cells"][slot]), int(g["meld_jokers"][slot])
    max_run, max_jokers = int(g["max_run_length"]), int(g["max_jokers_per_meld"])
    out[at + _SIZE] = count_bits(cells)
    out[at + _NEW] = int(g["new_melds"]) >> slot & 1
    out[at + _SWAPPED] = int(g["swapped_melds"]) >> slot & 1
    out[at + _ACCEPTS] = 1 if accepts_joker(kind, cells, jokers, max_run, max_jokers) else 0
    out[at + _FIRST] = _position(kind, key, lowest_bit(cells))
    out[at + _LAST] = _position(kind, key, highest_bit(cells))
    if kind == RUN:
        out[at + _IS_RUN] = 1
        out[at + _LOW] = _position(kind, key, next_low(cells, max_run))
        out[at + _HIGH] = _position(kind, key, next_high(cells, max_run))
    else:
        out[at + _IS_SET] = 1
        out[at + _LOW] = _position(kind, key, missing_suit(cells))
    if jokers:
        _write_slot_jokers(out, at, kind, key, jokers)


@kernel
def _write_slot_jokers(out: np.ndarray, at: int, kind: int, key: int, jokers: int) -> None:
    """How many jokers a meld has, and where each of them lies."""
    number = 0
    while jokers:
        out[at + _JOKER_1 + number] = _position(kind, key, lowest_bit(jokers))
        number += 1
        jokers &= jokers - 1
    out[at + _JOKERS] = number


@kernel
def _write_table(g: Record, at: np.ndarray, out: np.ndarray) -> None:
    """The melds one by one, and the cards on the table and those that it takes."""
    one, two, wild, attaches, replaces, takes_joker = 0, 0, 0, 0, 0, 0
    max_run, max_jokers = int(g["max_run_length"]), int(g["max_jokers_per_meld"])
    if int(g["meld_n"]) == 0:
        return
    for slot in range(int(g["meld_n"])):
        kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
        cells, jokers = int(g["meld_cells"][slot]), int(g["meld_jokers"][slot])
        naturals = natural_bits(kind, key, cells, jokers)
        two |= one & naturals
        one |= naturals
        attaches |= accepted_bits(kind, key, cells, jokers, max_run)
        if accepts_joker(kind, cells, jokers, max_run, max_jokers):
            takes_joker = 1
        if jokers:
            wild |= natural_bits(kind, key, jokers, 0)
            replaces |= replaceable_bits(kind, key, cells, jokers)
        _write_slot(g, slot, out, at[_SLOTS] + slot * _NUM_FEATURES)
    _write_held(out, at[_TABLE], one, two)
    _write_cards(out, at[_ATTACHES], attaches)
    if wild:
        _write_cards(out, at[_TABLE_JOKERS], wild)
        _write_cards(out, at[_REPLACES], replaces)
    out[at[_ATTACHES_JOKER]] = takes_joker


# ---------------------------------------------------------------------------------------------------------------------
# The seats


@kernel
def _write_history(g: Record, seat: int, k: int, at: np.ndarray, out: np.ndarray) -> None:
    """What everybody saw a seat take and throw."""
    threw, took = int(g["threw"][seat]), int(g["took"][seat])
    _write_held(out, at[_KNOWN] + 2 * GRID * k, int(g["known_one"][seat]), int(g["known_two"][seat]))
    if threw:
        _write_cards(out, at[_THREW] + GRID * k, threw)
    if took:
        _write_cards(out, at[_TOOK] + GRID * k, took)
    out[at[_KNOWN_JOKERS] + k] = int(g["known_jokers"][seat])
    out[at[_THREW_JOKER] + k] = 1 if threw & JOKER_BIT else 0
    out[at[_TOOK_JOKER] + k] = 1 if took & JOKER_BIT else 0


@kernel
def _write_standing(g: Record, seat: int, k: int, at: np.ndarray, out: np.ndarray) -> None:
    """How a seat stands in the hand and in the match."""
    out[at[_HAND_SIZES] + k] = int(g["hand_n"][seat])
    out[at[_OPENED] + k] = int(g["opened"][seat])
    out[at[_SCORES] + k] = _clipped(100 * int(g["scores"][seat]) // int(g["limit"]))
    out[at[_REENTRIES_USED] + k] = _clipped(int(g["reentries_used"][seat]))
    out[at[_HANDS_WON] + k] = _clipped(int(g["hands_won"][seat]))
    out[at[_UNOPENED_HANDS] + k] = _clipped(int(g["unopened_hands"][seat]))


@kernel
def _mark_seat(out: np.ndarray, at: int, steps: int, n: int) -> None:
    """Mark the seat so many places after the observer, or before it."""
    out[at + (steps if steps >= 0 else steps + n)] = 1


@kernel
def _write_seats(g: Record, observer: int, at: np.ndarray, out: np.ndarray) -> None:
    """All seats in order of play from the observer on; of who is out of the match only that."""
    n = int(g["num_players"])
    for k in range(n):
        seat = observer + k if observer + k < n else observer + k - n
        if int(g["out"][seat]):
            out[at[_OUT] + k] = 1
        else:
            _write_history(g, seat, k, at, out)
            _write_standing(g, seat, k, at, out)
    if not is_over(g):
        _mark_seat(out, at[_TURN], int(g["turn"]) - observer, n)
    _mark_seat(out, at[_MOVER], int(g["mover"]) - observer, n)
    _mark_seat(out, at[_DEALER], int(g["dealer"]) - observer, n)


# ---------------------------------------------------------------------------------------------------------------------
# Turn, hand, rules


@kernel
def _write_turn(g: Record, at: np.ndarray, out: np.ndarray) -> None:
    """What the seat on move has done in this turn, and what it still has to do."""
    _write_card(out, at[_OWED], at[_OWED_JOKER], int(g["owed_card"]))
    _write_card(out, at[_BARRED], at[_BARRED_JOKER], int(g["barred_card"]))
    out[at[_PHASE] + int(g["phase"])] = 1
    out[at[_RECOVERED_JOKERS]] = int(g["recovered_jokers"])
    out[at[_LAID_POINTS]] = _clipped(int(g["laid_points"]))
    out[at[_LAID_NATURAL_POINTS]] = _clipped(int(g["laid_natural_points"]))
    out[at[_POINTS_NEEDED]] = _clipped(_points_needed(g))
    out[at[_TOUCHED_TABLE]] = int(g["touched_table"])


@kernel
def _write_hand_numbers(g: Record, at: np.ndarray, out: np.ndarray) -> None:
    """How far the hand and the match have gone."""
    out[at[_MAY_CLOSE]] = 1 if closing_allowed(g) else 0
    out[at[_LAP]] = _clipped(int(g["turns_played"]) // max(int(g["seats_in"]), 1))
    out[at[_STOCK_SIZE]] = int(g["stock_n"])
    out[at[_POZZO_SIZE]] = int(g["pozzo_n"])
    out[at[_RESHUFFLES]] = _clipped(int(g["shuffles"]))
    out[at[_HANDS_PLAYED]] = _clipped(int(g["hand_no"]))


@kernel
def _write_rules(g: Record, at: np.ndarray, out: np.ndarray) -> None:
    """Every option as one number."""
    place = at[_RULES]
    for word in range(_SMALL_WORDS):  # the bytes of the last word that are no options are overwritten by what follows
        store_bytes(out, place + 8 * word, int64_at(g, _SMALL_AT + 8 * word))
    place += len(SMALL_RULES)
    for number in range(len(WIDE_RULES)):
        out[place + number] = _squeezed(int32_at(g, _WIDE_AT + 4 * number))


@kernel
def _write_public(g: Record, observer: int, at: np.ndarray, out: np.ndarray) -> None:
    """All that everybody sees, with the seats as the observer counts them."""
    _write_pozzo(g, at, out)
    _write_table(g, at, out)
    _write_seats(g, observer, at, out)
    _write_turn(g, at, out)
    _write_hand_numbers(g, at, out)
    _write_rules(g, at, out)


# ---------------------------------------------------------------------------------------------------------------------
# The doors


@kernel
def observe(g: Record, seat: int, layout: np.ndarray, out: np.ndarray) -> None:
    """Write what a seat knows into ``out``: int8[size] of the schema whose layout this is."""
    out[:] = 0
    _write_held(out, layout[_HAND], int(g["one"][seat]), int(g["two"][seat]))
    out[layout[_HAND_JOKERS]] = int(g["jokers"][seat])
    out[layout[_ON_MOVE]] = 1 if int(g["turn"]) == seat and not is_over(g) else 0
    _write_public(g, seat, layout, out)


@entry
def write_observation(games: Records, i: int, seat: int, layout: np.ndarray, out: np.ndarray) -> None:
    """Write what ``seat`` knows of game ``i`` into ``out`` (int8[size]), by the layout of an observation schema."""
    observe(games[i], seat, layout, out)


@entry
def write_state(games: Records, i: int, layout: np.ndarray, out: np.ndarray) -> None:
    """Write all of game ``i``, hidden cards too, into ``out`` (int8[size]), by the layout of a state schema."""
    g = games[i]
    out[:] = 0
    for seat in range(int(g["num_players"])):
        _write_held(out, layout[_HAND] + 2 * GRID * seat, int(g["one"][seat]), int(g["two"][seat]))
        out[layout[_HAND_JOKERS] + seat] = int(g["jokers"][seat])
    n = int(g["stock_n"])
    if n:
        _write_card(out, layout[_STOCK_NEXT], layout[_STOCK_NEXT_JOKER], int(g["pile"][n - 1]))
    _write_public(g, 0, layout, out)
