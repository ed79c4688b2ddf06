"""What the benchmarks share: short runs of many cases taking turns, their median and spread, and how these are shown.

All cases take turns, so that what else the machine does meets them alike; the median counts, and the spread between the
runs is printed with it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Annotated, Any, TypeVar

import tyro

from experiments.console import BadUsage

QUICK_SECONDS, QUICK_ROUNDS = 0.05, 3

Settings = TypeVar("Settings", bound="RunSettings")


@dataclass(frozen=True)
class RunSettings:
    """How long to measure, and how to answer."""

    seconds: Annotated[float, tyro.conf.arg(metavar="S")] = 0.25
    """Length of one run."""
    rounds: Annotated[int, tyro.conf.arg(metavar="N")] = 5
    """Runs of every case, of which the median counts."""
    quick: bool = False
    """Short runs, for a first look."""
    json: bool = False
    """Print one object instead of tables."""


def checked_runs(settings: Settings) -> Settings:
    """The settings with the runs as short as ``quick`` wants them. Raises `BadUsage`."""
    if not 0 < settings.seconds <= 3600:
        raise BadUsage(f"--seconds {settings.seconds}: allowed is more than 0 and up to 3600")
    if not 1 <= settings.rounds <= 1000:
        raise BadUsage(f"--rounds {settings.rounds}: allowed is 1 to 1000")
    if not settings.quick:
        return settings
    return replace(settings, seconds=min(settings.seconds, QUICK_SECONDS), rounds=min(settings.rounds, QUICK_ROUNDS))


def own_process(**variables: str) -> tuple[list[str], dict[str, str]]:
    """How to start Python in a process of its own that finds this project: the command's head, and its environment."""
    root = str(Path(__file__).parents[1])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    return [sys.executable], {**os.environ, "PYTHONPATH": path, **variables}


def spread(rates: Sequence[float]) -> float:
    """The distance from the slowest to the fastest run, as a share of the median."""
    return round((max(rates) - min(rates)) / median(rates), 3)


def figure(result: Mapping[str, Any]) -> str:
    """Decisions a second and their spread."""
    return f"{result['decisions_per_s']:,} ({result['spread']:.0%})"


def made_on(report: Mapping[str, Any]) -> str:
    """Machine and versions of a report, in one line."""
    machine = report["machine"]
    libraries = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    return f"{machine['cpu']}, {machine['cores']} cores; {libraries}"
