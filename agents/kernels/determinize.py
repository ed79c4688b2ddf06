"""Dealing the cards that a seat does not see: a game that could be behind its view.

What everybody saw go into a hand stays there; the sizes of hands and stock, the pozzo and the table stay as they are.
All else is dealt at random, but not all hands are as likely as all others after some turns of play:

- who had a turn and did not open most likely could not: a hand that could is dealt again, a few times at most;
- every turn makes a hand better: it is *lived* again, drawing an unseen card and throwing what `greedy` would throw,
  as many times as the seat had turns. What is thrown so is unseen again;
- who has opened lays what it can: cards of its hand that could go to the table are changed for others.
"""

import numpy as np

from agents.kernels.greedy import WEIGHTS, choose_greedy
from agents.kernels.worth import melds_in
from scala40_env.kernels.actions import DISCARD
from scala40_env.kernels.bits import copy_record, count_bits, keep, lowest_bit
from scala40_env.kernels.deal import clear_turn
from scala40_env.kernels.hands import give, take
from scala40_env.kernels.islands import MOST_MOVES
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.lanes import bit_of, card_at, natural_bits
from scala40_env.kernels.moves import ALL_RULES, discardable, emit_discards
from scala40_env.kernels.packing import YES, outlook
from scala40_env.kernels.random import below, philox
from scala40_env.kernels.state import GAME, JOKER, MAX_SEATS, NONE, PACK, PLAY
from scala40_env.kernels.table import ban_of_table

__all__ = ["LIVED", "LIVED_OPENED", "NUM_PLAUSIBILITY", "TRIES", "deal_unseen", "deal_view"]

# How likely hands are made, by place in an int64 array.
#: How often a hand that could have opened is dealt again; most turns lived again of who has not opened, and who has.
TRIES, LIVED, LIVED_OPENED = range(3)
NUM_PLAUSIBILITY = 3

#: Streams of the generator: deals, the seed of the shuffles that a dealt game will need, turns lived, cards changed.
_DEALS, _SEEDS, _TURNS, _CHANGES = range(2, 6)
#: Most cards tried in place of one that a seat would have laid.
_MOST_CHANGES = 3
_KINDS = 53
#: Bits for the blocks of the generator that the deals of one hand use up.
_BLOCKS = 14
_GREEDY = np.array(WEIGHTS, np.int64)


# ---------------------------------------------------------------------------------------------------------------------
# Which cards they are


@kernel
def _take_off(counts: np.ndarray, bits: int) -> None:
    """Count one copy of each of these cards less."""
    while bits:
        counts[card_at(lowest_bit(bits))] -= 1
        bits &= bits - 1


@kernel
def _take_off_hands(g: Record, counts: np.ndarray) -> None:
    """In a view the other hands hold what is known of them."""
    for seat in range(MAX_SEATS):
        _take_off(counts, int(g["one"][seat]))
        _take_off(counts, int(g["two"][seat]))
        counts[JOKER] -= int(g["jokers"][seat])


@kernel
def _take_off_table(g: Record, counts: np.ndarray) -> None:
    for slot in range(int(g["meld_n"])):
        jokers = int(g["meld_jokers"][slot])
        bits = natural_bits(int(g["meld_kind"][slot]), int(g["meld_key"][slot]), int(g["meld_cells"][slot]), jokers)
        _take_off(counts, bits)
        counts[JOKER] -= count_bits(jokers)


@kernel
def _take_off_pozzo(g: Record, counts: np.ndarray) -> None:
    for at in range(PACK - int(g["pozzo_n"]), PACK):
        counts[int(g["pile"][at])] -= 1


@kernel
def _unseen_cards(g: Record, cards: np.ndarray) -> int:
    """Write the cards that a view does not show into ``cards`` (int8[108]), ascending; returns how many there are."""
    counts = np.full(_KINDS, 2, np.int64)
    counts[JOKER] = int(g["num_jokers"])
    _take_off_hands(g, counts)
    _take_off_table(g, counts)
    _take_off_pozzo(g, counts)
    n = 0
    for card in range(_KINDS):
        for _ in range(int(counts[card])):
            cards[n] = card
            n += 1
    return n


