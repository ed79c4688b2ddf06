"""The doors to the kernels: start, deal, legal moves, masks, steps, for games in an array.

All take the whole array of records and an index. `step` trusts its action: it has to be legal.
"""

import numpy as np

from scala40_env.kernels.actions import BUY, DISCARD, PASS, POZZO, SLOTS, STOCK
from scala40_env.kernels.bits import copy_record
from scala40_env.kernels.deal import (
    can_draw,
    deal_from,
    deck_of_hand,
    first_dealer,
    next_seat,
)
from scala40_env.kernels.islands import MOST_MOVES, address_of, game_at, island
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.legality import (
    legal_moves,
    pozzo_is_legal,
    seat_can_buy,
)
from scala40_env.kernels.state import BUY as PHASE_BUY
from scala40_env.kernels.state import DRAW, MAX_SEATS, PACK, PLAY
from scala40_env.kernels.turn import (
    abandon,
    apply_buy,
    apply_discard,
    apply_pozzo,
    apply_stock,
    apply_table_move,
    finish_buying,
)

__all__ = [
    "apply_action",
    "copy_game",
    "deal_hand",
    "hand_deck",
    "legal_actions",
    "next_hand",
    "start_match",
    "step",
    "write_mask",
]


@kernel
def _count_seats(g: Record) -> None:
    seats = 0
    for seat in range(int(g["num_players"])):
        seats += 1 - int(g["out"][seat])
    g["seats_in"] = seats


@kernel
def _deal(g: Record) -> None:
    _count_seats(g)
    deck = np.empty(PACK, np.int8)
    deal_from(g, deck, deck_of_hand(g, deck))


@entry
def start_match(games: Records, i: int) -> None:
    """Begin the match of game ``i``: its rules and seed are set, everything else is made here."""
    g = games[i]
    for seat in range(MAX_SEATS):
        g["scores"][seat] = 0
        g["hands_won"][seat] = 0
        g["unopened_hands"][seat] = 0
        g["reentries_used"][seat] = 0
        g["out"][seat] = 0 if seat < int(g["num_players"]) else 1
        g["champion"][seat] = 0
    g["hand_no"] = 0
    g["dealer"] = first_dealer(g)
    _deal(g)


@entry
def next_hand(games: Records, i: int) -> None:
    """Deal the next hand of a match: the deal passes to the next seat still in."""
    g = games[i]
    g["hand_no"] = int(g["hand_no"]) + 1
    g["dealer"] = next_seat(g, int(g["dealer"]))
    _deal(g)


@entry
def hand_deck(games: Records, i: int, deck: np.ndarray) -> int:
    """Write the order of the cards as this hand of game ``i`` deals them (int8[108]); returns how many there are."""
    return deck_of_hand(games[i], deck)


@entry
def deal_hand(games: Records, i: int, deck: np.ndarray, size: int) -> None:
    """Deal this hand of game ``i`` again, from a pack in this order."""
    g = games[i]
    _count_seats(g)
    deal_from(g, deck, size)


@entry
def legal_actions(games: Records, i: int, out: np.ndarray) -> int:
    """Write the legal action ids of game ``i`` into ``out`` (int16[1045], unsorted); returns how many."""
    return legal_moves(games[i], out)


@entry
def write_mask(games: Records, i: int, mask: np.ndarray) -> int:
    """Write the mask of legal actions of game ``i`` (int8, as long as the action space); returns how many are legal."""
    out = np.empty(MOST_MOVES, np.int16)
    n = legal_moves(games[i], out)
    mask[:] = 0
    for at in range(n):
        mask[out[at]] = 1
    return n


@kernel
def _ask_buyers(g: Record, seat: int) -> None:
    """Ask the next seat after ``seat`` that can buy, or let the turn go on."""
    mover = int(g["mover"])
    other = next_seat(g, seat)
    while other != mover:
        if seat_can_buy(g, other):
            g["turn"] = other
            g["phase"] = PHASE_BUY
            return
        other = next_seat(g, other)
    g["turn"] = mover
    g["phase"] = PLAY


@kernel
def _abandon_if_nothing_to_draw(g: Record) -> None:
    """A hand in which the player to move can draw from nowhere is dead."""
    if int(g["phase"]) == DRAW and not can_draw(g) and not pozzo_is_legal(g):
        abandon(g)


@island
def _action_island(address: int, action: int) -> int:
    g = game_at(address)
    if action == STOCK:
        apply_stock(g)
        if int(g["buying"]) and int(g["phase"]) == PLAY:
            _ask_buyers(g, int(g["turn"]))
    elif action == POZZO:
        apply_pozzo(g)
    elif action < SLOTS:
        apply_discard(g, action - DISCARD)
        _abandon_if_nothing_to_draw(g)
    elif action == BUY:
        apply_buy(g)
    elif action == PASS:
        _ask_buyers(g, int(g["turn"]))
    else:
        apply_table_move(g, action)
        if int(g["phase"]) == PHASE_BUY:
            finish_buying(g)
    return 0


@kernel
def apply_action(g: Record, action: int) -> None:
    """Play a legal action."""
    _action_island(address_of(g), action)


@entry
def step(games: Records, i: int, action: int) -> None:
    """Play a legal action in game ``i``. When the hand ends the phase is HAND_OVER or MATCH_OVER."""
    apply_action(games[i], action)


@entry
def copy_game(source: Records, i: int, target: Records, j: int) -> None:
    """Copy game ``i`` of one array to place ``j`` of another."""
    copy_record(target, j, source[i])
