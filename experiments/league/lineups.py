"""Who sits where: every agent meets every other equally often, on the same deals, from every seat."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

#: Agents by seat, as indices.
Seating = tuple[int, ...]


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


def lineups(num_agents: int, num_seats: int) -> tuple[Lineup, ...]:
    """All agents as often as they fit, and every combination of agents on the seats left over.

    Agents alternate around the table, so that two copies of one are partners where there are teams of two.

    >>> [lineup.seats for lineup in lineups(3, 2)]
    [(0, 1), (0, 2), (1, 2)]
    >>> [lineup.seats for lineup in lineups(3, 4)]
    [(0, 1, 2, 0), (0, 1, 2, 1), (0, 1, 2, 2)]
    """
    copies, left = divmod(num_seats, num_agents)
    everybody = tuple(range(num_agents)) * copies
    fillings = combinations(range(num_agents), left)
    return tuple(Lineup(seats, rotations(seats)) for seats in (everybody + filling for filling in fillings))
