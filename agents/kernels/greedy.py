"""The greedy player: opens when it can, lays all that it can, throws the dearest card that helps nobody.

It sees one turn ahead and no further: it remembers nothing, counts no opponent's cards and never waits. Every choice is
one of the legal moves of the view, so it never has to know the rules; only what a move is worth is decided here.
"""

import numpy as np

from agents.kernels.laying import best_laying
from agents.kernels.worth import PER_CARD, card_cost, cost_of, keep_value, melds_in, seen_cards, take_out
from scala40_env.kernels.actions import BUY, DISCARD, PASS, POZZO, SLOTS, STOCK, is_attach, is_meld, is_swap, jokers_of
from scala40_env.kernels.bits import copy_record, keep
from scala40_env.kernels.deal import pozzo_top
from scala40_env.kernels.engine import apply_action
from scala40_env.kernels.islands import address_of, game_at, island
from scala40_env.kernels.jit import Record, Records, kernel
from scala40_env.kernels.lanes import bit_of
from scala40_env.kernels.legality import MOST_MOVES, bits_of_move, legal_moves
from scala40_env.kernels.moves import closing_allowed
from scala40_env.kernels.state import BUY as PHASE_BUY
from scala40_env.kernels.state import DRAW, GAME, JOKER, NONE, PLAY
from scala40_env.kernels.table import ban_of_table
from scala40_env.kernels.turn import pozzo_card_is_kept

__all__ = ["WEIGHTS", "choose_greedy"]

# The weights of this player, by their place: data, so that they can be tuned by play.
#: For throwing a card: of a point that it costs, of a card to come that makes a meld with it, of attaching.
DEAR, HELPFUL, ATTACHES = range(3)
#: Of spending a joker in a new meld, and of attaching one.
MELD_JOKER, ATTACH_JOKER = 3, 4
#: What buying must bring at least, for it costs a card from the stock.
BUYING = 5
#: What it gives not to be left with two cards after the discard: from one card, or from three, it closes sooner.
TWO_LEFT = 6
WEIGHTS = (10, 40, 200, 0, -10, 10, 14)

#: What a swap is worth beside its card: it comes first, for the joker that it brings has to find its place.
_SWAP_FIRST = 1000
#: With how few cards it looks for a way to close, at how many states at most, and at how many moves of each.
_CLOSING_CARDS, _CLOSING_STATES, _MOVES_OF_STATE = 6, 200, 64
_NOTHING = -(1 << 30)


@kernel
def choose_greedy(views: Records, k: int, moves: np.ndarray, n: int, weights: np.ndarray) -> int:
    """The move of the greedy player in view ``k``, one of the first ``n`` of ``moves``."""
    g = views[k]
    phase = int(g["phase"])
    if phase == DRAW:
        return _choose_draw(g, moves, n)
    if phase == PHASE_BUY:
        return _choose_buy(g, moves, n, weights)
    return _choose_play(g, moves, n, weights)


# ---------------------------------------------------------------------------------------------------------------------
# Drawing


@kernel
def _choose_draw(g: Record, moves: np.ndarray, n: int) -> int:
    """Take the pozzo card where it has to go to the table; where it may be kept, if it goes there at once."""
    takes, draws = False, False
    for at in range(n):
        takes = takes or int(moves[at]) == POZZO
        draws = draws or int(moves[at]) == STOCK
    if not takes:
        return STOCK
    if not draws or not pozzo_card_is_kept(g) or _can_use(g, pozzo_top(g)):
        return POZZO
    return STOCK


@kernel
def _can_use(g: Record, card: int) -> bool:
    """Whether a card makes a meld with the hand, or attaches; a joker always helps."""
    if card == JOKER:
        return True
    seat, bit = int(g["turn"]), bit_of(card)
    if int(g["one"][seat]) & bit == 0 and melds_in(int(g["one"][seat]) | bit) & bit:
        return True
    return int(g["opened"][seat]) != 0 and ban_of_table(g)[0] & bit != 0


# ---------------------------------------------------------------------------------------------------------------------
# Closing


@kernel
def _expand(g: Record, moves: np.ndarray, n: int, scratch: np.ndarray) -> int:
    """Append the legal moves to the table, as many as there is room for; NONE if the hand is closed, or can be now."""
    if int(g["phase"]) != PLAY:
        return NONE
    found = legal_moves(g, scratch)
    if int(g["hand_n"][int(g["turn"])]) == 1:
        for at in range(found):
            if int(scratch[at]) < SLOTS:
                return NONE
    last = n + _MOVES_OF_STATE
    for at in range(found):
        if int(scratch[at]) >= SLOTS and n < last:
            moves[n] = scratch[at]
            n += 1
    return n


