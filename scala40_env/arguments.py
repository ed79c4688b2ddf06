"""What the environments have in common: their arguments, checked, and the seeds of one episode after another."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, Literal, get_args

from scala40_env.rules.config import PRESETS, Rules
from scala40_env.rules.errors import BadRules, Scala40Error, shown, suggestion

__all__ = [
    "EPISODES",
    "MAX_SEED",
    "RENDER_MODES",
    "BadArgument",
    "Episode",
    "RenderMode",
    "checked_choice",
    "checked_integer",
    "checked_max_hands",
    "checked_render_mode",
    "checked_rules",
    "episode_rules",
    "following_seed",
]

Episode = Literal["hand", "match"]
RenderMode = Literal["ansi", "svg", "rgb_array", "human"]
EPISODES: tuple[Episode, ...] = get_args(Episode)
RENDER_MODES: tuple[RenderMode, ...] = get_args(RenderMode)
MAX_SEED = 2**64 - 1
_MOST_HANDS = 2**31 - 1
"""The largest `max_hands`: the kernels of the vector forms keep it in 32 bits."""


class BadArgument(Scala40Error):
    """An argument of an environment, or of one of its methods, that is none."""


def checked_rules(rules: object) -> Rules:
    """Rules as an environment takes them: `Rules`, the name of a preset, an object of settings, None for the default.

    Raises `BadRules`.
    """
    if rules is None:
        return Rules()
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return Rules.from_preset(rules)
    if isinstance(rules, Mapping):
        return Rules.from_dict(rules)
    presets = ", ".join(PRESETS)
    raise BadRules(f"rules = {shown(rules)}: allowed are a Rules object, the name of a preset ({presets}), or a dict")


def episode_rules(rules: Rules, episode: Episode) -> Rules:
    """The rules that an episode is played by: a single hand is a match of one hand."""
    return rules if episode == "match" else rules.replace(match="single_hand", num_hands=None)


def following_seed(seed: int) -> int:
    """The seed of the episode after the one with this seed, where none is given: one step of SplitMix64.

    Not `seed + 1`: environments that were seeded with neighbouring numbers would play the same games one episode apart.
    """
    word = (seed + 0x9E3779B97F4A7C15) & MAX_SEED
    word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & MAX_SEED
    word = ((word ^ word >> 27) * 0x94D049BB133111EB) & MAX_SEED
    return word ^ word >> 31


def checked_choice(name: str, value: Any, choices: tuple[str, ...]) -> Any:
    """A value that is one of the choices. Raises `BadArgument`."""
    if isinstance(value, str) and value in choices:
        return value
    raise BadArgument(f"{name} = {shown(value)}: allowed are {', '.join(choices)}{suggestion(str(value), choices)}")


def checked_integer(name: str, value: Any, low: int, high: int, none: str) -> int:
    """An integer of any kind in a range, as a plain int. Raises `BadArgument`."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise BadArgument(f"{name} = {shown(value)}: allowed is an integer from {low} to {high}, or None ({none})")
    return number


def checked_max_hands(max_hands: Any, episode: Episode) -> int | None:
    """After how many hands a match is cut off, or None. Raises `BadArgument`, for a number with single hands too."""
    if max_hands is None:
        return None
    if episode != "match":
        raise BadArgument(f"max_hands = {shown(max_hands)} with episode = 'hand': only a match has several hands")
    return checked_integer("max_hands", max_hands, 1, _MOST_HANDS, "no cap")


def checked_render_mode(mode: Any, allowed: tuple[str, ...]) -> Any:
    """A way of drawing that is allowed, or None. Raises `BadArgument`."""
    return None if mode is None else checked_choice("render_mode", mode, allowed)
