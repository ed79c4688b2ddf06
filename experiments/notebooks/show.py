"""How the notebooks show things: one style of plot, tables and sentences made of numbers, one switch for their size."""

from __future__ import annotations

import os
from collections.abc import Sequence
from textwrap import fill
from typing import Any

from experiments.console import BadUsage
from experiments.league.plots import COLOURS, STYLE
from experiments.league.tables import Table, as_markdown
from experiments.notebooks.estimates import Estimates

__all__ = [
    "COLOURS",
    "GREY",
    "SIZE",
    "band",
    "bars",
    "figure",
    "finding",
    "full_or_small",
    "say",
    "show_league_table",
    "show_table",
]

SIZE = "SCALA40_NOTEBOOKS"
"""The variable that says how much the notebooks play: ``full`` (if it is not set), or ``small`` for a quick look."""
GREY = "#777777"
_SIZES = ("full", "small")
#: Of a title, an inch.
_CHARACTERS = 10
_LOOK = {**STYLE, "figure.dpi": 100, "savefig.dpi": 100, "axes.titlelocation": "left", "axes.axisbelow": True}


def full_or_small(full: int, small: int) -> int:
    """How many hands, decisions or the like to take: the first number, or the second where the size is ``small``.

    Raises `BadUsage` for another size.
    """
    size = os.environ.get(SIZE, "full")
    if size not in _SIZES:
        raise BadUsage(f"{SIZE}={size}: allowed are {' and '.join(_SIZES)}")
    return full if size == "full" else small


def say(text: str) -> None:
    """A sentence, with numbers in it, as Markdown."""
    from IPython.display import Markdown, display

    display(Markdown(text))


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table; the first column holds words, the others numbers."""
    rule = [":--", *["--:"] * (len(columns) - 1)]
    say("\n".join(f"| {' | '.join(row)} |" for row in (columns, rule, *rows)))


def show_league_table(table: Table) -> None:
    """A table of the league."""
    say(as_markdown(table))


def figure(
    x: str = "", y: str = "", size: tuple[float, float] = (7.6, 3.9), columns: int = 1, same_y: bool = True
) -> Any:
    """A figure that the cell shows: its axes, or an array of them for several columns. `finding` completes it.

    Args:
        x: what the horizontal axis is, with its unit.
        y: the same of the vertical one.
        size: in inches.
        columns: axes side by side.
        same_y: whether those have the vertical axis in common.
    """
    import matplotlib.pyplot as plt

    plt.rcParams.update(_LOOK)
    axes = plt.subplots(1, columns, figsize=size, layout="constrained", sharey=same_y)[1]
    for at, each in enumerate(axes if columns > 1 else [axes]):
        each.set_xlabel(x)
        if not at:
            each.set_ylabel(y)
    return axes


def finding(axes: Any, title: str, legend: str | None = None) -> None:
    """Complete a figure: what is to be seen in it, in a sentence, and where its legend goes, if it has one.

    Returns nothing, so that the cell shows the figure and no more.
    """
    first = getattr(axes, "flat", [axes])[0]
    if legend:
        first.legend(frameon=False, loc=legend, fontsize=9.5)
    wide = int(_CHARACTERS * first.figure.get_figwidth())
    first.figure.suptitle(fill(title, wide), x=0.01, ha="left", fontsize=12, fontweight="bold")


def bars(axes: Any, names: Sequence[str], found: Estimates, scale: float = 1.0, form: str = ".1f", **look: Any) -> None:
    """Points with intervals from top to bottom, a name and the value beside each."""
    places = list(range(len(names)))
    axes.errorbar(scale * found.value, places, xerr=scale * found.errors, fmt="o", capsize=3, **look)
    for place in places:
        axes.annotate(
            f"{scale * found.value[place]:{form}}",
            (scale * found.value[place], place),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    axes.set_yticks(places, names)
    axes.set_ylim(len(names) - 0.4, -0.6)


def band(axes: Any, x: Any, found: Estimates, label: str, colour: str, scale: float = 1.0, **look: Any) -> None:
    """A line with its interval as a band."""
    axes.plot(x, scale * found.value, color=colour, label=label, marker="o", markersize=3.5, **look)
    axes.fill_between(x, scale * found.low, scale * found.high, color=colour, alpha=0.18, linewidth=0)
