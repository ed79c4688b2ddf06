"""Reading a game record (`kernels.state.GAME`) as plain Python values, and asking the kernels for its legal moves.

Everything takes an array of one record, which is how the kernels take it too.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.kernels.engine import legal_actions as _legal_actions
from scala40_env.kernels.engine import write_mask as _write_mask
from scala40_env.kernels.state import GAME, JOKER_BIT, MAX_SEATS, NONE, PACK, RULE_NAMES, RUN
from scala40_env.rules.cards import COPIES, JOKER, NUM_NATURALS, NUM_RANKS
from scala40_env.rules.config import CHOICES, PRESET_MAX_PLAYERS, PRESETS, SPECS, Rules, Value
from scala40_env.rules.melds import Meld
from scala40_env.rules.moves import NUM_ACTIONS_EXTENDED, format_action, num_actions

Games = NDArray[Any]
"""An array of records of the dtype `GAME`; here always of length 1."""

_LANE = 16
"""Bits of a suit in a word of cards; see `kernels.state`."""


def new_games(rules: Rules, seed: int) -> Games:
    """One blank record with these rules and this seed: shape (1,), dtype `GAME`."""
    games = np.zeros(1, GAME)
    for name, number in rules.encode().items():
        games[name] = number
    games["seed"] = seed
    return games


def number(games: Games, name: str) -> int:
    """A field that holds one number, as a plain int."""
    return int(games[name][0])


def numbers(games: Games, name: str) -> list[int]:
    """A field that holds a number for each seat, as plain ints for the seats of this match."""
    values: list[int] = games[name][0, : number(games, "num_players")].tolist()
    return values


def rules_of(games: Games) -> Rules:
    """The rules of a record, under the name of the preset that they are closest to."""
    return _decoded(tuple(number(games, name) for name in RULE_NAMES))


@lru_cache(maxsize=256)
def _decoded(codes: tuple[int, ...]) -> Rules:
    values: dict[str, Any] = {name: _value(name, code) for name, code in zip(RULE_NAMES, codes, strict=True)}
    return Rules.from_preset(_closest_preset(Rules(**values)), **values)


def _closest_preset(rules: Rules) -> str:
    """The preset, among those for so many players, with the fewest differences."""

    def differences(preset: str) -> int:
        return len(rules.differences(Rules.from_preset(preset, num_players=rules.num_players)))

    return min(
        (name for name in PRESETS if rules.num_players <= PRESET_MAX_PLAYERS.get(name, MAX_SEATS)), key=differences
    )


def _value(name: str, code: int) -> Value:
    """The value of a field of `Rules` that `Rules.encode` made this number of."""
    if name in CHOICES:
        return CHOICES[name][code]
    if SPECS[name]["none"] and code == NONE:
        return None
    return code if "range" in SPECS[name] else bool(code)


def cards_in(one: int, two: int, jokers: int) -> list[int]:
    """The cards of two words and a number of jokers, in ascending order."""
    cards = [card for card in range(NUM_NATURALS) for word in (one, two) if word >> _bit_index(card) & 1]
    return cards + [JOKER] * jokers


def words_in(cards: Iterable[int]) -> tuple[int, int, int]:
    """The cards held once, those held twice, and the number of jokers; no natural card occurs three times."""
    words, jokers = [0] * COPIES, 0
    for card in cards:
        if card == JOKER:
            jokers += 1
        else:
            bit = 1 << _bit_index(card)
            words[words[0] & bit != 0] |= bit
    return words[0], words[1], jokers


def word_in(cards: Iterable[int]) -> int:
    """The set of these cards in one word."""
    word = 0
    for card in cards:
        word |= JOKER_BIT if card == JOKER else 1 << _bit_index(card)
    return word


def _bit_index(card: int) -> int:
    return card // NUM_RANKS * _LANE + card % NUM_RANKS


def hand_of(games: Games, seat: int) -> list[int]:
    """The cards of a seat in ascending order."""
    return _held(games, seat, "")


def known_of(games: Games, seat: int) -> list[int]:
    """Those cards of a seat that everybody saw go into its hand, in ascending order."""
    return _held(games, seat, "known_")


def _held(games: Games, seat: int, prefix: str) -> list[int]:
    one, two, jokers = (int(games[prefix + name][0, seat]) for name in ("one", "two", "jokers"))
    return cards_in(one, two, jokers)


def threw_of(games: Games, seat: int) -> list[int]:
    """The different cards that a seat has discarded in this hand, in ascending order."""
    return _in_word(int(games["threw"][0, seat]))


def took_of(games: Games, seat: int) -> list[int]:
    """The different cards that a seat has taken from the pozzo, or bought, in this hand, in ascending order."""
    return _in_word(int(games["took"][0, seat]))


def _in_word(word: int) -> list[int]:
    return cards_in(word, 0, int(word & JOKER_BIT != 0))


def melds_of(games: Games) -> list[Meld]:
    """The melds on the table in the order of their numbers."""
    fields = ("meld_kind", "meld_key", "meld_cells", "meld_jokers")
    n = number(games, "meld_n")
    columns = [games[name][0, :n].tolist() for name in fields]
    return [Meld("run" if kind == RUN else "set", *rest) for kind, *rest in zip(*columns, strict=True)]


def pozzo_of(games: Games) -> list[int]:
    """The cards of the pozzo, the top one last."""
    return _from_the_end(games, "pile")


def discarders_of(games: Games) -> list[int]:
    """For each card of the pozzo the seat that discarded it, -1 for the upcard and where nobody knows."""
    return _from_the_end(games, "discarded_by")


def _from_the_end(games: Games, name: str) -> list[int]:
    values: list[int] = games[name][0, PACK - number(games, "pozzo_n") :].tolist()
    return values[::-1]


def stock_of(games: Games) -> list[int]:
    """The cards of the stock, the one drawn next last; none in a view, where they are hidden."""
    cards: list[int] = games["pile"][0, : number(games, "stock_n")].tolist()
    return [card for card in cards if card != NONE]


def numbers_of_melds(games: Games, name: str) -> list[int]:
    """The numbers (from 1) of the melds in a bit set of slots."""
    word = number(games, name)
    return [slot + 1 for slot in range(word.bit_length()) if word >> slot & 1]


def legal_ids(games: Games) -> list[int]:
    """The legal action ids of the seat on move, ascending; none when the hand is over."""
    out = np.empty(NUM_ACTIONS_EXTENDED, np.int16)
    n = int(_legal_actions(games, 0, out))
    ids: list[int] = np.sort(out[:n]).tolist()
    return ids


def legal_mask(games: Games, rules: Rules) -> NDArray[np.int8]:
    """The mask of legal actions: int8, shape (`num_actions(rules)`,)."""
    mask = np.zeros(num_actions(rules), np.int8)
    _write_mask(games, 0, mask)
    return mask


def texts_of(games: Games, actions: Iterable[int]) -> list[str]:
    """Actions in notation, as they read on this table."""
    melds = melds_of(games)
    return [format_action(action, melds) for action in actions]
