"""The plots of the report, as SVG that is the same byte for byte for the same results.

Needs Matplotlib, of the extra `report`; it is loaded when something is drawn.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.league.analysis import Analysis
from experiments.league.blocks import SEAT_FIELDS

#: Told apart by people who see few colours too (Okabe and Ito's).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
STYLE = {
    "svg.hashsalt": "scala40",
    "svg.fonttype": "none",
    "font.size": 11.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
}
_WIDTH = 6.4
#: Points of a bin of the distribution.
_BIN = 10


def all_plots(analysis: Analysis) -> list[tuple[str, str]]:
    """The plots with their titles: (title, SVG)."""
    makers = (ratings_plot, wins_plot, points_plot, openings_plot, closings_plot, endings_plot, seats_plot)
    return [maker(analysis) for maker in makers]


def _drawn(title: str, height: float, draw: Any) -> tuple[str, str]:
    """A figure with a title, drawn by ``draw(axes)``."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        axes = figure.subplots()
        axes.set_title(title, loc="left", fontsize=12)
        draw(axes)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return title, out.getvalue()


def _names(analysis: Analysis) -> list[str]:
    return [row.name for row in analysis.agents]


def _colour(at: int) -> str:
    return COLOURS[at % len(COLOURS)]


def ratings_plot(analysis: Analysis) -> tuple[str, str]:
    """The ratings with their intervals, the best on top."""
    rows = sorted(enumerate(analysis.agents), key=lambda pair: pair[1].rating)

    def draw(axes: Any) -> None:
        for place, (at, row) in enumerate(rows):
            low, high = row.rating_ci or (row.rating, row.rating)
            axes.plot([low, high], [place, place], color=_colour(at), linewidth=3)
            axes.plot([row.rating], [place], "o", color=_colour(at), markersize=8)
        axes.set_yticks(range(len(rows)), [row.name for _, row in rows])
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.set_xlabel("rating (openskill, Plackett-Luce; bar: 95% interval)")

    return _drawn("Ratings: further right is stronger", 1.2 + 0.4 * len(rows), draw)


def wins_plot(analysis: Analysis) -> tuple[str, str]:
    """Who wins how much against whom."""
    names = _names(analysis)
    shares = np.full((len(names), len(names)), np.nan)
    for row in analysis.pairs:
        a, b = names.index(row.name), names.index(row.other)
        if row.share is not None:
            shares[a, b], shares[b, a] = row.share, 1 - row.share

    def draw(axes: Any) -> None:
        axes.imshow(np.ma.masked_invalid(shares), cmap="RdBu", vmin=0, vmax=1, aspect="auto")
        axes.grid(visible=False)
        for (a, b), share in np.ndenumerate(shares):
            text = "" if np.isnan(share) else f"{share:.0%}"
            axes.text(b, a, text, ha="center", va="center", color="white" if abs(share - 0.5) > 0.3 else "black")
        axes.set_xticks(range(len(names)), names, rotation=30 if len(names) > 4 else 0)
        axes.set_yticks(range(len(names)), names)
        axes.set_xlabel("against")

    title = "Share of hands won: row against column"
    return _drawn(title, 1.6 + 0.45 * len(names), draw)


def _lines(title: str, analysis: Analysis, x: Sequence[Sequence[float]], y: Any, labels: tuple[str, str]) -> Any:
    def draw(axes: Any) -> None:
        for at, name in enumerate(_names(analysis)):
            axes.plot(x[at], y[at], color=_colour(at), label=name, marker="o", markersize=3)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        axes.locator_params(axis="x", integer=True)
        axes.set_ylim(bottom=min(0.0, *(min(each, default=0.0) for each in y)))
        axes.legend(frameon=False)

    return _drawn(title, 3.4, draw)


def points_plot(analysis: Analysis) -> tuple[str, str]:
    """How many points the agents were charged in a hand."""
    x, y = [], []
    for counts in analysis.histograms["points"]:
        bins: dict[int, int] = {}
        for value, hands in counts.items():
            bins[value // _BIN] = bins.get(value // _BIN, 0) + hands
        places = range(min(bins, default=0), max(bins, default=0) + 1)
        x.append([place * _BIN for place in places])
        y.append([100 * bins.get(place, 0) / max(1, counts.total()) for place in places])
    labels = (f"points charged in a hand, from this number up to {_BIN - 1} more", "hands, %")
    return _lines("Points charged in a hand", analysis, x, y, labels)


def openings_plot(analysis: Analysis) -> tuple[str, str]:
    """By which lap the agents have opened."""
    labels = ("lap of the hand", "hands in which the agent has opened, %")
    return _until_lap("Openings by lap", analysis, "opening_lap", labels)


def closings_plot(analysis: Analysis) -> tuple[str, str]:
    """By which lap the agents have closed the hand."""
    labels = ("lap of the hand", "hands that the agent has closed, %")
    return _until_lap("Closings by lap", analysis, "closing_lap", labels)


def _until_lap(title: str, analysis: Analysis, kind: str, labels: tuple[str, str]) -> tuple[str, str]:
    """In how many hands something has happened until each lap."""
    last = max((max(counts, default=1) for counts in analysis.histograms[kind]), default=1)
    laps = list(range(1, last + 1))
    y = [
        [100 * sum(hands for lap, hands in counts.items() if 0 < lap <= end) / max(1, counts.total()) for end in laps]
        for counts in analysis.histograms[kind]
    ]
    return _lines(title, analysis, [laps] * len(y), y, labels)


def endings_plot(analysis: Analysis) -> tuple[str, str]:
    """How the hands of every agent ended."""
    total = dict(zip(SEAT_FIELDS, analysis.seats.sum(axis=-1), strict=True))
    closed, in_hand, abandoned = total["closed_normal"], total["closed_in_hand"], total["abandoned"]
    parts = {
        "closed": closed,
        "closed in hand": in_hand,
        "another closed": total["hands"] - closed - in_hand - abandoned,
        "abandoned": abandoned,
    }
    colours = ("#009e73", "#0072b2", "#bbbbbb", "#e69f00")
    names = _names(analysis)

    def draw(axes: Any) -> None:
        left = np.zeros(len(names))
        for (label, hands), colour in zip(parts.items(), colours, strict=True):
            share = 100 * hands / total["hands"]
            axes.barh(names, share, left=left, label=label, color=colour)
            left += share
        axes.set_xlabel("hands of the agent, %")
        axes.invert_yaxis()
        axes.legend(frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.25 - 0.3 / len(names)))

    return _drawn("How hands ended", 2.0 + 0.4 * len(names), draw)


def seats_plot(analysis: Analysis) -> tuple[str, str]:
    """Points a hand by seat."""
    hands, charged = (analysis.seats[SEAT_FIELDS.index(field)] for field in ("hands", "points"))
    x = [[seat for seat in range(hands.shape[1]) if hands[at, seat]] for at in range(len(hands))]
    y = [[charged[at, seat] / hands[at, seat] for seat in seats] for at, seats in enumerate(x)]

    title, labels = "Points by seat", ("seat", "points charged a hand")
    return _lines(title, analysis, x, y, labels)
