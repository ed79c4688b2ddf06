"""One small function for each move of a turn: what it does to the record. Legality is `legality`'s business."""

from scala40_env.kernels.actions import (
    PER_SLOT,
    SLOTS,
    is_meld,
    is_swap,
    jokers_of,
    meld_of,
    slot_of,
    swapped_joker,
)
from scala40_env.kernels.bits import count_bits, highest_bit, lowest_bit
from scala40_env.kernels.deal import (
    clear_turn,
    draw_from_stock,
    next_seat,
    pop_pozzo,
    push_pozzo,
    renewals_left,
)
from scala40_env.kernels.hands import (
    drop_bits,
    drop_jokers,
    give,
    remember_known,
    remember_threw,
    remember_took,
    take,
)
from scala40_env.kernels.islands import address_of, game_at, island
from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.lanes import bit_of, meld_points, natural_bits
from scala40_env.kernels.scoring import end_hand
from scala40_env.kernels.state import (
    CLOSED_IN_HAND,
    CLOSED_NONE,
    CLOSED_NORMAL,
    DRAW,
    JOKER,
    NONE,
    PLAY,
    POZZO_KEEP,
    RECOVERED_ANY,
    RECOVERED_KEEP,
    RECOVERED_NEW,
    RUN,
)
from scala40_env.kernels.table import joker_card_bit, missing_suit, nth_bit

__all__ = [
    "abandon",
    "apply_buy",
    "apply_discard",
    "apply_pozzo",
    "apply_stock",
    "apply_table_move",
    "attach_target",
    "began_unopened",
    "finish_buying",
    "opening_reached",
    "pozzo_card_is_kept",
    "upcard_is_free",
]


@kernel
def began_unopened(g: Record) -> bool:
    """Whether the player to move had not opened before this turn."""
    return int(g["opened"][int(g["turn"])]) == 0 or int(g["laid_points"]) > 0


@kernel
def upcard_is_free(g: Record) -> bool:
    """Whether the first player of the hand may take the upcard just so (``first_player_free_upcard``)."""
    return int(g["first_player_free_upcard"]) != 0 and int(g["turns_played"]) == 0


@kernel
def pozzo_card_is_kept(g: Record) -> bool:
    """Whether a card that the player takes from the pozzo may stay in the hand."""
    opened = int(g["opened"][int(g["turn"])]) != 0
    return upcard_is_free(g) or (opened and int(g["pozzo_card"]) == POZZO_KEEP)


@kernel
def abandon(g: Record) -> None:
    """End a hand that nobody can finish."""
    end_hand(g, CLOSED_NONE)


@kernel
def apply_stock(g: Record) -> None:
    """Draw from the stock; the hand is abandoned where the stock may not be renewed any more."""
    if int(g["stock_n"]) == 0 and not renewals_left(g):
        abandon(g)
        return
    draw_from_stock(g, int(g["turn"]))
    g["phase"] = PLAY


@kernel
def apply_pozzo(g: Record) -> None:
    """Take the top card of the pozzo: it has to be used, or may be kept but not discarded."""
    seat, kept = int(g["turn"]), pozzo_card_is_kept(g)
    card = pop_pozzo(g)
    give(g, seat, card)
    remember_took(g, seat, card)
    if kept:
        g["barred_card"] = card
    else:
        g["owed_card"] = card
    g["phase"] = PLAY


@kernel
def _settle_natural(g: Record, bits: int, new: bool) -> None:
    """A natural card went to the table: what was owed or barred for it is settled."""
    owed, barred = int(g["owed_card"]), int(g["barred_card"])
    if owed >= 0 and owed != JOKER and (new or not began_unopened(g)) and bits & bit_of(owed):
        g["owed_card"] = NONE
    if barred >= 0 and barred != JOKER and bits & bit_of(barred):
        g["barred_card"] = NONE


@kernel
def _settle_pozzo_joker(g: Record, new: bool) -> None:
    """A joker that was not a recovered one went to the table."""
    if int(g["owed_card"]) == JOKER and (new or not began_unopened(g)):
        g["owed_card"] = NONE


