"""Exact legal moves: those after which the turn can still be ended (rules.md, *No dead ends*).

Most decisions need no search. Who has opened and owes nothing only needs a card to discard; who has not opened asks the
opening solver once, and once for each candidate if it says yes. What is left (a pozzo card or a recovered joker to
place, every card attaching under the ban) is searched move by move on copies of the record, with the very kernels that
play the moves.
"""

import numpy as np

from scala40_env.kernels.actions import (
    BUY,
    PASS,
    POZZO,
    STOCK,
    is_attach,
    is_meld,
    is_swap,
    jokers_of,
    meld_of,
    slot_of,
)
from scala40_env.kernels.bits import copy_record, count_bits, keep, lowest_bit, mix
from scala40_env.kernels.deal import can_draw, pozzo_top
from scala40_env.kernels.hands import give
from scala40_env.kernels.islands import MOST_MOVES, address_of, game_at, island, moves_at
from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.lanes import (
    bit_of,
    may_be_melded,
    natural_bits,
    pairs_in_sets,
    run_bases,
    with_high_aces,
)
from scala40_env.kernels.moves import (
    ALL_RULES,
    JOKERS_LIFTED,
    ban_binds,
    discardable,
    emit_discards,
    emit_table_moves,
    jokers_to_take,
    min_left,
    owes,
)
from scala40_env.kernels.packing import NO, UNSURE, YES, outlook
from scala40_env.kernels.state import (
    BUY as PHASE_BUY,
)
from scala40_env.kernels.state import (
    DRAW,
    GAME,
    JOKER,
    NONE,
    PLAY,
    RECOVERED_KEEP,
    RECOVERED_NEW,
    RUN,
)
from scala40_env.kernels.table import accepted_bits, accepts_joker, replaceable_bits
from scala40_env.kernels.turn import (
    apply_pozzo,
    apply_table_move,
    attach_target,
    began_unopened,
    pozzo_card_is_kept,
    upcard_is_free,
)

__all__ = ["MOST_MOVES", "can_finish", "fingerprint", "legal_moves", "pozzo_is_legal", "seat_can_buy"]

#: States that a search looks at before it begins to remember which it has seen; room for them at first, and at most.
_MEMORY_FROM, _FIRST_ROOM, _MOST_ROOM = 48, 1 << 10, 1 << 24
#: Bits of a hash that 36 melds can add up without reaching the sign.
_SUMMAND = (1 << 56) - 1


# ---------------------------------------------------------------------------------------------------------------------
# Steps of a search over the rest of the turn


@kernel
def _bring_forward(g: Record, moves: np.ndarray, start: int, end: int) -> None:
    """Put the moves that settle a debt last, where the search takes them first."""
    owed = int(g["owed_card"])
    owed_bit = bit_of(owed) if owed >= 0 and owed != JOKER else 0
    top = end - 1
    at = start
    while at < top:
        if _uses(g, int(moves[at]), owed_bit):
            kept = moves[at]
            moves[at] = moves[top]
            moves[top] = kept
            top -= 1
        else:
            at += 1


@kernel
def _uses(g: Record, action: int, bit: int) -> bool:
    """Whether a move puts this card, or a joker, on the table."""
    return jokers_of(action) > 0 or bits_of_move(g, action) & bit != 0


@kernel
def bits_of_move(g: Record, action: int) -> int:
    """The natural cards that a move to the table takes out of the hand."""
    if is_meld(action):
        kind, key, cells, jokers = meld_of(action)
        return natural_bits(kind, key, cells, jokers)
    if is_attach(action):
        return 0 if jokers_of(action) else attach_target(g, action)[1]
    slot = slot_of(action)
    kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
    return replaceable_bits(kind, key, int(g["meld_cells"][slot]), int(g["meld_jokers"][slot]))


@kernel
def fingerprint(g: Record) -> int:
    """Hash of all that decides the rest of the turn; melds laid in another order give the same."""
    seat = int(g["turn"])
    debts = int(g["jokers"][seat]) | int(g["opened"][seat]) << 8 | int(g["recovered_jokers"]) << 16
    debts |= (int(g["owed_card"]) + 1) << 24 | (int(g["barred_card"]) + 1) << 32 | int(g["touched_table"]) << 40
    debts |= int(g["laid_points"]) << 44
    melds = 0
    for slot in range(int(g["meld_n"])):
        word = int(g["meld_cells"][slot]) | int(g["meld_jokers"][slot]) << 16 | int(g["meld_key"][slot]) << 32
        word |= int(g["meld_kind"][slot]) << 40
        word |= (int(g["new_melds"]) >> slot & 1) << 44 | (int(g["swapped_melds"]) >> slot & 1) << 45
        melds += mix(word) & _SUMMAND  # a sum, for two equal melds would cancel each other out in an exclusive or
    return mix(int(g["one"][seat])) ^ mix(int(g["two"][seat]) | 1 << 62) ^ mix(debts) ^ mix(melds)


