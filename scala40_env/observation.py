"""What a seat knows as a vector of int8: the schema of its parts.

One list of named parts is the source of everything: the space, the slices, the places where the kernels write
(`kernels.observation`), and the table in the documentation. Parts about cards are grids of 4 suits (s h d c) by 14
ranks, ace to king and the ace once more above the king; an ace is marked at both ends. Grids come first, so that all
planes lie together and `Schema.planes` gives them as one image. Seats go by order of play, the observer being seat 0;
of a seat that is out of the match every number is zero but `out`.

>>> from scala40_env import Game, Rules
>>> game = Game(Rules.fisca(num_players=2), seed=7)
>>> schema = schema_of(game.rules)
>>> parts = schema.split(schema.observe(game.view(0)))
>>> parts["hand"].shape, int(parts["hand_sizes"][0])
((2, 4, 14), 13)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scala40_env.kernels.observation import (
    MOST,
    PARTS,
    SLOT_FEATURES,
    SMALL_RULES,
    WIDE_RULES,
    write_observation,
    write_state,
)
from scala40_env.kernels.state import MAX_MELDS, PACK, PHASES
from scala40_env.rules.cards import NUM_SUITS
from scala40_env.rules.config import SPECS, Rules
from scala40_env.rules.melds import NUM_POSITIONS
from scala40_env.rules.reading import Games

if TYPE_CHECKING:
    from gymnasium.spaces import Box

    from scala40_env.rules.view import View

__all__ = ["ObservationSchema", "Part", "Schema", "StateSchema", "schema_of", "state_schema_of"]

Vector = NDArray[np.int8]
"""An observation, or a state: int8, shape (..., `size`)."""

_GRID = (NUM_SUITS, NUM_POSITIONS)
_JOKERS = 4
_RULES = (*SMALL_RULES, *WIDE_RULES)
_POSITIONS = prod(_GRID)


@dataclass(frozen=True)
class Part:
    """One part of a vector: its shape, the range of its values (along the last axis where it varies), its meaning.

    `public` parts are the same for all seats but for the order of the seats.
    """

    name: str
    shape: tuple[int, ...]
    low: int | tuple[int, ...]
    high: int | tuple[int, ...]
    public: bool
    meaning: str

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)

    @property
    def is_grid(self) -> bool:
        """Is it planes of 4 suits by 14 ranks?"""
        return self.shape[-2:] == _GRID

    def bounds(self) -> tuple[Vector, Vector]:
        """Lowest and highest values: int8, of the shape of the part."""
        low, high = (np.broadcast_to(np.array(bound, np.int8), self.shape) for bound in (self.low, self.high))
        return low, high


class Schema:
    """Named parts, one after the other in one vector of int8."""

    def __init__(self, num_players: int, parts: Sequence[Part]) -> None:
        self.num_players = num_players
        self.parts = tuple(sorted(parts, key=lambda part: not part.is_grid))
        ends = np.cumsum([part.size for part in self.parts]).tolist()
        self.size: int = ends[-1]
        #: Where each part lies in the vector.
        self.slices: dict[str, slice] = {
            part.name: slice(end - part.size, end) for part, end in zip(self.parts, ends, strict=True)
        }
        #: The same for the kernels: int64, shape (len(`kernels.observation.PARTS`),).
        self.layout: NDArray[np.int64] = _layout(self.slices)
        #: How many planes of 4 suits by 14 ranks the vector begins with.
        self.num_planes: int = sum(part.shape[0] for part in parts if part.is_grid)

    @cached_property
    def bounds(self) -> tuple[Vector, Vector]:
        """Lowest and highest value of every number: int8, shape (`size`,) each."""
        lows, highs = zip(*(part.bounds() for part in self.parts), strict=True)
        return np.concatenate([low.ravel() for low in lows]), np.concatenate([high.ravel() for high in highs])

    def space(self) -> Box:
        """The space of the vectors: a Box of int8 with the bounds of every number."""
        from gymnasium.spaces import Box

        low, high = self.bounds
        return Box(low, high, dtype=np.int8)

    def empty(self, *batch: int) -> Vector:
        """Zeros to write into: int8, shape (batch ..., `size`)."""
        return np.zeros((*batch, self.size), np.int8)

    def split(self, vector: Vector) -> dict[str, Vector]:
        """The parts of vectors, shape (..., `size`), as views: the last axis becomes the shape of the part."""
        return {
            part.name: vector[..., self.slices[part.name]].reshape(*vector.shape[:-1], *part.shape)
            for part in self.parts
        }

    def planes(self, vector: Vector) -> Vector:
        """All grids of vectors, shape (..., `size`), as one image: a view of shape (..., `num_planes`, 4, 14)."""
        end = self.num_planes * prod(_GRID)
        return vector[..., :end].reshape(*vector.shape[:-1], self.num_planes, *_GRID)

    def table(self) -> str:
        """The parts as a table in Markdown."""
        rows = ["| part | at | shape | range | seen by | meaning |", "|---|---|---|---|---|---|"]
        for part in self.parts:
            at = self.slices[part.name].start
            shape = " x ".join(map(str, part.shape))
            low, high = (int(bound.min()) if k == 0 else int(bound.max()) for k, bound in enumerate(part.bounds()))
            seen = "all" if part.public else "its seat"
            rows.append(f"| `{part.name}` | {at} | {shape} | {low} to {high} | {seen} | {part.meaning} |")
        return "\n".join(rows)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self.num_players} players: {len(self.parts)} parts, int8[{self.size}]>"


def _layout(slices: dict[str, slice]) -> NDArray[np.int64]:
    return np.array([slices[name].start if name in slices else -1 for name in PARTS], np.int64)


class ObservationSchema(Schema):
    """What one seat knows, for a number of players: hidden cards never enter.

    The same for all rules with as many players, so that what was learnt under one variant can go on under another.
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules.num_players, [*_private_parts(), *_public_parts(rules.num_players)])

    def write(self, games: Games, i: int, seat: int, out: Vector) -> None:
        """Write what `seat` knows of game `i` of an array of records into `out`: int8, shape (`size`,), contiguous."""
        write_observation(games, i, seat, self.layout, out)

    def observe(self, view: View) -> Vector:
        """The observation of the seat of a view: int8, shape (`size`,)."""
        out = self.empty()
        self.write(view.state.copy(), 0, view.seat, out)
        return out