@kernel
def _settle_joker(g: Record, slot: int, laid: bool) -> None:
    """A joker went to a meld: a recovered one first, where it may go there; then one from the pozzo; then an own one.

    ``laid``: in a meld just laid, not attached.
    """
    owed = int(g["recovered_jokers"])
    new = laid or (int(g["new_melds"]) >> slot) & 1 != 0
    if int(g["barred_card"]) == JOKER:
        g["barred_card"] = NONE
    if owed == 0:
        _settle_pozzo_joker(g, new)
        return
    origins, here, rule = int(g["swapped_melds"]), 1 << slot, int(g["recovered_joker"])
    others = origins & ~here
    if rule == RECOVERED_NEW:
        barred = not new
    elif rule == RECOVERED_ANY or laid:
        barred = False
    else:
        barred = origins & here != 0 and others == 0
        if not barred and origins & here and count_bits(origins) == 2:
            g["swapped_melds"] = here  # the joker that went here came from the other meld
    if barred:
        _settle_pozzo_joker(g, new)
        return
    g["recovered_jokers"] = owed - 1
    if owed == 1:
        g["swapped_melds"] = 0


@kernel
def opening_reached(g: Record) -> bool:
    """Whether the melds of this turn reach the threshold."""
    return int(g["laid_points"]) >= int(g["opening_points"])


@kernel
def _count_points(g: Record, points: int, natural: int) -> None:
    """Count points towards the opening of a player who had not opened before this turn."""
    seat = int(g["turn"])
    g["laid_points"] = int(g["laid_points"]) + points
    g["laid_natural_points"] = int(g["laid_natural_points"]) + natural
    if opening_reached(g):
        g["opened"][seat] = 1


@kernel
def _close_if_empty(g: Record) -> None:
    """Close the hand if its last card went to the table (``closing_discard="optional"``)."""
    if int(g["hand_n"][int(g["turn"])]) == 0 and int(g["phase"]) == PLAY:
        close_hand(g)


@kernel
def close_hand(g: Record) -> None:
    """The player to move has closed."""
    in_hand = began_unopened(g) and int(g["touched_table"]) == 0
    g["turns_played"] = int(g["turns_played"]) + 1
    clear_turn(g)
    end_hand(g, CLOSED_IN_HAND if in_hand else CLOSED_NORMAL)


@kernel
def apply_meld(g: Record, action: int) -> None:
    """Lay three cards as a new meld."""
    kind, key, cells, jokers = meld_of(action)
    seat, slot, number = int(g["turn"]), int(g["meld_n"]), count_bits(jokers)
    counts = int(g["opened"][seat]) == 0
    bits = natural_bits(kind, key, cells, jokers)
    drop_bits(g, seat, bits, 3 - number)
    g["meld_kind"][slot] = kind
    g["meld_key"][slot] = key
    g["meld_cells"][slot] = cells
    g["meld_jokers"][slot] = jokers
    g["meld_n"] = slot + 1
    g["new_melds"] = int(g["new_melds"]) | (1 << slot)
    _settle_natural(g, bits, True)
    if number:
        drop_jokers(g, seat, number)
        for _ in range(number):
            _settle_joker(g, slot, True)
    if counts:
        points = meld_points(kind, key, cells, int(g["court_values"]))
        _count_points(g, points, 0 if number else points)
    _close_if_empty(g)


@kernel
def attach_target(g: Record, action: int) -> tuple[int, int]:
    """Cell and natural bit of the place that an attach fills."""
    slot, place = slot_of(action), (action - SLOTS) % PER_SLOT
    kind, key, cells = int(g["meld_kind"][slot]), int(g["meld_key"][slot]), int(g["meld_cells"][slot])
    if kind != RUN:
        cell = missing_suit(cells)
    elif place & 1:
        cell = highest_bit(cells) + 1
    else:
        cell = lowest_bit(cells) - 1
    return cell, natural_bits(kind, key, 1 << cell, 0)