@kernel
def _remember(seen: np.ndarray, key: int) -> bool:
    """Whether a key was seen before; remembers it where there is room."""
    size = len(seen)
    at = key & (size - 1)
    for _ in range(16):
        if seen[at] == key:
            return True
        if seen[at] == 0:
            seen[at] = key
            return False
        at = (at + 1) & (size - 1)
    return False


@kernel
def _with_more_room(seen: np.ndarray) -> np.ndarray:
    """The same memory with four times the room."""
    larger = np.zeros(4 * len(seen), np.int64)
    for key in seen:
        if key:
            _remember(larger, key)
    return larger


@kernel
def _expand(g: Record, moves: np.ndarray, n: int) -> int:
    """Append all moves to the table that the rules allow; the search takes them from the end."""
    start = n
    n = emit_table_moves(g, int(g["hand_n"][int(g["turn"])]) - min_left(g), moves, n)
    if owes(g):
        _bring_forward(g, moves, start, n)
    return n


@kernel
def _is_done(g: Record, level: int) -> bool:
    """Whether the hand is closed or a discard ends the turn."""
    if int(g["phase"]) != PLAY:
        return True
    bits, joker = discardable(g, level)
    return bits != 0 or joker


@kernel
def _is_stuck(g: Record, level: int) -> bool:
    """Whether it is plain that the turn can't be ended from here."""
    owed = int(g["owed_card"])
    if owed == JOKER and not _joker_has_place(g, began_unopened(g)):
        return True
    if owed >= 0 and owed != JOKER and not _card_has_place(g, owed):
        return True
    if int(g["opened"][int(g["turn"])]) == 0:
        return outlook(g, level) == NO
    if int(g["recovered_jokers"]) == 0:
        return False
    return not _joker_has_place(g, int(g["recovered_joker"]) == RECOVERED_NEW)


# ---------------------------------------------------------------------------------------------------------------------
# Cheap necessary conditions: generous where a yes costs only a search


@kernel
def _bridged(e: int, low: int, high: int, jokers: int) -> bool:
    """Whether the positions from low to high are all held, but for as many as there are jokers."""
    gaps = 0
    for position in range(low, high + 1):
        gaps += 1 - (e >> position & 1)
    return gaps <= jokers


@kernel
def _meld_may_take(g: Record, slot: int, card: int, one: int, jokers: int) -> bool:
    """Whether a meld might take a card once it has been made longer with cards of the hand and jokers."""
    kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
    cells, held = int(g["meld_cells"][slot]), int(g["meld_jokers"][slot])
    if held and replaceable_bits(kind, key, cells, held) & bit_of(card):
        return True
    if kind != RUN:
        return accepted_bits(kind, key, cells, held, 14) & bit_of(card) != 0
    if key != card // 13:
        return False
    jokers = min(jokers, int(g["max_jokers_per_meld"]))
    e = with_high_aces(one) >> (key << 4) & 0x3FFF
    low = lowest_bit(cells)
    high = low + count_bits(cells) - 1
    for position in range(card % 13, 14, 13):
        if position > high and _bridged(e, high + 1, position - 1, jokers):
            return True
        if position < low and _bridged(e, position + 1, low - 1, jokers):
            return True
    return False


@kernel
def _card_has_place(g: Record, card: int) -> bool:
    """Whether the pozzo card might still be used; False is certain."""
    one = int(g["one"][int(g["turn"])])
    if one & bit_of(card) == 0:
        return False
    jokers = int(g["jokers"][int(g["turn"])]) + jokers_to_take(g)
    if may_be_melded(one, card, min(jokers, int(g["max_jokers_per_meld"])), int(g["min_naturals_per_meld"])):
        return True
    only_new = began_unopened(g)
    for slot in range(int(g["meld_n"])):
        if only_new and (int(g["new_melds"]) >> slot) & 1 == 0:
            continue
        if _meld_may_take(g, slot, card, one, jokers):
            return True
    return False


@kernel
def _joker_has_place(g: Record, only_new: bool) -> bool:
    """Whether a joker that has to be used, in a new meld or anywhere, might find a place; False is certain."""
    seat = int(g["turn"])
    one = int(g["one"][seat])
    if int(g["max_jokers_per_meld"]) >= 2 and int(g["jokers"][seat]) + jokers_to_take(g) >= 2:
        return True
    if pairs_in_sets(one):
        return True
    e = with_high_aces(one)
    if run_bases(e, 1) | run_bases(e, 2) | run_bases(e, 3):
        return True
    max_run, max_jokers = int(g["max_run_length"]), int(g["max_jokers_per_meld"])
    for slot in range(int(g["meld_n"])):
        if only_new and (int(g["new_melds"]) >> slot) & 1 == 0:
            continue
        kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
        cells, held = int(g["meld_cells"][slot]), int(g["meld_jokers"][slot])
        if accepts_joker(kind, cells, held, max_run, max_jokers):
            return True
        if held and replaceable_bits(kind, key, cells, held) & one:
            return True  # its own joker can go first
    return False