class StateSchema(Schema):
    """All that there is, for centralised critics: every hand, the next card of the stock, seats by their number."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules.num_players, [*_hidden_parts(rules.num_players), *_public_parts(rules.num_players)])

    def write(self, games: Games, i: int, out: Vector) -> None:
        """Write all of game `i` of an array of records into `out`: int8, shape (`size`,), contiguous."""
        write_state(games, i, self.layout, out)

    def state(self, games: Games, i: int = 0) -> Vector:
        """The state of game `i`: int8, shape (`size`,)."""
        out = self.empty()
        self.write(games, i, out)
        return out


# ---------------------------------------------------------------------------------------------------------------------
# The parts

_PERCENT = "in per cent of `limit`, rounded down"


def _planes(name: str, planes: int, meaning: str, *, public: bool = True) -> Part:
    return Part(name, (planes, *_GRID), 0, 1, public, meaning)


def _numbers(
    name: str, count: int, high: int | tuple[int, ...], meaning: str, *, low: int = 0, public: bool = True
) -> Part:
    return Part(name, (count,), low, high, public, meaning)


def _private_parts() -> list[Part]:
    """What only the seat itself knows."""
    return [
        _planes("hand", 2, "own cards: held, held twice", public=False),
        _numbers("hand_jokers", 1, _JOKERS, "own jokers", public=False),
        _numbers("on_move", 1, 1, "the observer has to move"),
    ]


def _hidden_parts(n: int) -> list[Part]:
    """What a game hides."""
    return [
        _planes("hand", 2 * n, "for each seat two planes: cards held, cards held twice", public=False),
        _planes("stock_next", 1, "the card of the stock that is drawn next", public=False),
        _numbers("hand_jokers", n, _JOKERS, "jokers of each seat", public=False),
        _numbers("stock_next_joker", 1, 1, "the card of the stock that is drawn next is a joker", public=False),
    ]


def _public_parts(n: int) -> list[Part]:
    """What everybody sees."""
    return [
        *_open_cards(),
        *_cards_by_seat(n),
        *_open_jokers(n),
        _slots(),
        *_whose_turn(n),
        *_standings(n),
        *_this_turn(),
        *_hand_numbers(),
        _rules(),
    ]


def _open_cards() -> list[Part]:
    return [
        _planes("pozzo", 2, "cards lying in the pozzo: once or more, twice"),
        _planes("pozzo_top", 1, "the top card of the pozzo"),
        _planes("table", 2, "natural cards on the table: once or more, twice"),
        _planes("table_jokers", 1, "cards that jokers on the table stand for"),
        _planes("attaches", 1, "cards that some meld accepts as it lies"),
        _planes("replaces", 1, "cards that could take the place of a joker on the table"),
        _planes("owed", 1, "card from the pozzo that the seat on move still has to use"),
        _planes("barred", 1, "card from the pozzo that the seat on move may not discard"),
    ]


def _cards_by_seat(n: int) -> list[Part]:
    return [
        _planes("known", 2 * n, "for each seat two planes: cards everybody saw go into its hand, those twice there"),
        _planes("threw", n, "for each seat the cards that it has discarded in this hand"),
        _planes("took", n, "for each seat the cards that it has taken from the pozzo, or bought, in this hand"),
    ]


def _open_jokers(n: int) -> list[Part]:
    return [
        _numbers("pozzo_jokers", 1, _JOKERS, "jokers in the pozzo"),
        _numbers("pozzo_top_joker", 1, 1, "the top card of the pozzo is a joker"),
        _numbers("attaches_joker", 1, 1, "some meld accepts a joker as it lies"),
        _numbers("owed_joker", 1, 1, "the card from the pozzo still to be used is a joker"),
        _numbers("barred_joker", 1, 1, "the card from the pozzo that may not be discarded is a joker"),
        _numbers("known_jokers", n, _JOKERS, "for each seat the jokers that everybody saw go into its hand"),
        _numbers("threw_joker", n, 1, "for each seat: it has discarded a joker in this hand"),
        _numbers("took_joker", n, 1, "for each seat: it has taken a joker from the pozzo in this hand"),
    ]


def _slots() -> Part:
    positions = ("first", "last", "low", "high", *(f"joker_{k + 1}" for k in range(_JOKERS)))
    highs = {**dict.fromkeys(positions, _POSITIONS), "size": NUM_POSITIONS, "jokers": _JOKERS}
    meaning = (
        "the melds by number, each as: " + ", ".join(SLOT_FEATURES) + ". `new`: laid in this turn; `swapped`: a joker "
        "still owed came from it; `first`, `last`: where its first and last card lie; `low`, `high`: where it can grow "
        "(a set: `low` only), by a joker if `accepts_joker`; `joker_1` ...: where its jokers lie. The place in "
        "the grid, suit x 14 + rank, from 1 (the ace of a set below the 2), 0 for nowhere"
    )
    return Part(
        "slots", (MAX_MELDS, len(SLOT_FEATURES)), 0, tuple(highs.get(name, 1) for name in SLOT_FEATURES), True, meaning
    )


def _whose_turn(n: int) -> list[Part]:
    return [
        _numbers("phase", len(PHASES), 1, "the phase, one of: " + ", ".join(PHASES)),
        _numbers("turn", n, 1, "the seat on move; none when the hand is over"),
        _numbers("mover", n, 1, "the seat whose turn it is: another than the one on move only while buying"),
        _numbers("dealer", n, 1, "the seat that dealt"),
    ]


def _standings(n: int) -> list[Part]:
    return [
        _numbers("hand_sizes", n, PACK, "cards in hand"),
        _numbers("opened", n, 1, "has opened"),
        _numbers("out", n, 1, "is out of the match"),
        _numbers("scores", n, MOST, f"total {_PERCENT}, clipped", low=-MOST),
        _numbers("reentries_used", n, MOST, "how often it has come back, clipped"),
        _numbers("hands_won", n, MOST, "hands that it has won, clipped"),
        _numbers("unopened_hands", n, MOST, "hands that it has ended unopened, clipped"),
    ]


def _this_turn() -> list[Part]:
    return [
        _numbers("recovered_jokers", 1, _JOKERS, "jokers taken from the table, still to be used"),
        _numbers("laid_points", 1, MOST, "points laid in this turn by who had not opened before it, clipped"),
        _numbers("laid_natural_points", 1, MOST, "those of melds without jokers, clipped"),
        _numbers("points_needed", 1, MOST, "points the seat on move has to lay before it has opened, clipped"),
        _numbers("touched_table", 1, 1, "a meld from before this turn was touched: no closing in hand any more"),
    ]


def _hand_numbers() -> list[Part]:
    return [
        _numbers("may_close", 1, 1, "closing is allowed in this lap"),
        _numbers("lap", 1, MOST, "laps played in this hand, clipped"),
        _numbers("stock_size", 1, PACK, "cards in the stock"),
        _numbers("pozzo_size", 1, PACK, "cards in the pozzo"),
        _numbers("reshuffles", 1, MOST, "how often the stock was renewed in this hand, clipped"),
        _numbers("hands_played", 1, MOST, "hands of this match before this one, clipped"),
    ]


def _rules() -> Part:
    lows, highs = zip(*(_rule_bounds(name) for name in _RULES), strict=True)
    meaning = (
        "the options in this order: " + ", ".join(_RULES) + ". Words as their number in the table of options, no and "
        "yes as 0 and 1, none as -1, numbers from 64 on as 64 + 4 log2(number / 64), interpolated in quarters"
    )
    return Part("rules", (len(_RULES),), lows, highs, True, meaning)


def _rule_bounds(name: str) -> tuple[int, int]:
    """Lowest and highest number in an observation of an option."""
    spec = SPECS[name]
    low, high = spec.get("range", (0, len(spec.get("choices", ())) - 1))
    return -1 if spec["none"] else low, min(high, MOST)


# ---------------------------------------------------------------------------------------------------------------------
# One schema for each number of players


def schema_of(rules: Rules) -> ObservationSchema:
    """The observation schema for these rules, made once for each number of players."""
    return _observation_schema(rules.num_players)


def state_schema_of(rules: Rules) -> StateSchema:
    """The state schema for these rules, made once for each number of players."""
    return _state_schema(rules.num_players)


@lru_cache
def _observation_schema(num_players: int) -> ObservationSchema:
    return ObservationSchema(Rules(num_players=num_players))


@lru_cache
def _state_schema(num_players: int) -> StateSchema:
    return StateSchema(Rules(num_players=num_players))
