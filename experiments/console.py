"""What the commands share: exit codes, their own kind of error, and printing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

from scala40_env.rules.errors import Scala40Error

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.table import Table

_NO_BOUND = 1000
PIPE_WIDTH = 120
"""Columns of a table that goes to a file or a pipe, where no terminal says how wide it is."""


class Exit(IntEnum):
    """Exit codes of ``scala40``; the last two are what a shell shows for a program ended by these signals."""

    OK = 0
    FAILED = 1
    """A check did not hold."""
    BAD_INPUT = 2
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    """Whoever read the output has had enough, as ``head`` has."""


class BadUsage(Scala40Error):
    """Flags or arguments that a command does not take."""


def complain(command: str, error: Exception | str, code: Exit) -> Exit:
    """Print an error of a command as one line on stderr; returns the code given."""
    print(f"scala40 {command}: error: {' '.join(str(error).split())}", file=sys.stderr)
    return code


def print_json(value: Any) -> None:
    """Print one JSON document for other programs to read."""
    print(json.dumps(value, indent=2))


def print_json_line(value: Any) -> None:
    """Print one JSON document on a line of its own: one of many."""
    print(json.dumps(value))


def new_table(columns: Sequence[str], right: Sequence[str] = (), wrap: Sequence[str] = ()) -> Table:
    """A table without rows yet; columns in `right` hold numbers, and only those in `wrap` are broken into lines."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        justify: Literal["right", "left"] = "right" if column in right else "left"
        table.add_column(column, justify=justify, overflow="fold", no_wrap=column not in wrap)
    return table


def print_table(table: Table) -> None:
    """Print a table as wide as the terminal, without spaces at the ends of lines.

    Where there is no terminal, only texts are broken into lines: `PIPE_WIDTH` is for tables that have some.
    """
    from rich.console import Console

    pipe_width = PIPE_WIDTH if any(not column.no_wrap for column in table.columns) else _NO_BOUND
    console = Console(width=None if sys.stdout.isatty() else pipe_width, markup=False, highlight=False)
    with console.capture() as capture:
        console.print(table)
    print("\n".join(line.rstrip() for line in capture.get().splitlines()))


@contextmanager
def progress_bar(unit: str) -> Iterator[Progress]:
    """A progress bar on stderr that counts `unit`; nothing at all where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit))
    console = Console(stderr=True)
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        yield progress