@kernel
def apply_attach(g: Record, action: int) -> None:
    """Attach a card, or a joker, to a meld."""
    slot, seat, joker = slot_of(action), int(g["turn"]), jokers_of(action) == 1
    kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
    cells, jokers = int(g["meld_cells"][slot]), int(g["meld_jokers"][slot])
    ascending = int(g["court_values"])
    new, counts = (int(g["new_melds"]) >> slot) & 1 != 0, int(g["opened"][seat]) == 0
    cell, bit = attach_target(g, action)
    if joker:
        drop_jokers(g, seat, 1)
        _settle_joker(g, slot, False)
        g["meld_jokers"][slot] = jokers | (1 << cell)
    else:
        drop_bits(g, seat, bit, 1)
        _settle_natural(g, bit, new)
    g["meld_cells"][slot] = cells | (1 << cell)
    if not new:
        g["touched_table"] = 1
    elif counts:
        points = meld_points(kind, key, 1 << cell, ascending)
        natural = 0 if joker or jokers else points
        if joker and not jokers:  # the meld is none without a joker any more
            natural = -meld_points(kind, key, cells, ascending)
        _count_points(g, points, natural)
    _close_if_empty(g)


@kernel
def apply_swap(g: Record, action: int) -> None:
    """Put the natural card in a joker's place and take the joker."""
    slot, seat = slot_of(action), int(g["turn"])
    kind, key = int(g["meld_kind"][slot]), int(g["meld_key"][slot])
    cells, jokers = int(g["meld_cells"][slot]), int(g["meld_jokers"][slot])
    cell = nth_bit(jokers, swapped_joker(action))
    new = (int(g["new_melds"]) >> slot) & 1 != 0
    bit = joker_card_bit(kind, key, cells, jokers, cell)
    drop_bits(g, seat, bit, 1)
    _settle_natural(g, bit, new)
    g["meld_jokers"][slot] = jokers & ~(1 << cell)
    give(g, seat, JOKER)
    remember_known(g, seat, JOKER)
    if int(g["recovered_joker"]) != RECOVERED_KEEP:
        g["recovered_jokers"] = int(g["recovered_jokers"]) + 1
        g["swapped_melds"] = int(g["swapped_melds"]) | (1 << slot)
    if not new:
        g["touched_table"] = 1


@kernel
def apply_discard(g: Record, card: int) -> None:
    """Discard a card: the turn ends, or the hand if it was the last card."""
    seat = int(g["turn"])
    take(g, seat, card)
    push_pozzo(g, card, seat)
    remember_threw(g, seat, card)
    if int(g["hand_n"][seat]) == 0:
        close_hand(g)
    else:
        end_turn(g)


@kernel
def end_turn(g: Record) -> None:
    """Pass the turn on, or abandon the hand after ``max_laps`` laps."""
    played = int(g["turns_played"]) + 1
    g["turns_played"] = played
    clear_turn(g)
    if played >= int(g["max_laps"]) * int(g["seats_in"]):
        abandon(g)
        return
    g["turn"] = next_seat(g, int(g["turn"]))
    g["mover"] = g["turn"]
    g["phase"] = DRAW


@kernel
def apply_buy(g: Record) -> None:
    """The seat asked takes the top card of the pozzo; one meld or attach with it follows."""
    seat = int(g["turn"])
    card = pop_pozzo(g)
    give(g, seat, card)
    remember_took(g, seat, card)
    g["owed_card"] = card


@kernel
def finish_buying(g: Record) -> None:
    """After the buyer's move: a card from the stock as penalty, and the turn goes on."""
    seat, mover = int(g["turn"]), int(g["mover"])
    if int(g["stock_n"]) == 0 and not renewals_left(g):
        abandon(g)
        return
    draw_from_stock(g, seat)
    clear_turn(g)
    g["turn"] = mover
    g["phase"] = PLAY


@island
def _table_move_island(address: int, action: int) -> int:
    g = game_at(address)
    if is_meld(action):
        apply_meld(g, action)
    elif is_swap(action):
        apply_swap(g, action)
    else:
        apply_attach(g, action)
    return 0


@kernel
def apply_table_move(g: Record, action: int) -> None:
    """Play a meld, an attach or a swap."""
    _table_move_island(address_of(g), action)
