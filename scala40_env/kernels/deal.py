"""Shuffling, dealing, drawing and what happens when the stock is empty (rules.md, *Deal*, *End of the stock*)."""

import numpy as np

from scala40_env.kernels.hands import give
from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.random import LOT, below, philox, shuffle
from scala40_env.kernels.state import (
    DRAW,
    JOKER,
    MAX_SEATS,
    NONE,
    PACK,
    TURN_OVER,
    UPCARD_KEEP,
)

__all__ = [
    "can_draw",
    "clear_turn",
    "deal_from",
    "deck_of_hand",
    "draw_from_stock",
    "first_dealer",
    "next_seat",
    "pop_pozzo",
    "pozzo_top",
    "push_pozzo",
    "renew_stock",
    "renewals_left",
]


@kernel
def next_seat(g: Record, seat: int) -> int:
    """The next seat in order of play that is still in the match."""
    n = int(g["num_players"])
    for step in range(1, n + 1):
        other = (seat + step) % n
        if int(g["out"][other]) == 0:
            return other
    return seat


@kernel
def first_dealer(g: Record) -> int:
    """The first dealer, drawn by lot."""
    return below(philox(g["seed"], 0, LOT, 0)[0], int(g["num_players"]))


@kernel
def deck_of_hand(g: Record, deck: np.ndarray) -> int:
    """Write the pack in the order in which this hand deals it; returns the number of cards.

    The upcard is at its final place: an upturned joker has already gone back into the stock (``upcard_joker``).
    """
    size = 104 + int(g["num_jokers"])
    for at in range(size):
        deck[at] = at % 52 if at < 104 else JOKER
    seed, hand = g["seed"], int(g["hand_no"])
    shuffle(deck, size, seed, hand, 0)
    if int(g["upcard_joker"]) != UPCARD_KEEP:
        _bury_upturned_jokers(g, deck, size)
    return size


@kernel
def _bury_upturned_jokers(g: Record, deck: np.ndarray, size: int) -> None:
    """Put upturned jokers back into the stock at a random place until a natural card is turned."""
    up = int(g["seats_in"]) * int(g["hand_size"])
    block = PACK
    while deck[up] == JOKER:
        word = philox(g["seed"], int(g["hand_no"]), 0, block)[0]
        place = up + 1 + below(word, size - up - 1)
        for at in range(up, place):
            deck[at] = deck[at + 1]
        deck[place] = JOKER
        block += 1


@kernel
def clear_turn(g: Record) -> None:
    """Forget what the player to move has done: a new turn begins."""
    g["laid_points"] = 0
    g["laid_natural_points"] = 0
    g["new_melds"] = 0
    g["touched_table"] = 0
    g["owed_card"] = NONE
    g["barred_card"] = NONE
    g["recovered_jokers"] = 0
    g["swapped_melds"] = 0


@kernel
def _clear_hand(g: Record) -> None:
    """Empty hands, piles and table."""
    for seat in range(MAX_SEATS):
        g["one"][seat] = 0
        g["two"][seat] = 0
        g["known_one"][seat] = 0
        g["known_two"][seat] = 0
        g["threw"][seat] = 0
        g["took"][seat] = 0
        g["jokers"][seat] = 0
        g["known_jokers"][seat] = 0
        g["hand_n"][seat] = 0
        g["opened"][seat] = 0
        g["hand_points"][seat] = 0
    g["meld_n"] = 0
    g["stock_n"] = 0
    g["pozzo_n"] = 0
    g["turns_played"] = 0
    g["shuffles"] = 0
    g["winner"] = NONE
    g["closing"] = 0
    clear_turn(g)


@kernel
def deal_from(g: Record, deck: np.ndarray, size: int) -> None:
    """Deal a hand from a pack in order: one card at a time from the seat after the dealer, the upcard, the stock."""
    _clear_hand(g)
    cards = int(g["seats_in"]) * int(g["hand_size"])
    seat = int(g["dealer"])
    for at in range(cards):
        seat = next_seat(g, seat)
        give(g, seat, int(deck[at]))
    push_pozzo(g, int(deck[cards]), NONE)
    for at in range(cards + 1, size):
        g["pile"][size - 1 - at] = deck[at]
    g["stock_n"] = size - 1 - cards
    g["turn"] = next_seat(g, int(g["dealer"]))
    g["mover"] = g["turn"]
    g["phase"] = DRAW


@kernel
def push_pozzo(g: Record, card: int, seat: int) -> None:
    """Lay a card on the pozzo."""
    n = int(g["pozzo_n"])
    g["pile"][PACK - 1 - n] = card
    g["discarded_by"][PACK - 1 - n] = seat
    g["pozzo_n"] = n + 1


@kernel
def pozzo_top(g: Record) -> int:
    """The top card of the pozzo, NONE if it is empty."""
    n = int(g["pozzo_n"])
    return NONE if n == 0 else int(g["pile"][PACK - n])


@kernel
def pop_pozzo(g: Record) -> int:
    """Take the top card of the pozzo."""
    card = pozzo_top(g)
    g["pozzo_n"] = int(g["pozzo_n"]) - 1
    return card


@kernel
def can_draw(g: Record) -> bool:
    """Whether a card can come from the stock, renewed from the pozzo if need be."""
    return int(g["stock_n"]) > 0 or int(g["pozzo_n"]) >= 2


@kernel
def renewals_left(g: Record) -> bool:
    """Whether the stock may be renewed once more before the hand is dead (``dead_hand_reshuffles``)."""
    limit = int(g["dead_hand_reshuffles"])
    return limit == NONE or int(g["shuffles"]) + 1 < limit


@kernel
def renew_stock(g: Record) -> None:
    """Make a stock of the pozzo: shuffled without its top card, or turned over whole (``stock_end``)."""
    g["shuffles"] = int(g["shuffles"]) + 1
    n, pile = int(g["pozzo_n"]), g["pile"]
    g["stock_n"] = n - 1
    g["pozzo_n"] = 1
    if int(g["stock_end"]) == TURN_OVER:
        for at in range(n - 1):  # the bottom card stays where the bottom of the new pozzo is
            pile[at] = pile[PACK - n + at]
        return
    for at in range(PACK // 2):
        kept = pile[at]
        pile[at] = pile[PACK - 1 - at]
        pile[PACK - 1 - at] = kept
    pile[PACK - 1] = pile[n - 1]
    g["discarded_by"][PACK - 1] = g["discarded_by"][PACK - n]
    shuffle(pile, n - 1, g["seed"], int(g["hand_no"]), int(g["shuffles"]))


@kernel
def draw_from_stock(g: Record, seat: int) -> None:
    """Give a seat the next card of the stock, which is renewed first if it is empty."""
    if int(g["stock_n"]) == 0:
        renew_stock(g)
    n = int(g["stock_n"]) - 1
    g["stock_n"] = n
    give(g, seat, int(g["pile"][n]))
