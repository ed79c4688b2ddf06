"""``scala40 league merge``: results of several runs as one file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from experiments.console import BadUsage, Exit, complain, print_json_line


@dataclass(frozen=True)
class MergeSettings:
    """Put results together that have the same rules: of other deals, other agents, other machines."""

    results: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="FOLDER|FILE ...")]
    """Two or more. Records stay where they are."""
    out: Path
    """The file to write, packed if its name ends with .gz; it may not exist yet."""
    json: bool = False
    """Print one JSON object with what was merged instead of a line."""


def run(settings: MergeSettings) -> int:
    """Merge and write; returns the exit code. Raises `OSError`."""
    from experiments.league.analysis import analyse
    from experiments.league.results import ResultsError, merge, read_results, with_table, write_results

    if len(settings.results) < 2:
        raise BadUsage(f"merging takes two files or more, not {len(settings.results)}")
    twice = [str(path) for path, times in Counter(path.resolve() for path in settings.results).items() if times > 1]
    if twice:
        raise BadUsage(f"{twice[0]} is named twice: its deals would count twice")
    if settings.out.exists():
        raise BadUsage(f"{settings.out} exists already")
    try:
        merged = merge({str(path): read_results(path) for path in settings.results})
    except ResultsError as error:
        return complain("league merge", error, Exit.BAD_INPUT)
    analysis = analyse(merged)
    write_results(with_table(merged, analysis.table), settings.out)
    if settings.json:
        print_json_line({"out": str(settings.out), "parts": len(merged.parts), "deals_done": analysis.deals})
    else:
        print(f"{settings.out}: {len(merged.parts)} parts, {analysis.deals:,} deals")
    return Exit.OK
