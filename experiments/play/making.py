"""Making a table out of what somebody chose: on the start page, or by flags."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from agents import AgentError, names
from experiments.console import BadUsage
from experiments.play.players import checked_agent
from experiments.play.table import Place, Setup
from experiments.play.words import LANGUAGES, Words
from scala40_env.rules.config import FIELDS, MAX_NUMBER, PRESETS, SPECS, Rules, Value
from scala40_env.rules.errors import shown
from scala40_env.rules.game import MAX_SEED

__all__ = ["PERSON", "choices", "new_setup", "setup_from_page"]

PERSON = "person"
"""Stands for somebody at a page where an agent could be named."""
LONGEST_CLOCK = 3600
_LONGEST_NAME = 40
_KEYS = ("rules", "seats", "clock", "language", "seed", "name")


def new_setup(rules: Rules, players: Sequence[str], *, name: str, seed: int | None, clock: int, language: str) -> Setup:
    """The set-up of a new table.

    Args:
        rules: of the match.
        players: for each seat an agent, or `PERSON`.
        name: of the person; further ones get numbers.
        seed: 0 to 2**64 - 1, or None for a fresh one.
        clock: seconds for a turn, 0 for no clock.
        language: of the pages, one of `LANGUAGES`.

    Raises `BadUsage` for what can't be.
    """
    if len(players) != rules.num_players:
        raise BadUsage(f"{len(players)} players for num_players = {rules.num_players}: allowed is one for each seat")
    if PERSON not in players:
        raise BadUsage("there is no person at this table; 'scala40 tournament' lets agents play alone")
    name = _name(name)
    _check_number("seed", 0 if seed is None else seed, MAX_SEED)
    _check_number("clock", clock, LONGEST_CLOCK)
    if language not in LANGUAGES:
        raise BadUsage(f"language = {shown(language)}: allowed is {', '.join(LANGUAGES)}")
    return Setup(
        id=secrets.token_hex(4),
        rules=rules,
        seed=secrets.randbits(64) if seed is None else seed,
        places=tuple(_places(rules, players, name)),
        clock=clock,
        language=language,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _check_number(name: str, value: Any, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise BadUsage(f"{name} = {shown(value)}: allowed is a whole number from 0 to {most}")


def _places(rules: Rules, players: Sequence[str], name: str) -> list[Place]:
    people = 0
    places = []
    for seat, player in enumerate(players):
        if player == PERSON:
            people += 1
            places.append(Place(name if people == 1 else f"{name} {people}", None, secrets.token_urlsafe(16)))
        else:
            places.append(Place(_agent_name(player, players, seat), _checked(player, rules)))
    return places


def _checked(spec: str, rules: Rules) -> str:
    try:
        return checked_agent(spec, rules)
    except AgentError as error:
        raise BadUsage(str(error)) from None


def _agent_name(spec: str, players: Sequence[str], seat: int) -> str:
    """What an agent is called: with a number where there are several of its kind."""
    if players.count(spec) == 1:
        return spec
    return f"{spec} {players[: seat + 1].count(spec)}"


# ---------------------------------------------------------------------------------------------------------------------
# The start page


def setup_from_page(given: Any, trusted: bool) -> Setup:
    """The set-up that the start page sends.

    Args:
        given: the object that it sends.
        trusted: may agents be named that run code or read files of this machine, as ``module:factory`` does?

    Raises `BadUsage` or `BadRules` for what can't be.
    """
    if not isinstance(given, Mapping) or any(key not in given for key in _KEYS):
        raise BadUsage(f"a new table is an object with {', '.join(_KEYS)}")
    if not isinstance(given["rules"], Mapping):
        raise BadUsage(f"rules = {shown(given['rules'])}: allowed is an object of fields")
    players = given["seats"]
    if not isinstance(players, list) or not all(isinstance(player, str) for player in players):
        raise BadUsage(f"seats = {shown(players)}: allowed is a list of agents")
    if not trusted and any(":" in player for player in players):
        raise BadUsage(f"from another machine agents are chosen by their names alone: {', '.join(names())}")
    return new_setup(
        Rules.from_dict(given["rules"]),
        players,
        name=given["name"],
        seed=_seed(given["seed"]),
        clock=given["clock"],
        language=given["language"],
    )


def _name(given: Any) -> str:
    name = " ".join(given.split()) if isinstance(given, str) else ""
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise BadUsage(f"name = {shown(given)}: allowed are 1 to {_LONGEST_NAME} letters")
    return name


def _seed(given: Any) -> int | None:
    """A seed comes as text: the numbers of a browser are too short for it."""
    if given in (None, ""):
        return None
    if not isinstance(given, str) or not given.isascii() or not given.isdigit() or len(given) > len(str(MAX_SEED)):
        raise BadUsage(f"seed = {shown(given)}: allowed is a whole number from 0 to {MAX_SEED}")
    return int(given)


def choices(words: Words) -> dict[str, Any]:
    """What the start page lets choose from: presets, the fields of the rules with their values, agents."""
    return {
        "presets": {preset: _plain(Rules.from_preset(preset)) for preset in PRESETS},
        "fields": [{"name": name, **_field(name, words)} for name in FIELDS],
        "agents": [PERSON, *names()],
        "longest_clock": LONGEST_CLOCK,
    }


def _plain(rules: Rules) -> dict[str, Value]:
    return {name: getattr(rules, name) for name in FIELDS}


def _field(name: str, words: Words) -> dict[str, Any]:
    """A field of the rules: its range with the sentences for its numbers, or its choices, each with its meaning."""
    spec = SPECS[name]
    if "range" in spec:
        low, high = spec["range"]
        limits = {"low": low, "high": None if high == MAX_NUMBER else high, "none": spec["none"]}
        return {**limits, "form": words.content["rules"][name]}
    return {"choices": [{"value": value, "says": words.rule(name, value)} for value in spec["choices"]]}