@kernel
def _hidden_in(g: Record, seat: int) -> int:
    """How many cards of a hand only its holder knows."""
    known = count_bits(int(g["known_one"][seat])) + count_bits(int(g["known_two"][seat]))
    return int(g["hand_n"][seat]) - known - int(g["known_jokers"][seat])


# ---------------------------------------------------------------------------------------------------------------------
# What a seat would do. ``trial`` is one game in which it is on move.


@kernel
def _put_on_move(trial: Records, g: Record, seat: int) -> None:
    """Copy a game, and let it be a seat's turn."""
    copy_record(trial, 0, g)
    state = trial[0]
    state["turn"] = seat
    state["mover"] = seat
    state["phase"] = PLAY
    clear_turn(state)


@kernel
def _could_open(state: Record) -> bool:
    return outlook(state, ALL_RULES) == YES


@kernel
def _would_lay(state: Record, card: int) -> bool:
    """Whether a seat that has opened would lay this card of its hand: it attaches, or makes a meld. Jokers are kept."""
    if card == JOKER:
        return False
    return (ban_of_table(state)[0] | melds_in(int(state["one"][int(state["turn"])]))) & bit_of(card) != 0


@kernel
def _would_go_down(state: Record, drawn: int) -> bool:
    """Whether the seat would go to the table now that it has drawn this card."""
    if int(state["opened"][int(state["turn"])]):
        return _would_lay(state, drawn)
    return _could_open(state)


@kernel
def _would_throw(trial: Records, moves: np.ndarray) -> int:
    """The card that `greedy` would throw, NONE if it may throw none."""
    bits, joker = discardable(trial[0], ALL_RULES)
    n = emit_discards(bits, joker, moves, 0)
    return NONE if n == 0 else choose_greedy(trial, 0, moves, n, _GREEDY) - DISCARD


# ---------------------------------------------------------------------------------------------------------------------
# One hand. ``rest`` are the cards that nobody was dealt yet; the first ``count`` of them are the hand's.


@kernel
def _pick(rest: np.ndarray, count: int, key: int, deal: int, block: int) -> int:
    """Bring ``count`` random cards to the front; returns the next block of the generator."""
    words = philox(key, deal, _DEALS, block)
    for at in range(min(count, len(rest) - 1)):
        if at and at & 3 == 0:
            block += 1
            words = philox(key, deal, _DEALS, block)
        _swap(rest, at, at + below(words[at & 3], len(rest) - at))
    return block + 1


@kernel
def _swap(rest: np.ndarray, at: int, other: int) -> None:
    kept = rest[at]
    rest[at] = rest[other]
    rest[other] = kept


@kernel
def _hold(g: Record, seat: int, rest: np.ndarray, count: int) -> None:
    """Give a seat what is known to be in its hand and its hidden cards, in place of whatever it holds."""
    g["one"][seat] = g["known_one"][seat]
    g["two"][seat] = g["known_two"][seat]
    g["jokers"][seat] = g["known_jokers"][seat]
    g["hand_n"][seat] = int(g["hand_n"][seat]) - count
    for at in range(count):
        give(g, seat, int(rest[at]))


@kernel
def _change_what_lies_ready(trial: Records, seat: int, rest: np.ndarray, count: int, key: int, deal: int) -> None:
    """Change cards that a seat which has opened would have laid for others, as far as those are quickly found."""
    for at in range(count):
        for change in range(_MOST_CHANGES):
            if not _would_lay(trial[0], int(rest[at])):
                break
            word = philox(key, deal, _CHANGES, (seat * PACK + at) * _MOST_CHANGES + change)[0]
            take(trial[0], seat, int(rest[at]))
            _swap(rest, at, count + below(word, len(rest) - count))
            give(trial[0], seat, int(rest[at]))


@kernel
def _place_of(rest: np.ndarray, count: int, card: int) -> int:
    """Where a card lies among the hidden ones of the hand; NONE if it is a known one."""
    for at in range(count):
        if int(rest[at]) == card:
            return at
    return NONE