# ---------------------------------------------------------------------------------------------------------------------
# The search, and when it is asked


@island
def _search_island(address: int, level: int) -> int:
    """Search the rest of the turn for a way to end it: exact, whatever the rules. 1 if there is one."""
    g = game_at(address)
    deepest = 2 * int(g["hand_n"][int(g["turn"])]) + 2  # every move uses up a natural card or a joker got for one
    work = np.empty(deepest + 1, GAME)
    moves = np.empty((deepest + 1) * MOST_MOVES, np.int16)
    starts = np.zeros(deepest + 2, np.int64)
    seen, looked, kept = np.zeros(1, np.int64), 0, 0
    copy_record(work, 0, g)
    if _is_stuck(work[0], level):
        return 0
    depth, n = 0, _expand(work[0], moves, 0)
    while depth >= 0:
        if n == starts[depth]:
            depth -= 1
            continue
        n -= 1
        copy_record(work, depth + 1, work[depth])
        state = work[depth + 1]
        apply_table_move(state, int(moves[n]))
        if _is_done(state, level):
            return 1
        if _is_stuck(state, level):
            continue
        looked += 1
        if looked == _MEMORY_FROM:
            seen = np.zeros(_FIRST_ROOM, np.int64)
        if looked > _MEMORY_FROM:
            if _remember(seen, fingerprint(state)):
                continue
            kept += 1
            if 2 * kept > len(seen) and len(seen) < _MOST_ROOM:
                seen = _with_more_room(seen)
        depth += 1
        starts[depth] = n
        n = _expand(state, moves, n)
    return 0


@kernel
def can_finish(g: Record, level: int) -> bool:
    """Whether the player to move can end its turn legally from here, with the rules on discards lifted to ``level``."""
    if int(g["phase"]) != PLAY:
        return True  # the last move closed the hand
    bits, joker = discardable(g, level)
    if bits or joker:
        return True
    if began_unopened(g) and int(g["touched_table"]) == 0 and int(g["recovered_jokers"]) == 0:
        answer = outlook(g, level)
        if answer != UNSURE and (answer == YES or int(g["opened"][int(g["turn"])]) == 0):
            return answer == YES
    return _search_island(address_of(g), level) != 0


# ---------------------------------------------------------------------------------------------------------------------
# Drawing


@kernel
def _can_finish_with_pozzo(g: Record) -> bool:
    """Take the top card of the pozzo; whether the turn can be ended then."""
    opened, kept = int(g["opened"][int(g["turn"])]) != 0, pozzo_card_is_kept(g)
    apply_pozzo(g)
    if not kept and opened and _is_stuck(g, ALL_RULES):
        return False
    return can_finish(g, ALL_RULES)


@kernel
def pozzo_is_legal(g: Record) -> bool:
    """Whether the seat on move may take the top card of the pozzo."""
    card = pozzo_top(g)
    if card == NONE:
        return False
    opened = int(g["opened"][int(g["turn"])]) != 0
    if not opened and not upcard_is_free(g) and int(g["opening_from_pozzo"]) == 0:
        return False
    trial = np.empty(1, GAME)
    copy_record(trial, 0, g)
    legal = _can_finish_with_pozzo(trial[0])
    keep(trial)
    return legal


@kernel
def _legal_draws(g: Record, out: np.ndarray) -> int:
    n = 0
    if can_draw(g):
        out[n] = STOCK
        n += 1
    if pozzo_is_legal(g):
        out[n] = POZZO
        n += 1
    return n


# ---------------------------------------------------------------------------------------------------------------------
# Playing


@kernel
def _lowest_level(g: Record) -> int:
    """How far the rules on discards have to be lifted for the turn to end at all; -1 if nothing helps."""
    for level in range(ALL_RULES, JOKERS_LIFTED + 1):
        if can_finish(g, level):
            return level
    return NONE


@kernel
def _keep_finishable(g: Record, level: int, out: np.ndarray, start: int, n: int) -> int:
    """Keep the moves after which the turn can still be ended: each is tried on a copy."""
    trial = np.empty(1, GAME)
    kept = start
    for at in range(start, n):
        action = int(out[at])
        copy_record(trial, 0, g)
        state = trial[0]
        apply_table_move(state, action)
        if can_finish(state, level):
            out[kept] = action
            kept += 1
    return kept


