"""``scala40 league report``: what a file of results says, as tables, Markdown, or one HTML page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from experiments.console import Exit, complain, print_json_line


@dataclass(frozen=True)
class ReportSettings:
    """Analyse results anew: print their tables, or write them as a page."""

    results: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FOLDER|FILE")]
    """What `scala40 tournament --out` or `scala40 league merge` wrote."""
    html: Path | None = None
    """Write one HTML file with tables and plots; needs the extra `report`."""
    markdown: Path | None = None
    """Write the tables as Markdown."""
    seed: int = 0
    """Of the bootstrap and the ratings."""
    json: bool = False
    """Print one JSON object instead of the tables: rows of agents, pairs and line-ups."""


def run(settings: ReportSettings) -> int:
    """Print or write the report; returns the exit code. Raises `OSError`, `BadUsage` without the extra."""
    from experiments.league.analysis import analyse
    from experiments.league.report import report_html, report_markdown, tables_of
    from experiments.league.results import ResultsError, read_results
    from experiments.league.tables import print_tables

    try:
        results = read_results(settings.results)
    except ResultsError as error:
        return complain("league report", error, Exit.BAD_INPUT)
    analysis = analyse(results, settings.seed)
    if not analysis.agents:
        return complain("league report", f"{settings.results} holds no deal yet", Exit.BAD_INPUT)
    if settings.html is not None:
        settings.html.write_text(report_html(results, analysis), "utf-8")
    if settings.markdown is not None:
        settings.markdown.write_text(report_markdown(results, analysis), "utf-8")
    if settings.json:
        print_json_line({**analysis.as_json(), "rules": results.rules, "deals_done": analysis.deals})
    elif settings.html is None and settings.markdown is None:
        print_tables(tables_of(analysis))
    return Exit.OK
