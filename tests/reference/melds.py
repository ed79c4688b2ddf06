"""Melds: what may lie on the table, what it is worth, and how it can grow or give up a joker.

A run is kept as places 1 (low ace) to 14 (high ace) of a suit, a group (tris or poker) as the suits of a rank; each
with a mask of the places or suits that jokers stand for. Both are immutable, so that states of a turn can be hashed.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from .cards import ACE_HIGH, NAMES, card_at, code
from .options import Options


class Run(NamedTuple):
    """Cards of one suit at the places `low` to `high`; bit p of `jokers`: a joker stands at place p."""

    suit: int
    low: int
    high: int
    jokers: int


class Group(NamedTuple):
    """Cards of one rank (0 is the ace) in the suits of a mask; bit s of `jokers`: a joker stands for suit s."""

    rank: int
    suits: int
    jokers: int


Meld = Run | Group


class Three(NamedTuple):
    """Three cards that may be laid as a new meld: the naturals that they take, and how many jokers."""

    meld: Meld
    mask: int
    jokers: int
    value: int


class Spot(NamedTuple):
    """A place where a meld can take one more card, and the meld with a natural or a joker there (None: refused)."""

    end: str
    card: int
    value: int
    natural: Meld | None
    joker: Meld | None


class Replacement(NamedTuple):
    """A joker on the table, the natural card that it stands for, and the meld after the swap."""

    card: int
    which: str  # "high" for the upper of two joker aces in one run, else empty
    meld: Meld


def places(meld: Run) -> range:
    """The places of a run from low to high."""
    return range(meld.low, meld.high + 1)


def meld_cards(meld: Meld) -> list[tuple[int, bool]]:
    """The cards of a meld in the order of the notation, each with whether a joker stands for it."""
    if isinstance(meld, Run):
        return [(card_at(meld.suit, place), bool(meld.jokers >> place & 1)) for place in places(meld)]
    return [(suit * 13 + meld.rank, bool(meld.jokers >> suit & 1)) for suit in range(4) if meld.suits >> suit & 1]


@lru_cache(maxsize=1 << 15)
def meld_text(meld: Meld) -> str:
    """A meld in notation: `5s *6s 7s`."""
    return " ".join("*" * joker + NAMES[card] for card, joker in meld_cards(meld))


@lru_cache(maxsize=1 << 15)
def parse_meld(text: str) -> Meld:
    """The meld of a string, which must be one (the length and joker limits of the options are not looked at)."""
    words = text.split()
    cards = [code(word.lstrip("*")) for word in words]
    jokers = [word.startswith("*") for word in words]
    if len(words) < 3:
        raise ValueError(f"not a meld: {text!r}")
    if len({card % 13 for card in cards}) == 1:
        suits = sum({1 << card // 13 for card in cards})
        stood_for = sum({1 << card // 13 for card, joker in zip(cards, jokers, strict=True) if joker})
        return _checked(Group(cards[0] % 13, suits, stood_for), text)
    low = cards[0] % 13 + 1
    mask = sum(1 << low + i for i, joker in enumerate(jokers) if joker)
    return _checked(Run(cards[0] // 13, low, low + len(cards) - 1, mask), text)


def _checked(meld: Meld, text: str) -> Meld:
    if (isinstance(meld, Run) and meld.high > ACE_HIGH) or meld_text(meld) != " ".join(text.split()):
        raise ValueError(f"not a meld: {text!r}")
    return meld


def two_natural_aces(run: Run) -> bool:
    """A run never holds two natural aces."""
    return run.low == 1 and run.high == ACE_HIGH and not run.jokers & (1 << 1 | 1 << ACE_HIGH)


class MeldBook:
    """All about melds that depends on the options; what it works out about a meld it remembers."""

    def __init__(self, rules: Options) -> None:
        courts = [11, 12, 13] if rules.ascending else [10, 10, 10]
        self.ace_high = 14 if rules.ascending else 11
        self.rules = rules
        self.place_value: list[int] = [0, 1, *range(2, 11), *courts, self.ace_high]
        self.rank_value: list[int] = [self.ace_high, *self.place_value[2:14]]
        self.threes = [self._threes(jokers) for jokers in range(3)]
        self.threes_with = [[[t for t in threes if t.mask >> c & 1] for c in range(52)] for threes in self.threes]
        self._spots: dict[Meld, tuple[Spot, ...]] = {}
        self._replacements: dict[Meld, tuple[Replacement, ...]] = {}
        self._taken: dict[Meld, tuple[int, int, bool]] = {}

    # --- three cards as a new meld -------------------------------------------------------------------------------

    def _threes(self, jokers: int) -> list[Three]:
        """All melds of three cards with that many jokers, dear ones first."""
        if jokers > self.rules.max_jokers_per_meld or 3 - jokers < self.rules.min_naturals_per_meld:
            return []
        runs = [
            self._three(Run(suit, low, low + 2, sum(1 << low + step for step in steps)))
            for suit in range(4)
            for low in range(1, 13)
            for steps in combinations(range(3), jokers)
        ]
        groups = [
            self._three(Group(rank, sum(1 << suit for suit in suits), sum(1 << suit for suit in stood_for)))
            for rank in range(13)
            for suits in combinations(range(4), 3)
            for stood_for in combinations(suits, jokers)
        ]
        return sorted(runs + groups, key=lambda three: -three.value)

    def _three(self, meld: Meld) -> Three:
        cards = meld_cards(meld)
        mask = sum(1 << card for card, joker in cards if not joker)
        return Three(meld, mask, sum(joker for _, joker in cards), self.value(meld))

    def value(self, meld: Meld) -> int:
        """Points on the table: an ace is 1 before the 2, 11 after the king and in a set; a joker as its card."""
        if isinstance(meld, Run):
            return sum(self.place_value[place] for place in places(meld))
        return self.rank_value[meld.rank] * meld.suits.bit_count()

    # --- lengthening ---------------------------------------------------------------------------------------------

    def spots(self, meld: Meld) -> tuple[Spot, ...]:
        """Where one more card can be attached to a meld."""
        found = self._spots.get(meld)
        if found is None:
            found = tuple(self._run_spots(meld) if isinstance(meld, Run) else self._group_spots(meld))
            self._spots[meld] = found
        return found

    def _run_spots(self, run: Run) -> list[Spot]:
        """A run grows at both ends, up to the longest run allowed, never over an ace."""
        if run.high - run.low + 1 >= self.rules.max_run_length:
            return []
        spots = []
        if run.low > 1:
            spots.append(self._run_spot("low", run.low - 1, run._replace(low=run.low - 1)))
        if run.high < ACE_HIGH:
            spots.append(self._run_spot("high", run.high + 1, run._replace(high=run.high + 1)))
        return spots

    def _run_spot(self, end: str, place: int, grown: Run) -> Spot:
        natural = None if two_natural_aces(grown) else grown
        joker = grown._replace(jokers=grown.jokers | 1 << place) if self._room_for_joker(grown) else None
        return Spot(end, card_at(grown.suit, place), self.place_value[place], natural, joker)

    def _group_spots(self, group: Group) -> list[Spot]:
        """A set of three takes the missing suit; a set never has five cards."""
        if group.suits.bit_count() != 3:
            return []
        missing = 15 ^ group.suits
        card = (missing.bit_length() - 1) * 13 + group.rank
        natural = group._replace(suits=15)
        joker = natural._replace(jokers=group.jokers | missing) if self._room_for_joker(group) else None
        return [Spot("", card, self.rank_value[group.rank], natural, joker)]

    def _room_for_joker(self, meld: Meld) -> bool:
        return meld.jokers.bit_count() < self.rules.max_jokers_per_meld

    # --- swapping ------------------------------------------------------------------------------------------------

    def replacements(self, meld: Meld) -> tuple[Replacement, ...]:
        """The jokers of a meld that a natural card may replace (not where a second natural ace would come in)."""
        found = self._replacements.get(meld)
        if found is None:
            found = tuple(self._run_replacements(meld) if isinstance(meld, Run) else self._group_replacements(meld))
            self._replacements[meld] = found
        return found

    def _run_replacements(self, run: Run) -> list[Replacement]:
        found = []
        for place in places(run):
            after = run._replace(jokers=run.jokers & ~(1 << place))
            if run.jokers >> place & 1 and not two_natural_aces(after):
                upper_of_two = place == ACE_HIGH and run.low == 1 and bool(run.jokers >> 1 & 1)
                found.append(Replacement(card_at(run.suit, place), "high" if upper_of_two else "", after))
        return found

    def _group_replacements(self, group: Group) -> list[Replacement]:
        return [
            Replacement(suit * 13 + group.rank, "", group._replace(jokers=group.jokers & ~(1 << suit)))
            for suit in range(4)
            if group.jokers >> suit & 1
        ]

    # --- the discard ban -----------------------------------------------------------------------------------------

    def taken(self, meld: Meld) -> tuple[int, int, bool]:
        """What a meld would take: natural cards that attach, natural cards that replace a joker, and a joker or not."""
        found = self._taken.get(meld)
        if found is None:
            spots = self.spots(meld)
            attach = sum({1 << spot.card for spot in spots if spot.natural is not None})
            replace = sum({1 << replacement.card for replacement in self.replacements(meld)})
            found = self._taken[meld] = (attach, replace, any(spot.joker is not None for spot in spots))
        return found


@lru_cache(maxsize=256)
def meld_book(rules: Options) -> MeldBook:
    """One book for each set of options."""
    return MeldBook(rules)
