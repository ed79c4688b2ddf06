"""Cards as numbers and as text.

A card is a number from 0 to 52: the 52 natural cards in suit order s h d c, each from the ace to the king, then the
joker::

     0 .. 12   As 2s ... Ks
    13 .. 25   Ah 2h ... Kh
    26 .. 38   Ad 2d ... Kd
    39 .. 51   Ac 2c ... Kc
    52         *

A hand in canonical order is in ascending order of these numbers. Text is written as ``Td``; ``10d``, ``T♦`` and small
or capital letters are read too. A joker in a hand, the pozzo or the stock is ``*``; on the table it is written with
the card that it stands for, ``*7d`` (`TableCard`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from scala40_env.rules.errors import BadNotation, shown

SUITS = "shdc"
"""Spades, hearts, diamonds, clubs: suit numbers 0 to 3."""
RANKS = "A23456789TJQK"
"""Rank numbers 0 (ace) to 12 (king)."""
NUM_SUITS = len(SUITS)
NUM_RANKS = len(RANKS)
NUM_NATURALS = NUM_SUITS * NUM_RANKS
JOKER = NUM_NATURALS
NUM_CARD_TYPES = NUM_NATURALS + 1
COPIES = 2
"""How often every natural card exists: two packs."""

_CARD_TEXTS = (*(rank + suit for suit in SUITS for rank in RANKS), "*")
_CARD_IDS = {text: card for card, text in enumerate(_CARD_TEXTS)}
# U+FE0F asks for the coloured form of a sign; it comes along when cards are copied from a phone.
_SUIT_SIGNS = str.maketrans({"♠": "s", "♥": "h", "♦": "d", "♣": "c", "\N{VARIATION SELECTOR-16}": None})
_CARD_FORMS = f"a card is a rank {' '.join(RANKS)} and a suit {' '.join(SUITS)}, as Td, or a joker *"


class TableCard(NamedTuple):
    """A card on the table: `card` (0 to 51) is what it is, or what the joker there stands for."""

    card: int
    is_joker: bool = False

    def __str__(self) -> str:
        return ("*" if self.is_joker else "") + _CARD_TEXTS[self.card]


def card_id(suit: int, rank: int) -> int:
    """The card of suit 0 to 3 and rank 0 (ace) to 12 (king)."""
    return suit * NUM_RANKS + rank


def suit_of(card: int) -> int:
    """Suit 0 to 3 (s h d c) of a natural card 0 to 51."""
    return card // NUM_RANKS


def rank_of(card: int) -> int:
    """Rank 0 (ace) to 12 (king) of a natural card 0 to 51."""
    return card % NUM_RANKS


def parse_card(text: str) -> int:
    """Read one card: ``"Td"``, ``"10d"``, ``"T♦"`` or ``"*"``. Raises `BadNotation`.

    >>> parse_card("As"), parse_card("10h"), parse_card("7♠"), parse_card("*")
    (0, 22, 6, 52)
    """
    card = _CARD_IDS.get(_canonical(text))
    if card is None:
        raise BadNotation(f"{shown(text)} is not a card; {_CARD_FORMS}")
    return card


def _canonical(text: str) -> str:
    """The written form of a card's text: sign to letter, 10 to T, rank in capitals, suit small."""
    text = words_of(text, "a card").strip().translate(_SUIT_SIGNS)
    if text.startswith("10"):
        text = "T" + text[2:]
    return text[:1].upper() + text[1:].lower()


def words_of(text: object, what: str) -> str:
    """`text` if it is a string; raises `BadNotation` otherwise, so that parsers raise nothing else."""
    if not isinstance(text, str):
        raise BadNotation(f"{what} is written as a string, not as {type(text).__name__} {shown(text)}")
    return text


def format_card(card: int) -> str:
    """The text of card 0 to 52. Raises `BadNotation` for any other number."""
    if not 0 <= card < NUM_CARD_TYPES:
        raise BadNotation(f"{shown(card)} is not a card number; cards are 0 to {JOKER} ({JOKER} is the joker)")
    return _CARD_TEXTS[card]


def parse_cards(text: str) -> list[int]:
    """Read cards separated by spaces, in the order written; none at all is an empty list. Raises `BadNotation`."""
    return [parse_card(word) for word in words_of(text, "a list of cards").split()]


def format_cards(cards: Iterable[int]) -> str:
    """Cards separated by spaces, in the order given. Raises `BadNotation`."""
    return " ".join(format_card(card) for card in cards)


def parse_table_card(text: str) -> TableCard:
    """Read a card on the table: ``"7d"``, or ``"*7d"`` for a joker that stands for it. Raises `BadNotation`."""
    word = words_of(text, "a card").strip()
    card = parse_card(word.removeprefix("*") or word)
    if card == JOKER:
        raise BadNotation(f"{shown(text)} does not say what the joker stands for; on the table write it as *7d")
    return TableCard(card, word.startswith("*"))
