"""The tables that people read: made once, shown on the console, as Markdown and in the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.console import new_table, print_table
from experiments.league.analysis import AgentRow, Analysis, LineupRow, PairRow
from experiments.league.blocks import SEAT_FIELDS
from experiments.league.statistics import Interval


@dataclass(frozen=True)
class Column:
    """A column: its heading, and whether it holds numbers."""

    name: str
    is_number: bool = True


@dataclass(frozen=True)
class Table:
    """A table as text; `note` says what its columns mean."""

    title: str
    note: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


def print_tables(tables: Sequence[Table]) -> None:
    """Print tables on the standard output, those without rows left out."""
    shown = [table for table in tables if table.rows]
    for at, table in enumerate(shown):
        if at:
            print(f"\n{table.title}\n")
        # Headings may be there twice ("95%"), which rich does not mind.
        names = [column.name for column in table.columns]
        made = new_table(names, right=[column.name for column in table.columns if column.is_number])
        for row in table.rows:
            made.add_row(*row)
        print_table(made)


def as_markdown(table: Table) -> str:
    """A table of GitHub's kind, with its title and note."""
    rule = ["--:" if column.is_number else ":--" for column in table.columns]
    rows = [[column.name for column in table.columns], rule, *table.rows]
    lines = "\n".join(f"| {' | '.join(_escaped(cell) for cell in row)} |" for row in rows)
    return f"### {table.title}\n\n{table.note}\n\n{lines}\n"


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")


def _columns(texts: Sequence[str], numbers: Sequence[str]) -> tuple[Column, ...]:
    return (*(Column(name, False) for name in texts), *(Column(name) for name in numbers))


# ---------------------------------------------------------------------------------------------------------------------
# Cells


def percent(value: float | None) -> str:
    """A share as people read it."""
    return "-" if value is None else f"{value:.1%}"


def points(value: float) -> str:
    """Points a hand."""
    return f"{value:.2f}"


def between(interval: Interval | None, form: str) -> str:
    """An interval."""
    return "-" if interval is None else f"{interval[0]:{form}} to {interval[1]:{form}}"


def p_text(value: float | None) -> str:
    """A p value; small ones as a bound."""
    if value is None:
        return "-"
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


# ---------------------------------------------------------------------------------------------------------------------
# Tables


_AGENT_NUMBERS = (
    "hands",
    "won",
    "95%",
    "points",
    "95% ",
    "rating",
    "95%  ",
    "matches won",
    "in hand",
    "opened",
    "laps",
    "abandoned",
    "unfinished",
)


def agents_table(analysis: Analysis) -> Table:
    """The agents, the one with the largest share of hands won first."""
    unfinished = any(row.unfinished_matches for row in analysis.agents)
    numbers = _AGENT_NUMBERS if unfinished else _AGENT_NUMBERS[:-1]
    rows = sorted(analysis.agents, key=lambda row: -row.win_share)
    return Table(
        "Agents",
        "Hands won and points charged a hand (the fewer the better) over all line-ups, with 95% intervals by bootstrap"
        " over deals. The rating is openskill's Plackett-Luce model on deals played from all seats. In hand: closings"
        " in one turn; opened: share of hands in which the agent opened; laps: mean length of its hands.",
        _columns(["agent"], numbers),
        tuple(_agent_cells(row)[: len(numbers) + 1] for row in rows),
    )


def _agent_cells(row: AgentRow) -> tuple[str, ...]:
    return (
        row.name,
        f"{row.hands:,}",
        percent(row.win_share),
        between(row.win_share_ci, ".1%"),
        points(row.mean_points),
        between(row.mean_points_ci, ".2f"),
        f"{row.rating:.1f}",
        between(row.rating_ci, ".1f"),
        f"{row.matches_won:,}/{row.matches:,}",
        f"{row.in_hand:,}",
        percent(row.opened_share),
        f"{row.mean_laps:.1f}",
        f"{row.abandoned:,}",
        f"{row.unfinished_matches:,}",
    )


