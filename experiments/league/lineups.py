"""Who sits where: every agent meets every other equally often, on the same deals, from every seat.

In team games a side is one agent: it has the seats of all partners.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Literal, NamedTuple, get_args

#: Agents by seat, as indices.
Seating = tuple[int, ...]

LineupKind = Literal["balanced", "pairs", "all"]
LINEUP_KINDS: tuple[LineupKind, ...] = get_args(LineupKind)

#: Games that one deal may take: all seatings of all line-ups.
MOST_GAMES = 5000


class TooManyLineups(ValueError):
    """So many agents make more line-ups than anybody can play."""


class Lineup(NamedTuple):
    """Agents at one table: `seats` in the order of play, and all `seatings` that are rotations of it."""

    seats: Seating
    seatings: tuple[Seating, ...]


def rotations(seats: Seating) -> tuple[Seating, ...]:
    """The different seatings that rotating gives, the given one first.

    >>> rotations((0, 1, 0, 1))
    ((0, 1, 0, 1), (1, 0, 1, 0))
    """
    return tuple(dict.fromkeys(seats[turn:] + seats[:turn] for turn in range(len(seats))))


def lineups(num_agents: int, num_seats: int, kind: LineupKind = "balanced", team_size: int = 1) -> tuple[Lineup, ...]:
    """The line-ups of a tournament. Raises `TooManyLineups`.

    ``balanced``: all agents as often as they fit, and every combination of agents on the seats left over.
    ``pairs``: two agents at a table, each pair in three ways: one against all others, the same the other way round,
    and half against half in turns where the seats are even; with two seats there is one way.
    ``all``: every combination of two agents or more, an agent as often as it likes.

    >>> [lineup.seats for lineup in lineups(3, 4)]
    [(0, 1, 2, 0), (0, 1, 2, 1), (0, 1, 2, 2)]
    >>> [lineup.seats for lineup in lineups(2, 4, "pairs")]
    [(0, 1, 1, 1), (1, 0, 0, 0), (0, 1, 0, 1)]
    >>> [lineup.seats for lineup in lineups(2, 4, team_size=2)]
    [(0, 1, 0, 1)]
    """
    sides = num_seats // team_size
    _check_number(num_agents, sides, num_seats, kind)
    made = {"balanced": _balanced, "pairs": _pairs, "all": _all}[kind](num_agents, sides)
    return tuple(Lineup(seats * team_size, rotations(seats * team_size)) for seats in made)


def _check_number(agents: int, sides: int, seats: int, kind: LineupKind) -> None:
    number = {
        "balanced": comb(agents, sides % agents),
        "pairs": comb(agents, 2) * 3,
        "all": comb(agents + sides - 1, sides),
    }[kind]
    if number * sides > MOST_GAMES:
        raise TooManyLineups(
            f"{agents} agents at {seats} seats make {number:,} line-ups of kind {kind!r}: at most {MOST_GAMES:,} games"
            f" a deal are played, each in {sides} seatings; name fewer agents, or other --lineups"
        )


def _balanced(agents: int, sides: int) -> Iterator[Seating]:
    copies, left = divmod(sides, agents)
    everybody = tuple(range(agents)) * copies
    for filling in combinations(range(agents), left):
        yield everybody + filling


def _pairs(agents: int, sides: int) -> Iterator[Seating]:
    for a, b in combinations(range(agents), 2):
        if sides > 2:
            yield (a, *[b] * (sides - 1))
            yield (b, *[a] * (sides - 1))
        if sides % 2 == 0:
            yield (a, b) * (sides // 2)


def _all(agents: int, sides: int) -> Iterator[Seating]:
    for chosen in combinations_with_replacement(range(agents), sides):
        if len(set(chosen)) > 1:
            yield _in_turns(chosen)


def _in_turns(chosen: Seating) -> Seating:
    """Copies of an agent apart, as far as they go: each agent once, then those left once more.

    >>> _in_turns((0, 0, 0, 1, 1))
    (0, 1, 0, 1, 0)
    """
    times = Counter(chosen)
    return tuple(agent for turn in range(max(times.values())) for agent in times if times[agent] > turn)
