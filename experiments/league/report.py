"""The table that people read."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from experiments.league.statistics import AgentRow, Interval

#: Width where nobody says: a pipe or a file has none.
_WIDTH = 140


def print_table(rows: Sequence[AgentRow], title: str) -> None:
    """Print the table on the standard output, the agent with the most hands won first."""
    table = Table(title=title, title_justify="left")
    table.add_column("agent")
    unfinished = any(row.unfinished_matches for row in rows)
    for name in ("hands", "hands won", "95%", "points a hand", "95%", "matches won", "in hand", "opened", "laps"):
        table.add_column(name, justify="right")
    table.add_column("abandoned", justify="right")
    if unfinished:
        table.add_column("unfinished matches", justify="right")
    for row in sorted(rows, key=lambda row: -row.win_share):
        table.add_row(*_cells(row), *([f"{row.unfinished_matches:,}"] if unfinished else []))
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(width=_WIDTH, highlight=False)
    console.print(table)


def _cells(row: AgentRow) -> list[str]:
    return [
        row.name,
        f"{row.hands:,}",
        f"{row.win_share:.1%}",
        _interval(row.win_share_ci, ".1%"),
        f"{row.mean_points:.2f}",
        _interval(row.mean_points_ci, ".2f"),
        f"{row.matches_won:,} of {row.matches:,}",
        f"{row.in_hand:,}",
        f"{row.opened_share:.1%}",
        f"{row.mean_laps:.1f}",
        f"{row.abandoned:,}",
    ]


def _interval(interval: Interval | None, form: str) -> str:
    return "-" if interval is None else f"{interval[0]:{form}} to {interval[1]:{form}}"
