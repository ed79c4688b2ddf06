"""The report of results: Markdown, and one HTML file that needs nothing else. The same results give the same bytes."""

from __future__ import annotations

from base64 import b64encode
from importlib.resources import files
from typing import Any

from experiments.console import BadUsage
from experiments.league.analysis import Analysis
from experiments.league.results import Results
from experiments.league.tables import (
    Table,
    agents_table,
    as_markdown,
    endings_table,
    lineups_table,
    pairs_table,
    seats_table,
)
from scala40_env import Rules


def tables_of(analysis: Analysis) -> list[Table]:
    """All tables, the most telling first."""
    makers = (agents_table, pairs_table, lineups_table, endings_table, seats_table)
    return [maker(analysis) for maker in makers]


def title_of(results: Results) -> str:
    """What was played."""
    rules = Rules.from_dict(results.rules)
    return f"Scala 40: {', '.join(sorted(results.agents))} at {rules.num_players} seats under {rules.preset}"


def summary_of(results: Results, analysis: Analysis) -> str:
    """How much was played, and by which rules if they are no preset's."""
    hands = sum(row.hands for row in analysis.agents) // int(results.rules["num_players"])
    unit = "hands" if results.episode == "hand" else "hands of whole matches"
    changed = {k: v for k, v in results.rules.items() if k not in ("preset", "num_players", "match")}
    others = f" Rules changed: {', '.join(f'{name} = {value}' for name, value in changed.items())}." if changed else ""
    return f"{analysis.deals:,} deals, {hands:,} {unit}; every deal from all seats.{others}"


def made_by(results: Results) -> list[str]:
    """Commands, versions and machines, one line each, none twice."""
    lines = []
    for part in results.parts:
        versions = ", ".join(f"{name} {version}" for name, version in part.made_by["versions"].items())
        machine = part.made_by["machine"]
        lines += [str(part.made_by["command"]), f"{versions}; {machine.get('cpu')}, {machine.get('cores')} cores"]
    return list(dict.fromkeys(lines))


def report_markdown(results: Results, analysis: Analysis) -> str:
    """The report as Markdown, without plots."""
    parts = [f"## {title_of(results)}\n\n{summary_of(results, analysis)}\n"]
    parts += [as_markdown(table) for table in tables_of(analysis) if table.rows]
    parts.append("### What made it\n\n" + "".join(f"- `{line}`\n" for line in made_by(results)))
    return "\n".join(parts)


def report_html(results: Results, analysis: Analysis) -> str:
    """The report as one HTML page. Raises `BadUsage` without the extra `report`."""
    environment, plots = _libraries(analysis)
    template = environment.from_string(
        (files("experiments.league") / "templates" / "report.html.j2").read_text("utf-8")
    )
    page: str = template.render(
        title=title_of(results),
        summary=summary_of(results, analysis),
        tables=tables_of(analysis),
        plots=[(name, b64encode(source.encode()).decode()) for name, source in plots],
        made_by=made_by(results),
    )
    return page + "\n"


def _libraries(analysis: Analysis) -> tuple[Any, list[tuple[str, str]]]:
    """Jinja's environment, and the plots."""
    try:
        from jinja2 import Environment

        from experiments.league.plots import all_plots

        return Environment(autoescape=True, trim_blocks=True), all_plots(analysis)
    except ImportError as error:
        raise BadUsage(f'the page needs {error.name}: pip install "scala40-env[report]"') from error