@kernel
def _live_turn(trial: Records, seat: int, rest: np.ndarray, count: int, other: int, moves: np.ndarray) -> None:
    """Let a seat draw the card at ``other`` and throw one. A card with which it would have gone down stays unseen."""
    drawn = int(rest[other])
    give(trial[0], seat, drawn)
    thrown = drawn if _would_go_down(trial[0], drawn) else _would_throw(trial, moves)
    at = NONE if thrown == drawn else _place_of(rest, count, thrown)
    if at == NONE:
        take(trial[0], seat, drawn)
    else:
        take(trial[0], seat, thrown)
        _swap(rest, at, other)


@kernel
def _turns_of(g: Record, seat: int) -> int:
    """How many turns a seat has had, as far as its different discards tell."""
    return count_bits(int(g["threw"][seat]))


@kernel
def _live(
    g: Record, seat: int, rest: np.ndarray, count: int, turns: int, key: int, deal: int, trial: Records,
    moves: np.ndarray,
) -> None:  # fmt: skip
    """Let a seat live some turns again, so that its hand is as good as they will have made it."""
    _put_on_move(trial, g, seat)
    if int(g["opened"][seat]):
        _change_what_lies_ready(trial, seat, rest, count, key, deal)
    for turn in range(turns):
        word = philox(key, deal, _TURNS, seat * PACK + turn)[0]
        _live_turn(trial, seat, rest, count, count + below(word, len(rest) - count), moves)
    _hold(g, seat, rest, count)


@kernel
def _deal_hand(
    g: Record, seat: int, rest: np.ndarray, plausibility: np.ndarray, key: int, deal: int, trial: Records,
    moves: np.ndarray,
) -> int:  # fmt: skip
    """Deal a seat its hidden cards; returns how many."""
    count, opened = _hidden_in(g, seat), int(g["opened"][seat]) != 0
    turns = min(_turns_of(g, seat), int(plausibility[LIVED_OPENED if opened else LIVED]))
    tries = 0 if opened or _turns_of(g, seat) == 0 else int(plausibility[TRIES])
    block = _pick(rest, count, key, deal, seat << _BLOCKS)
    _hold(g, seat, rest, count)
    while tries:
        _put_on_move(trial, g, seat)
        if not _could_open(trial[0]):
            break
        block = _pick(rest, count, key, deal, block)
        _hold(g, seat, rest, count)
        tries -= 1
    if turns and count and count < len(rest):
        _live(g, seat, rest, count, turns, key, deal, trial, moves)
    return count


# ---------------------------------------------------------------------------------------------------------------------
# All hands


@kernel
def deal_unseen(
    g: Record, observer: int, plausibility: np.ndarray, key: int, deal: int, trial: Records, moves: np.ndarray
) -> None:
    """Turn a view of ``observer`` into a game that could be behind it, by a key (uint64) and the number of the deal.

    ``trial`` (one record) and ``moves`` (int16[1045]) are room to work in.
    """
    cards = np.empty(PACK, np.int8)
    n, start = _unseen_cards(g, cards), 0
    for seat in range(int(g["num_players"])):
        if seat != observer and int(g["hand_n"][seat]) > 0:
            start += _deal_hand(g, seat, cards[start:n], plausibility, key, deal, trial, moves)
    _pick(cards[start:n], n - start, key, deal, MAX_SEATS << _BLOCKS)
    for at in range(start, n):
        g["pile"][at - start] = cards[at]
    words = philox(key, deal, _SEEDS, 0)
    g["seed"] = np.uint64(words[0]) << np.uint64(32) | np.uint64(words[1])


@entry
def deal_view(
    views: Records, k: int, observer: int, plausibility: np.ndarray, key: int, deal: int, games: Records, i: int
) -> None:
    """`deal_unseen` of view ``k`` into game ``i`` of another array, called from Python."""
    trial = np.empty(1, GAME)
    copy_record(games, i, views[k])
    deal_unseen(games[i], observer, plausibility, key, deal, trial, np.empty(MOST_MOVES, np.int16))
    keep(trial)
