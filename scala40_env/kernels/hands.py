"""Cards going into hands and out of them."""

from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.lanes import bit_of, bit_or_joker
from scala40_env.kernels.state import JOKER

__all__ = [
    "drop_bits",
    "drop_jokers",
    "forget_known",
    "give",
    "remember_known",
    "remember_threw",
    "remember_took",
    "take",
]


@kernel
def give(g: Record, seat: int, card: int) -> None:
    """Put a card into a hand."""
    g["hand_n"][seat] = int(g["hand_n"][seat]) + 1
    if card == JOKER:
        g["jokers"][seat] = int(g["jokers"][seat]) + 1
        return
    bit, one = bit_of(card), int(g["one"][seat])
    g["two"][seat] = int(g["two"][seat]) | (one & bit)
    g["one"][seat] = one | bit


@kernel
def remember_known(g: Record, seat: int, card: int) -> None:
    """Note that everybody saw this card go into the hand."""
    if card == JOKER:
        g["known_jokers"][seat] = int(g["known_jokers"][seat]) + 1
        return
    bit, one = bit_of(card), int(g["known_one"][seat])
    g["known_two"][seat] = int(g["known_two"][seat]) | (one & bit)
    g["known_one"][seat] = one | bit


@kernel
def remember_threw(g: Record, seat: int, card: int) -> None:
    """Note that the seat discarded this card."""
    g["threw"][seat] = int(g["threw"][seat]) | bit_or_joker(card)


@kernel
def remember_took(g: Record, seat: int, card: int) -> None:
    """Note that the seat took this card from the pozzo, which everybody saw."""
    g["took"][seat] = int(g["took"][seat]) | bit_or_joker(card)
    remember_known(g, seat, card)


@kernel
def forget_known(g: Record, seat: int, bits: int) -> None:
    """Note that these cards left the hand: one known copy fewer of each."""
    two = int(g["known_two"][seat])
    g["known_two"][seat] = two & ~bits
    g["known_one"][seat] = int(g["known_one"][seat]) & ~(bits & ~two)


@kernel
def drop_bits(g: Record, seat: int, bits: int, count: int) -> None:
    """Take ``count`` different natural cards out of a hand, one copy of each."""
    two = int(g["two"][seat])
    g["two"][seat] = two & ~bits
    g["one"][seat] = int(g["one"][seat]) & ~(bits & ~two)
    g["hand_n"][seat] = int(g["hand_n"][seat]) - count
    if int(g["known_one"][seat]):
        forget_known(g, seat, bits)


@kernel
def drop_jokers(g: Record, seat: int, count: int) -> None:
    """Take jokers out of a hand."""
    g["jokers"][seat] = int(g["jokers"][seat]) - count
    g["known_jokers"][seat] = max(int(g["known_jokers"][seat]) - count, 0)
    g["hand_n"][seat] = int(g["hand_n"][seat]) - count


@kernel
def take(g: Record, seat: int, card: int) -> None:
    """Take one card out of a hand."""
    if card == JOKER:
        drop_jokers(g, seat, 1)
    else:
        drop_bits(g, seat, bit_of(card), 1)