@island
def _search_closing(address: int, states: int) -> int:
    """Depth first over the rest of the turn, at most so many states, until all cards but the last are on the table."""
    deepest = 2 * _CLOSING_CARDS + 2  # every move uses up a natural card, or a joker got for one
    work = np.empty(deepest + 1, GAME)
    moves = np.empty((deepest + 1) * _MOVES_OF_STATE, np.int16)
    starts = np.zeros(deepest + 1, np.int64)
    scratch = np.empty(MOST_MOVES, np.int16)
    copy_record(work, 0, game_at(address))
    depth, first = 0, NONE
    n = _expand(work[0], moves, 0, scratch)
    while depth >= 0 and states > 0 and n != NONE:  # NONE at once: the last card can go as it likes
        if n == starts[depth]:
            depth -= 1
            continue
        n -= 1
        if depth == 0:
            first = int(moves[n])
        copy_record(work, depth + 1, work[depth])
        apply_action(work[depth + 1], int(moves[n]))
        states -= 1
        starts[depth + 1] = n
        n = _expand(work[depth + 1], moves, n, scratch)
        if n < 0:
            return first
        depth += 1
    return NONE


@kernel
def _closing_move(g: Record) -> int:
    """The first move of a way to close in this turn, for a small hand that has opened; NONE if none is found."""
    seat = int(g["turn"])
    if int(g["opened"][seat]) == 0 or int(g["hand_n"][seat]) > _CLOSING_CARDS or not closing_allowed(g):
        return NONE
    return _search_closing(address_of(g), _CLOSING_STATES)


# ---------------------------------------------------------------------------------------------------------------------
# Laying


@kernel
def _choose_play(g: Record, moves: np.ndarray, n: int, weights: np.ndarray) -> int:
    """Close, or lay what is worth most, or discard."""
    on_table = 0
    for at in range(n):
        on_table += 1 if int(moves[at]) >= SLOTS else 0
    if on_table:
        closing = _closing_move(g)
        if closing != NONE:
            return closing
        best, worth = _best_table_move(g, moves, n, weights)
        if worth > 0 or on_table == n:
            return best
    return _choose_discard(g, moves, n, weights)


@kernel
def _joker_worth(g: Record, action: int, weights: np.ndarray) -> int:
    """What it is worth to spend the jokers of a move."""
    jokers = jokers_of(action)
    if jokers == 0:
        return 0
    return jokers * int(weights[ATTACH_JOKER] if is_attach(action) else weights[MELD_JOKER])


@kernel
def _move_worth(g: Record, action: int, attachable: int, weights: np.ndarray) -> int:
    """What a move to the table and the best laying of the cards left after it are worth together."""
    seat = int(g["turn"])
    bits = bits_of_move(g, action)
    if is_swap(action):
        bits &= int(g["one"][seat])
        bits &= -bits
        return cost_of(g, bits) + _SWAP_FIRST
    one, two = take_out(int(g["one"][seat]), int(g["two"][seat]), bits)
    return cost_of(g, bits) + _joker_worth(g, action, weights) + best_laying(g, one, two, attachable)


@kernel
def _cards_left(g: Record, action: int) -> int:
    """How many cards a move to the table leaves in the hand."""
    return int(g["hand_n"][int(g["turn"])]) - (0 if is_swap(action) else 3 if is_meld(action) else 1)


@kernel
def _best_table_move(g: Record, moves: np.ndarray, n: int, weights: np.ndarray) -> tuple[int, int]:
    """The move to the table that is worth most, of equals the lowest number."""
    attachable, opened = ban_of_table(g)[0], int(g["opened"][int(g["turn"])]) != 0
    best, most = -1, _NOTHING
    for at in range(n):
        action = int(moves[at])
        if action < SLOTS:
            continue
        worth = _move_worth(g, action, attachable, weights)
        if opened and _cards_left(g, action) == 3:
            worth -= int(weights[TWO_LEFT])
        if worth > most or (worth == most and action < best):
            best, most = action, worth
    return best, most


# ---------------------------------------------------------------------------------------------------------------------
# Discarding


@kernel
def _choose_discard(g: Record, moves: np.ndarray, n: int, weights: np.ndarray) -> int:
    """Throw the dearest card that helps nobody, a joker only if there is nothing else."""
    seat = int(g["turn"])
    one, two = int(g["one"][seat]), int(g["two"][seat])
    seen_one, seen_two = seen_cards(g, seat)
    attachable = ban_of_table(g)[0]
    best, most = -1, _NOTHING
    for at in range(n):
        action = int(moves[at])
        if action >= SLOTS:
            continue
        card, worth = action - DISCARD, _NOTHING + 1
        if card != JOKER:
            worth = weights[DEAR] * card_cost(g, card)
            worth -= weights[HELPFUL] * keep_value(one, two, seen_one, seen_two, card)
            worth -= weights[ATTACHES] if attachable & bit_of(card) else 0
        if worth > most or (worth == most and action < best):
            best, most = action, worth
    return best


# ---------------------------------------------------------------------------------------------------------------------
# Buying


@kernel
def _choose_buy(g: Record, moves: np.ndarray, n: int, weights: np.ndarray) -> int:
    """Buy where the cards that go down with the card bought cost more than the card from the stock will."""
    if int(moves[0]) >= SLOTS and int(moves[0]) < BUY:
        return _best_table_move(g, moves, n, weights)[0]
    trial = np.empty(1, GAME)
    copy_record(trial, 0, g)
    bought = trial[0]
    card = pozzo_top(g)
    apply_action(bought, BUY)
    options = np.empty(MOST_MOVES, np.int16)
    found = legal_moves(bought, options)
    gain = _best_table_move(bought, options, found, weights)[1] - card_cost(g, card) - PER_CARD
    keep(trial)
    return BUY if gain >= weights[BUYING] else PASS