def pairs_table(analysis: Analysis) -> Table:
    """Each agent against each other, the better one first, the larger leads first."""
    rows = sorted((_better_first(row) for row in analysis.pairs), key=lambda row: -row.lead)
    return Table(
        "Pairs",
        "Share: of the hands that one of the two won at common tables, as if they had as many seats. Lead: points a"
        " hand fewer than the other, paired by deal. p: of a paired t test of the lead, corrected by Holm's method for"
        " all pairs.",
        _columns(["agent", "against"], ["deals", "share", "95%", "lead", "95% ", "p"]),
        tuple(_pair_cells(row) for row in rows),
    )


def _better_first(row: PairRow) -> PairRow:
    """The pair seen by the one that leads."""
    if row.lead >= 0:
        return row
    share = None if row.share is None else 1 - row.share
    share_ci = None if row.share_ci is None else (1 - row.share_ci[1], 1 - row.share_ci[0])
    lead_ci = None if row.lead_ci is None else (-row.lead_ci[1], -row.lead_ci[0])
    return PairRow(row.other, row.name, row.deals, share, share_ci, -row.lead, lead_ci, row.p_value, row.p_holm)


def _pair_cells(row: PairRow) -> tuple[str, ...]:
    return (
        row.name,
        row.other,
        f"{row.deals:,}",
        percent(row.share),
        between(row.share_ci, ".1%"),
        points(row.lead),
        between(row.lead_ci, ".2f"),
        p_text(row.p_holm),
    )


def lineups_table(analysis: Analysis) -> Table:
    """Every agent in every line-up."""
    return Table(
        "Line-ups",
        "Every deal is played in all rotations of the seats. Fair: what an agent would win of its hands if all were"
        " equally strong.",
        _columns(["line-up", "agent"], ["deals", "hands", "won", "95%", "fair", "points", "95% "]),
        tuple(_lineup_cells(row) for row in analysis.lineups),
    )


def _lineup_cells(row: LineupRow) -> tuple[str, ...]:
    return (
        " ".join(row.seats),
        row.name,
        f"{row.deals:,}",
        f"{row.hands:,}",
        percent(row.win_share),
        between(row.win_share_ci, ".1%"),
        percent(row.fair_share),
        points(row.mean_points),
        between(row.mean_points_ci, ".2f"),
    )


def endings_table(analysis: Analysis) -> Table:
    """How the hands of every agent ended."""
    rows = []
    for at, row in enumerate(analysis.agents):
        total = {field: int(analysis.seats[i, at].sum()) for i, field in enumerate(SEAT_FIELDS)}
        closed = total["closed_normal"] + total["closed_in_hand"]
        ends = (total["closed_normal"], total["closed_in_hand"], total["hands"] - closed - total["abandoned"])
        rows.append((row.name, *(percent(part / total["hands"]) for part in (*ends, total["abandoned"]))))
    return Table(
        "How hands ended",
        "For the agent: it closed after opening, it closed in hand (all in one turn), another closed, or the hand was"
        " abandoned. A partner counts as another.",
        _columns(["agent"], ["closed", "closed in hand", "another closed", "abandoned"]),
        tuple(rows),
    )


def seats_table(analysis: Analysis) -> Table:
    """What every agent won and was charged by seat."""
    seats = analysis.seats.shape[-1]
    fields = [SEAT_FIELDS.index(name) for name in ("hands", "won", "points")]
    rows = []
    for at, row in enumerate(analysis.agents):
        hands, won, charged = analysis.seats[fields, at]
        cells = [
            "-" if not hands[seat] else f"{won[seat] / hands[seat]:.1%} / {charged[seat] / hands[seat]:.2f}"
            for seat in range(seats)
        ]
        rows.append((row.name, *cells))
    return Table(
        "By seat",
        "Share of hands won / points a hand. Who deals is drawn by lot, so seats differ only by who sits before whom.",
        _columns(["agent"], [f"seat {seat}" for seat in range(seats)]),
        tuple(rows),
    )
