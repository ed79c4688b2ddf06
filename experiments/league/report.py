"""The table that people read."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.console import new_table, print_table
from experiments.league.statistics import AgentRow, Interval

_NUMBERS = (
    "hands",
    "won",
    "95%",
    "points",
    "95% ",
    "matches won",
    "in hand",
    "opened",
    "laps",
    "abandoned",
    "unfinished",
)


def print_agents(rows: Sequence[AgentRow]) -> None:
    """Print the table on the standard output, the agent with the largest share of hands won first."""
    unfinished = any(row.unfinished_matches for row in rows)
    numbers = _NUMBERS if unfinished else _NUMBERS[:-1]
    table = new_table(("agent", *numbers), right=numbers)
    for row in sorted(rows, key=lambda row: -row.win_share):
        table.add_row(*_cells(row)[: len(numbers) + 1])
    print_table(table)


def _cells(row: AgentRow) -> list[str]:
    return [
        row.name,
        f"{row.hands:,}",
        f"{row.win_share:.1%}",
        _interval(row.win_share_ci, ".1%"),
        f"{row.mean_points:.2f}",
        _interval(row.mean_points_ci, ".2f"),
        f"{row.matches_won:,}/{row.matches:,}",
        f"{row.in_hand:,}",
        f"{row.opened_share:.1%}",
        f"{row.mean_laps:.1f}",
        f"{row.abandoned:,}",
        f"{row.unfinished_matches:,}",
    ]


def _interval(interval: Interval | None, form: str) -> str:
    return "-" if interval is None else f"{interval[0]:{form}} to {interval[1]:{form}}"
