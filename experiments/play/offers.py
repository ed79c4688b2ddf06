"""What some cards of a hand could do: lie down as a new meld, go to a meld on the table, or be thrown.

What is legal the engine says; here its moves are only sorted by where they go. Cards and moves are in notation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from scala40_env.rules.cards import JOKER, NUM_SUITS, TableCard, format_cards, parse_cards, rank_of, suit_of
from scala40_env.rules.errors import IllegalMove, Scala40Error
from scala40_env.rules.game import Game
from scala40_env.rules.melds import ACE_HIGH, ACE_LOW, MIN_SIZE, Meld
from scala40_env.rules.reading import melds_of

__all__ = ["NEW", "POZZO", "Way", "lit", "reason_of", "ways", "why_not"]

NEW, POZZO = "new", "pozzo"
"""Where cards can be put beside the melds on the table, which have numbers: down as a new meld, and on the pozzo."""

Target = str | int

NO_MELD = "these cards make no meld: a run is of one suit in sequence, a set of one rank in different suits"


class Way(NamedTuple):
    """A way to put cards somewhere: the moves, and what lies there afterwards."""

    moves: str
    shows: str


@dataclass(frozen=True)
class Lit:
    """The targets that some cards may go to."""

    new: bool
    pozzo: bool
    melds: list[int]


def lit(game: Game, cards: Sequence[str]) -> Lit:
    """Where these cards of the seat on move may go."""
    numbers = range(1, len(melds_of(game.state)) + 1)
    return Lit(
        new=bool(ways(game, cards, NEW)),
        pozzo=bool(ways(game, cards, POZZO)),
        melds=[number for number in numbers if ways(game, cards, number)],
    )


def ways(game: Game, cards: Sequence[str], target: Target) -> list[Way]:
    """All legal ways to put these cards there; several where a joker could stand for several cards."""
    if target == NEW:
        return [way for way in _to_lay(cards) if _refusal(game, way.moves) is None]
    if target == POZZO:
        throws = [f"discard {cards[0]}"] if len(cards) == 1 else []
        return [Way(move, cards[0]) for move in throws if move in game.legal_moves()]
    return sorted({shows: Way(moves, shows) for moves, shows in _onto(game, cards, int(target))}.values())


def why_not(game: Game, cards: Sequence[str], target: Target) -> str:
    """Why these cards can't go there, in the package's words."""
    return next((why for move in _tries(game, cards, target) if (why := _refusal(game, move))), NO_MELD)


def reason_of(error: Scala40Error) -> str:
    """What an error says, without the legal moves and the position behind it: it would show hidden cards."""
    text = error.reason if isinstance(error, IllegalMove) else str(error)
    return text.partition("; legal: ")[0].removesuffix("; no move is legal")


def _refusal(game: Game, moves: str) -> str | None:
    """Why moves can't be played, None if they can."""
    try:
        game.copy().play(moves)
    except Scala40Error as error:
        return reason_of(error)
    return None


def _tries(game: Game, cards: Sequence[str], target: Target) -> Iterator[str]:
    """The moves that somebody who puts cards there may have meant."""
    if target == POZZO:
        yield from (f"discard {card}" for card in cards)
    elif target == NEW:
        yield from (way.moves for way in _to_lay(cards))
        naturals = [card for card in cards if card != "*"]
        if len(cards) < MIN_SIZE or len(naturals) >= MIN_SIZE:
            yield f"meld {' '.join(_in_order(naturals))}"
    else:
        yield from (move for card in cards for move in _tries_onto(game, card, int(target)))


def _tries_onto(game: Game, card: str, number: int) -> Iterator[str]:
    meld = melds_of(game.state)[number - 1]
    if card == "*":
        cells = [cell for cell in meld.open_ends() if cell is not None] or [meld.filled()[0]]
        yield from (f"attach {TableCard(meld.card_at(cell), True)} {number}" for cell in cells)
        return
    verb = "swap" if f"*{card}" in str(meld).split() else "attach"
    yield f"{verb} {card} {number}"
    yield f"{verb} {card} {number} low"


# ---------------------------------------------------------------------------------------------------------------------
# New melds


def _to_lay(cards: Sequence[str]) -> list[Way]:
    """The melds that exactly these cards make, whether they may be laid here or not."""
    naturals, jokers = _parted(cards)
    if len(cards) < MIN_SIZE or not naturals:
        return []
    made = [*_sets(naturals, jokers), *_runs(naturals, jokers)]
    return [Way(f"meld {meld}", str(meld)) for meld in made]


def _in_order(cards: Sequence[str]) -> list[str]:
    return format_cards(sorted(parse_cards(" ".join(cards)))).split()


def _parted(cards: Sequence[str]) -> tuple[list[int], int]:
    """The natural cards and the number of jokers."""
    numbers = parse_cards(" ".join(cards))
    naturals = [card for card in numbers if card != JOKER]
    return naturals, len(numbers) - len(naturals)


def _sets(naturals: Sequence[int], jokers: int) -> Iterator[Meld]:
    suits = {suit_of(card) for card in naturals}
    if len({rank_of(card) for card in naturals}) > 1 or len(suits) < len(naturals):
        return
    cells = sum(1 << suit for suit in suits)
    for others in combinations([suit for suit in range(NUM_SUITS) if suit not in suits], jokers):
        filled = sum(1 << suit for suit in others)
        yield Meld("set", rank_of(naturals[0]), cells | filled, filled)


def _runs(naturals: Sequence[int], jokers: int) -> Iterator[Meld]:
    """Runs of these cards: jokers fill the gaps, and those left over go to the ends in every way."""
    ranks = Counter(rank_of(card) for card in naturals)
    if len({suit_of(card) for card in naturals}) > 1 or max(ranks.values()) > 1:
        return
    length = len(naturals) + jokers
    for low in range(ACE_HIGH - length + 2):
        window = range(low, low + length)
        for ace in (ACE_LOW, ACE_HIGH) if 0 in ranks else (ACE_LOW,):
            cells = {rank or ace for rank in ranks}
            if cells <= {*window}:
                filled = sum(1 << cell for cell in window)
                yield Meld("run", suit_of(naturals[0]), filled, filled & ~sum(1 << cell for cell in cells))


# ---------------------------------------------------------------------------------------------------------------------
# Melds on the table


def _onto(game: Game, cards: Sequence[str], number: int) -> Iterator[tuple[str, str]]:
    """The legal moves that put all these cards on a meld, in one order, and the meld afterwards."""
    seen: set[tuple[str, tuple[str, ...]]] = set()

    def grow(at: Game, left: tuple[str, ...], moves: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        lies = str(melds_of(at.state)[number - 1])
        if (lies, left) in seen:
            return
        seen.add((lies, left))
        if not left:
            yield "; ".join(moves), lies
        for move in _moves_onto(at, number) if left else ():
            card = move.split()[1]
            used = "*" if card.startswith("*") else card
            if used in left and (len(cards) == 1 or move.startswith("attach")):
                rest = list(left)
                rest.remove(used)
                yield from grow(at.copy().play(move), tuple(rest), (*moves, move))

    yield from grow(game, tuple(sorted(cards)), ())


def _moves_onto(game: Game, number: int) -> list[str]:
    """The legal moves to that meld."""
    return [
        move for move in game.legal_moves() if move.split()[0] in ("attach", "swap") and move.split()[2] == f"{number}"
    ]