@kernel
def _fresh_ban(g: Record, action: int) -> int:
    """What the meld that a move makes or changes accepts afterwards."""
    if is_meld(action):
        kind, key, cells, held = meld_of(action)
    else:
        slot, joker = slot_of(action), jokers_of(action)
        kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
        cell = attach_target(g, action)[0]
        cells = int(g["meld_cells"][slot]) | 1 << cell
        held = int(g["meld_jokers"][slot]) | joker << cell
    bits = accepted_bits(kind, key, cells, held, int(g["max_run_length"]))
    return bits | (replaceable_bits(kind, key, cells, held) if held else 0)


@kernel
def _leaves_a_discard(g: Record, action: int, free: int) -> bool:
    """Whether a card of ``free`` (held and not banned before the move) can surely be discarded after it."""
    two, used = int(g["two"][int(g["turn"])]), bits_of_move(g, action)
    return free & ~(used & ~two) & ~_fresh_ban(g, action) != 0


@kernel
def _split_sure_moves(g: Record, level: int, free: int, out: np.ndarray, start: int, n: int) -> int:
    """Put moves of an opened player who owes nothing first if they surely leave an end; returns how many do."""
    hand = int(g["hand_n"][int(g["turn"])])
    plain_last = int(g["barred_card"]) == NONE and int(g["closing_joker_discard"]) != 0
    bound = level == ALL_RULES and ban_binds(g, True)
    keeps = int(g["recovered_joker"]) == RECOVERED_KEEP
    sure = start
    for at in range(start, n):
        action = int(out[at])
        swap = is_swap(action)
        left = hand - (0 if swap else 3 if is_meld(action) else 1)
        if swap and not keeps:
            good = False
        elif left >= 2:
            good = not bound or (not swap and _leaves_a_discard(g, action, free))
        else:
            good = plain_last and left >= min_left(g)
        if good:
            out[at] = out[sure]
            out[sure] = action
            sure += 1
    return sure


@kernel
def _legal_plays(g: Record, out: np.ndarray) -> int:
    """The legal moves of the phase ``play``."""
    seat, level = int(g["turn"]), ALL_RULES
    bits, joker = discardable(g, level)
    if bits == 0 and not joker:
        level = _lowest_level(g)
        if level == NONE:
            return 0
        bits, joker = discardable(g, level)
    opened, debts = int(g["opened"][seat]) != 0, owes(g)
    n = emit_discards(bits, joker, out, 0)
    if not opened and n and outlook(g, level) == NO:
        return n
    start = n
    n = emit_table_moves(g, int(g["hand_n"][seat]) - min_left(g), out, n)
    if opened and not debts:
        start = _split_sure_moves(g, level, bits, out, start, n)
    return _keep_finishable(g, level, out, start, n) if start < n else n


# ---------------------------------------------------------------------------------------------------------------------
# Buying


@kernel
def _buying_moves(g: Record, out: np.ndarray) -> int:
    """The buyer's one move: a meld or an attach with the card that it took; a card has to stay in the hand."""
    card, seat = int(g["owed_card"]), int(g["turn"])
    n = emit_table_moves(g, int(g["hand_n"][seat]) - 1, out, 0)
    kept = 0
    for at in range(n):
        action = int(out[at])
        if is_swap(action):
            continue
        if jokers_of(action) > 0 if card == JOKER else bits_of_move(g, action) & bit_of(card) != 0:
            out[kept] = action
            kept += 1
    return kept


@kernel
def seat_can_buy(g: Record, seat: int) -> bool:
    """Whether a seat has opened and could use the top card of the pozzo at once with one meld or one attach (002)."""
    card = pozzo_top(g)
    if card == NONE or int(g["opened"][seat]) == 0 or int(g["stock_n"]) + int(g["pozzo_n"]) < 3:
        return False
    trial = np.empty(1, GAME)
    copy_record(trial, 0, g)
    state = trial[0]
    state["turn"] = seat
    give(state, seat, card)
    state["owed_card"] = card
    moves = np.empty(MOST_MOVES, np.int16)
    n = _buying_moves(state, moves)
    keep(trial)
    return n > 0


@kernel
def _legal_buys(g: Record, out: np.ndarray) -> int:
    if int(g["owed_card"]) != NONE:
        return _buying_moves(g, out)
    out[0] = BUY
    out[1] = PASS
    return 2


@island
def _legal_moves_island(address: int, moves: int) -> int:
    g, out = game_at(address), moves_at(moves)
    phase = int(g["phase"])
    if phase == DRAW:
        return _legal_draws(g, out)
    if phase == PLAY:
        return _legal_plays(g, out)
    if phase == PHASE_BUY:
        return _legal_buys(g, out)
    return 0


@kernel
def legal_moves(g: Record, out: np.ndarray) -> int:
    """Write the legal actions of the seat on move (in no certain order); returns how many, 0 when the hand is over.

    ``out`` is an int16 array of MOST_MOVES.
    """
    return _legal_moves_island(address_of(g), address_of(out))
