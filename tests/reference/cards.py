"""Cards as small numbers, and the hand of the player to move as bit masks.

A natural card is `suit * 13 + rank` with suits s h d c and ranks A to K; a joker is 52. Every natural card exists
twice, so a hand is two masks: `ones` (held at least once) and `twos` (held twice), and a number of jokers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

RANKS = "A23456789TJQK"
SUITS = "shdc"
JOKER = 52
NONE = -1
ACE_HIGH = 14  # the place of an ace after the king; places 1 to 13 are ace to king

CODES = {rank + suit: s * 13 + r for s, suit in enumerate(SUITS) for r, rank in enumerate(RANKS)}
NAMES = [*CODES, "*"]


def code(text: str) -> int:
    """`7h` -> 19, `*` -> 52."""
    return JOKER if text == "*" else CODES[text]


def codes(text: str) -> list[int]:
    """The cards of a string such as `Ks 2h *`."""
    return [code(word) for word in text.split()]


def names(cards: Iterable[int]) -> str:
    """The string of a list of cards."""
    return " ".join(NAMES[card] for card in cards)


def card_at(suit: int, place: int) -> int:
    """The card at place 1 (low ace) to 14 (high ace) of a suit."""
    return suit * 13 + (place - 1) % 13


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def masks(cards: Iterable[int]) -> tuple[int, int, int]:
    """A list of cards as `(ones, twos, jokers)`."""
    ones = twos = jokers = 0
    for card in cards:
        if card == JOKER:
            jokers += 1
        elif ones >> card & 1:
            twos |= 1 << card
        else:
            ones |= 1 << card
    return ones, twos, jokers


def cards_of(ones: int, twos: int, jokers: int) -> list[int]:
    """The list, in the order of the notation, of a hand in masks."""
    naturals = sorted([*bits(ones), *bits(twos)])
    return naturals + [JOKER] * jokers


def without(ones: int, twos: int, mask: int) -> tuple[int, int]:
    """`(ones, twos)` after one copy of every card in `mask` has left the hand."""
    doubled = twos & mask
    return ones ^ (mask ^ doubled), twos ^ doubled
