"""What the network reads of an observation and where, and how the table of actions is laid out for its heads.

Everything here is made of the schema of observations and of the constants of the action table, so that neither is
written down twice.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from scala40_env.kernels.observation import SLOT_FEATURES
from scala40_env.observation import ObservationSchema, schema_of
from scala40_env.rules.cards import NUM_SUITS
from scala40_env.rules.config import Rules
from scala40_env.rules.moves import BLOCKS, NUM_ACTIONS_EXTENDED, NUM_TRIPLES, TRIPLES

__all__ = ["ACTION_VERSION", "InputLayout", "input_layout", "layout_for_size", "schema_version"]

#: What numbers of the vector are divided by where that is not their upper bound: what they come to in most hands.
_USUAL = {
    "hand_sizes": 13,
    "scores": 100,
    "laid_points": 40,
    "laid_natural_points": 40,
    "points_needed": 40,
    "lap": 20,
    "hands_played": 10,
    "reshuffles": 2,
    "reentries_used": 2,
    "hands_won": 10,
    "unopened_hands": 10,
}
#: Parts that are no numbers for the network: it reads the slots one by one, and a checkpoint is for one set of rules.
_APART = ("slots", "rules")
#: Features of a slot beside its places in the grid.
_SLOT_NUMBERS = ("run", "set", "size", "jokers", "new", "swapped", "accepts_joker")
#: The place in the grid that each action on a slot is about, in the order of the table; then the later swaps.
_SLOT_PLACES = ("low", "high", "low", "high", "joker_1", "joker_2", "joker_3", "joker_4")

#: The suit that each triple of suits misses, and the suits that it has: triples are told by the missing one.
MISSING_SUIT: NDArray[np.int64] = np.array([6 - sum(triple) for triple in TRIPLES], np.int64)
SUITS_OF_TRIPLE: NDArray[np.int64] = np.array(TRIPLES, np.int64)
assert len(MISSING_SUIT) == NUM_TRIPLES == NUM_SUITS


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:12]


#: Names the table of actions: another one, another version.
ACTION_VERSION = _digest([NUM_ACTIONS_EXTENDED, [list(block) for block in BLOCKS], TRIPLES])


def schema_version(schema: ObservationSchema) -> str:
    """Names an observation schema: it changes with every part, shape, range or meaning."""
    parts = [[part.name, list(part.shape), str(part.low), str(part.high), part.meaning] for part in schema.parts]
    return _digest([schema.num_players, parts])


@dataclass(frozen=True)
class InputLayout:
    """Where the network finds its inputs in an observation.

    Attributes: `size` of the vector; `planes`, with which it begins; `scalars`, slices of the single numbers, and
    `scales`, float32, what each of these is multiplied by; `slots`, the slice of the melds, `slot_width` numbers each,
    of which `slot_numbers` are features and `slot_places` the places that the actions on a slot are about.
    """

    num_players: int
    size: int
    planes: int
    scalars: tuple[slice, ...]
    scales: tuple[float, ...]
    slots: slice
    slot_width: int
    slot_numbers: tuple[int, ...]
    slot_places: tuple[int, ...]

    @property
    def num_scalars(self) -> int:
        """How many single numbers there are."""
        return len(self.scales)


def input_layout(schema: ObservationSchema) -> InputLayout:
    """The layout of a schema."""
    numbers = [part for part in schema.parts if not part.is_grid and part.name not in _APART]
    return InputLayout(
        num_players=schema.num_players,
        size=schema.size,
        planes=schema.num_planes,
        scalars=_joined([schema.slices[part.name] for part in numbers]),
        scales=tuple(
            scale for part in numbers for scale in np.broadcast_to(1 / _usual(part.name, part.high), part.size).tolist()
        ),
        slots=schema.slices["slots"],
        slot_width=len(SLOT_FEATURES),
        slot_numbers=tuple(SLOT_FEATURES.index(name) for name in _SLOT_NUMBERS),
        slot_places=tuple(SLOT_FEATURES.index(name) for name in _SLOT_PLACES),
    )


def _usual(name: str, high: int | tuple[int, ...]) -> float:
    return float(_USUAL.get(name, np.max(high)))


def _joined(slices: list[slice]) -> tuple[slice, ...]:
    """The same places in as few slices as may be."""
    joined: list[slice] = []
    for one in slices:
        if joined and joined[-1].stop == one.start:
            joined[-1] = slice(joined[-1].start, one.stop)
        else:
            joined.append(one)
    return tuple(joined)


@lru_cache
def layout_for_size(size: int) -> InputLayout:
    """The layout of observations of this size: it tells the number of players. Raises `ValueError` for no such size."""
    schemas = [schema_of(Rules(num_players=players)) for players in range(2, 7)]
    for schema in schemas:
        if schema.size == size:
            return input_layout(schema)
    sizes = ", ".join(f"{schema.size} ({schema.num_players} players)" for schema in schemas)
    raise ValueError(f"an observation of {size} numbers is none of this game: there are {sizes}")
