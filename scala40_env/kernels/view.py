"""What one seat knows of a game: a copy of the record with everything hidden taken out of it; and its counterpart.

The counterpart deals cards that nobody knows, where a position leaves them open.
"""

import numpy as np

from scala40_env.kernels.bits import copy_record
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.legality import seat_can_buy
from scala40_env.kernels.random import shuffle
from scala40_env.kernels.state import MAX_MELDS, MAX_SEATS, NONE, PACK

__all__ = ["can_buy", "shuffle_unseen", "write_view"]

#: Stream of the generator that deals the unseen cards of a position; no shuffle of a hand counts so far.
_UNSEEN = 1 << 21


@kernel
def _hide_hands(g: Record, seat: int) -> None:
    """Leave of the other hands only the cards that everybody has seen go into them; their sizes are open."""
    for other in range(MAX_SEATS):
        if other != seat:
            g["one"][other] = g["known_one"][other]
            g["two"][other] = g["known_two"][other]
            g["jokers"][other] = g["known_jokers"][other]


@kernel
def _hide_pile(g: Record) -> None:
    """Wipe the stock, and whatever was left behind between it and the pozzo."""
    for at in range(PACK - int(g["pozzo_n"])):
        g["pile"][at] = NONE
        g["discarded_by"][at] = NONE


@kernel
def _wipe_free_slots(g: Record) -> None:
    """Wipe what an earlier hand left in the slots of melds that are free now."""
    for slot in range(int(g["meld_n"]), MAX_MELDS):
        g["meld_kind"][slot] = 0
        g["meld_key"][slot] = 0
        g["meld_cells"][slot] = 0
        g["meld_jokers"][slot] = 0


@entry
def write_view(games: Records, i: int, seat: int, views: Records, j: int) -> None:
    """Write into ``views[j]`` what ``seat`` knows of game ``i``; legality of its own moves works on it as on the game.

    The seed goes too: it is the key to every card of the match.
    """
    copy_record(views, j, games[i])
    g = views[j]
    g["seed"] = 0
    _hide_hands(g, seat)
    _hide_pile(g)
    _wipe_free_slots(g)


@entry
def can_buy(games: Records, i: int, seat: int) -> bool:
    """Whether a seat could buy the top card of the pozzo now (002)."""
    return seat_can_buy(games[i], seat)


@entry
def shuffle_unseen(cards: np.ndarray, seed: int) -> None:
    """Shuffle the cards (int8[n]) that a position does not show, by its seed (uint64)."""
    shuffle(cards, len(cards), seed, 0, _UNSEEN)
