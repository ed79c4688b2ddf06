"""Positions made up at random, of the kinds that random play seldom reaches.

Tables with long runs and several jokers, hands full of near melds and jokers, opened or not, an opening half laid, a
card from the pozzo that has to be used, jokers taken from the table.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from scala40_env import BadNotation, Rules
from scala40_env.rules.cards import JOKER, format_card, format_cards
from scala40_env.rules.melds import Meld, format_meld, parse_meld
from scala40_env.rules.moves import expand_meld

Position = dict[str, Any]


class Maker:
    """Makes one position: takes cards out of a pack for the table, then for the hand on move."""

    def __init__(self, rules: Rules, rng: random.Random, most_cards: int = 14, most_jokers: int = 4) -> None:
        self.rules, self.rng = rules, rng
        self.pack = Counter({**dict.fromkeys(range(52), 2), JOKER: rules.num_jokers})
        self.most_cards = min(most_cards, rules.hand_size + 1)
        self.most_jokers = most_jokers
        self.table: list[Meld] = []
        self.hand: list[int] = []

    def position(self) -> Position:
        """A position in the phase play, or draw; it may turn out to be a dead end."""
        rng, players = self.rng, self.rules.num_players
        opened = [rng.random() < 0.5 for _ in range(players)]
        self._lay_table()
        self._fill_hand(1 if opened[0] else 2)  # nobody is down to one card without having laid something
        drawing = rng.random() < 0.15 and len(self.hand) > 1
        if drawing:
            self._take(self.hand.pop(), -1)
        laps = rng.choice((1, 5) if drawing else (0, 1, 5))  # the first turn of a hand has no table yet
        return {
            "rules": self.rules.to_dict(),
            "turn": 0,
            "phase": "draw" if drawing else "play",
            "turns_played": laps * players,
            "hands": [format_cards(sorted(self.hand)), *["?2"] * (players - 1)],
            "opened": opened,
            "table": [format_meld(meld) for meld in self.table],
            "pozzo": self._pozzo(),
            "this_turn": {} if drawing else self._this_turn(opened[0]),
        }

    def _take(self, card: int, count: int = 1) -> None:
        self.pack[card] -= count

    def _has(self, meld: Meld) -> bool:
        """Are the cards of a meld still in the pack?"""
        need = Counter(JOKER if card.is_joker else card.card for card in meld.cards())
        return all(self.pack[card] >= count for card, count in need.items())

    def _random_meld(self) -> Meld:
        """A run or a set that may be none by the rules."""
        rng = self.rng
        if rng.random() < 0.6:
            size = rng.choice((3, 3, 4, 5, rng.randint(3, 14)))
            low = rng.randint(0, max(14 - size, 0))
            cells = ((1 << size) - 1) << low
            key = rng.randrange(4)
        else:
            cells, key = rng.choice((7, 11, 13, 14, 15)), rng.randrange(13)
        filled = [cell for cell in range(14) if cells >> cell & 1]
        number = rng.choice((0, 0, 1, 1, rng.randint(0, self.rules.max_jokers_per_meld)))
        jokers = sum(1 << cell for cell in rng.sample(filled, min(number, len(filled))))
        return Meld("set" if cells <= 15 and len(filled) <= 4 and key > 3 else "run", key, cells, jokers)

    def _is_allowed(self, meld: Meld) -> bool:
        """Could this meld have been laid by the rules?"""
        if meld.is_run and (meld.key > 3 or meld.cells != ((1 << meld.size) - 1) << meld.low):
            return False
        try:
            expand_meld(f"meld {format_meld(parse_meld(format_meld(meld), self.rules))}", self.rules, 1)
        except BadNotation:
            return False
        return True

    def _lay_table(self) -> None:
        for _ in range(self.rng.choice((0, 1, 2, 3, 4, 6, 9))):
            meld = self._random_meld()
            if self._is_allowed(meld) and self._has(meld):
                self.table.append(meld)
                for card in meld.cards():
                    self._take(JOKER if card.is_joker else card.card)

    def _fill_hand(self, fewest: int) -> None:
        size = self.rng.randint(fewest, self.most_cards)
        self._hold([JOKER] * self.rng.randint(0, self.most_jokers), size)
        while len(self.hand) < size:
            self._hold(self._wanted(), size)

    def _wanted(self) -> list[int]:
        """Some cards that belong together, or that the table takes; or any card."""
        rng = self.rng
        what = rng.random()
        if what < 0.35:
            meld = self._random_meld()
            cards = [meld.card_at(cell) for cell in meld.filled() if meld.key <= 3 or not meld.is_run]
            return rng.sample(cards, max(len(cards) - rng.randint(0, 2), 0))
        if what < 0.7 and self.table:
            return self._cards_for(rng.choice(self.table))
        return [rng.randrange(52)]

    def _cards_for(self, meld: Meld) -> list[int]:
        """Cards that a meld takes at an end, the one after it too, and those of its jokers."""
        ends = [cell for cell in meld.open_ends() if cell is not None]
        beyond = [cell + step for cell in ends for step in (-1, 1) if meld.is_run and 0 <= cell + step <= 13]
        cells = ends + beyond + [cell for cell in meld.filled() if meld.has_joker_at(cell)]
        return [meld.card_at(cell) for cell in self.rng.sample(cells, min(len(cells), 2))]

    def _hold(self, cards: list[int], size: int) -> None:
        for card in cards:
            if self.pack[card] > 0 and len(self.hand) < size:
                self._take(card)
                self.hand.append(card)

    def _pozzo(self) -> str:
        """A card or two; often one that the table takes."""
        wanted = self._cards_for(self.rng.choice(self.table)) if self.table and self.rng.random() < 0.7 else []
        cards = [card for card in [self.rng.randrange(52), *wanted[:1]] if self.pack[card] > 0]
        if len(cards) == 2 and cards[0] == cards[1] and self.pack[cards[0]] < 2:
            cards.pop()
        return format_cards(cards)

    def _this_turn(self, opened: bool) -> Position:
        done = self._opened_turn() if opened else self._unopened_turn()
        what = self.rng.random()
        naturals = [card for card in self.hand if card != JOKER]
        own = naturals + [JOKER] * (self.hand.count(JOKER) - done.get("recovered_jokers", 0))
        if what < 0.25 and own and (opened or self.rules.opening_from_pozzo):
            done["pozzo_card"] = format_card(self.rng.choice(own))
        elif what < 0.4 and naturals:
            done["barred_card"] = format_card(self.rng.choice(naturals))
        return done

    def _unopened_turn(self) -> Position:
        """An opening half laid: new melds below the threshold."""
        rules, rng = self.rules, self.rng
        new: list[int] = []
        for at, meld in enumerate(self.table, 1):
            laid = sum(self.table[other - 1].points(rules) for other in new) + meld.points(rules)
            if rng.random() < 0.3 and laid < rules.opening_points:
                new.append(at)
        melds = [self.table[at - 1] for at in new]
        natural = sum(meld.points(rules) for meld in melds if not meld.jokers)
        return {
            "opening_points": sum(meld.points(rules) for meld in melds),
            "natural_points": natural,
            "new_melds": new,
        }

    def _opened_turn(self) -> Position:
        """Some melds laid this turn, perhaps the opening among them; perhaps jokers taken from older ones."""
        rules, rng = self.rules, self.rng
        new = [at for at in range(1, len(self.table) + 1) if rng.random() < 0.2]
        laid = sum(self.table[at - 1].points(rules) for at in new)
        just = laid >= max(rules.opening_points, 1) and rng.random() < 0.5
        done: Position = {"new_melds": new, "opening_points": laid if just else 0}
        taken = min(self.hand.count(JOKER), rng.randint(0, 2)) if rules.recovered_joker != "keep" else 0
        if taken and self.table:
            number = rng.randint(1, min(taken, len(self.table)))
            done["swapped_melds"] = sorted(rng.sample(range(1, len(self.table) + 1), number))
            done["recovered_jokers"] = taken
        done["touched_table"] = len(new) < len(self.table) and rng.random() < 0.3
        return done
