"""The options of rules.md and its presets, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any


@dataclass(frozen=True)
class Options:
    """One field for each row of the table in rules.md; the defaults are the federation's."""

    num_players: int = 4
    team_size: int = 1
    team_score: str = "sum"
    num_jokers: int = 4
    hand_size: int = 13
    upcard_joker: str = "redraw"
    first_player_free_upcard: bool = False
    court_values: str = "ten"
    ace_in_hand: str = "high"
    joker_in_hand: int | None = None  # None: 25, or 14 with ascending values
    max_jokers_per_meld: int = 1
    min_naturals_per_meld: int = 2
    max_run_length: int = 14
    opening_points: int = 40
    opening_jokers: str = "count"
    opening_from_pozzo: bool = False
    pozzo_card: str = "use"
    recovered_joker: str = "new_or_other_meld"
    unopened_joker_discard: bool = False
    closing_joker_discard: bool = True
    attaching_discard: str = "federal"
    replacing_attaches: bool = True
    stock_end: str = "reshuffle"
    dead_hand_reshuffles: int | None = None
    max_laps: int = 100
    abandoned_hand: str = "count"
    closing_discard: str = "required"
    first_lap_closing: bool = False
    in_hand_needs_opening_points: bool = False
    in_hand_multiplier: int = 1
    in_hand_full_hand: int | None = None
    in_hand_bonus: int = 0
    closing_bonus: int = 0
    unopened_points: int | None = None
    match: str = "elimination"
    limit: int = 101
    num_hands: int | None = None
    reentries: int | None = 0
    buying: bool = False

    @property
    def ascending(self) -> bool:
        """Court cards J 11, Q 12, K 13 and the high ace 14."""
        return self.court_values == "ascending"

    @property
    def joker_points(self) -> int:
        """What a joker left in hand costs."""
        if self.joker_in_hand is not None:
            return self.joker_in_hand
        return 14 if self.ascending else 25

    @property
    def num_teams(self) -> int:
        """Seats alternate between the teams; without partnership every seat is a team of its own."""
        return self.num_players // self.team_size


PRESETS: dict[str, dict[str, Any]] = {
    "fisca": {},
    "casa": {
        "opening_from_pozzo": True,
        "recovered_joker": "keep",
        "max_jokers_per_meld": 2,
        "attaching_discard": "unopened_forbidden",
        "closing_discard": "optional",
        "unopened_points": 100,
        "reentries": 1,
    },
    "scala_quaranta": {
        "opening_jokers": "after_threshold",
        "pozzo_card": "keep",
        "recovered_joker": "new_meld",
        "unopened_joker_discard": True,
        "attaching_discard": "allowed",
        "first_lap_closing": True,
        "in_hand_bonus": 100,
        "ace_in_hand": "one",
    },
    "tavolo": {
        "recovered_joker": "new_or_any_meld",
        "unopened_joker_discard": True,
        "attaching_discard": "allowed",
        "first_lap_closing": True,
        "in_hand_multiplier": 2,
        "unopened_points": 100,
    },
    "megajogos": {
        "upcard_joker": "keep",
        "first_player_free_upcard": True,
        "opening_from_pozzo": True,
        "recovered_joker": "keep",
        "unopened_joker_discard": True,
        "attaching_discard": "allowed",
        "in_hand_multiplier": 2,
        "ace_in_hand": "one_if_alone",
        "stock_end": "turn_over",
    },
}

_NAMES = {field.name for field in fields(Options)}


def options(rules: dict[str, Any]) -> Options:
    """The options that the `rules` of a position mean: a preset, then fields that override it."""
    return _options(tuple(sorted(rules.items(), key=lambda item: item[0])))


@lru_cache(maxsize=1024)
def _options(items: tuple[tuple[str, Any], ...]) -> Options:
    given = dict(items)
    preset = PRESETS[given.pop("preset", "fisca")]
    unknown = set(given) - _NAMES
    if unknown:
        raise ValueError(f"unknown rules {sorted(unknown)}")
    return replace(Options(), **{**preset, **given})
