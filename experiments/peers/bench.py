"""``scala40 bench peers``: this project's environments beside others of their kind, on one core in one run.

How it measures is told in `experiments.measuring`; what, in `cases`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import tyro

from experiments.console import BadUsage, Exit, new_table, print_json, print_table, progress_bar
from experiments.measuring import RunSettings, checked_runs, figure, made_on, spread
from experiments.peers.cases import CASES, LIBRARIES, NAMES, RATIOS, RESET_MOST_MS, RESETS, Case, Ratio
from experiments.peers.workers import Worker, WorkerFailed, command_of
from scala40_env.cores import cores_there
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import shown, suggestion

INSTALL = "make peers"
WARM_UP = 0.2
"""Seconds of the run of every case that does not count."""


@dataclass(frozen=True)
class PeersSettings(RunSettings):
    """Measure this project's environments beside others of their kind: decisions a second of random legal play.

    PettingZoo's, RLCard's and OpenSpiel's gin rummy, and environments that do nothing, on one core and taking turns.
    ``make peers`` installs them, each into an environment of its own; one that is missing is left out. Takes some two
    minutes. The exit code is 1 where one is missing or fails, or a ratio is not what it has to be.
    """

    seconds: Annotated[float, tyro.conf.arg(metavar="S")] = 1.0
    """Length of one run, in seconds of the core."""
    only: tuple[str, ...] = ()
    """Measure only these cases, or all of these libraries (ours, nothing, pettingzoo, rlcard, openspiel)."""
    players: int = 2
    """Players of this project's games and of the environment that does nothing; the others are for two."""
    num_envs: int = 256
    """Games of the vector environments."""
    peers: Path = Path(".peers")
    """The folder with an environment for each library."""
    markdown: bool = False
    """Print the tables as Markdown, for docs/benchmarks.md."""


@dataclass
class Measured:
    """All that was measured so far."""

    runs: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Decisions a second of every run, by the name of the case."""
    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """What went wrong, by the library."""


def run(settings: PeersSettings) -> int:
    """Measure and print. Raises `BadUsage` or `BadRules`; interrupted, it prints what is complete."""
    settings = checked_runs(settings)
    cases, for_workers = cases_of(settings.only), _for_workers(settings)
    if settings.json and settings.markdown:
        raise BadUsage("--json and --markdown: one of them")
    measured = Measured()
    interrupted = False
    try:
        _measure(settings, cases, for_workers, measured)
    except KeyboardInterrupt:
        if not any(measured.runs.values()):
            raise
        interrupted = True
    _complain(measured)
    report = report_of(settings, measured)
    (print_json if settings.json else _print_markdown if settings.markdown else _print_report)(report)
    return Exit.INTERRUPTED if interrupted else Exit.OK if _all_well(report) else Exit.FAILED


# ---------------------------------------------------------------------------------------------------------------------
# What to measure


def cases_of(only: Sequence[str]) -> list[Case]:
    """The cases that these names mean, all if there are none. Raises `BadUsage`."""
    known = (*LIBRARIES, *NAMES)
    for name in only:
        if name not in known:
            raise BadUsage(f"--only {shown(name)}: allowed are {', '.join(known)}{suggestion(name, known)}")
    return [case for case in (*CASES, *RESETS) if not only or case.name in only or case.library in only]


def _for_workers(settings: PeersSettings) -> dict[str, Any]:
    """What the workers have to know. Raises `BadUsage` or `BadRules`."""
    from scala40_env.observation import schema_of
    from scala40_env.rules.moves import num_actions

    if not 1 <= settings.num_envs <= 1 << 20:
        raise BadUsage(f"--num-envs {settings.num_envs}: allowed is 1 to {1 << 20}")
    rules = Rules(num_players=settings.players)
    return {
        "core": cores_there()[-1],
        "num_players": settings.players,
        "num_envs": settings.num_envs,
        "observation_size": schema_of(rules).size,
        "num_actions": num_actions(rules),
    }


# ---------------------------------------------------------------------------------------------------------------------
# Measuring


def _measure(settings: PeersSettings, cases: Sequence[Case], for_workers: Any, measured: Measured) -> None:
    """Fill `measured`, round by round."""
    libraries = list(dict.fromkeys(case.library for case in cases))
    with progress_bar("runs") as progress, _workers(libraries, settings.peers, for_workers, measured) as workers:
        task = progress.add_task("measuring", total=(settings.rounds + 1) * len(cases))
        for number in range(settings.rounds + 1):
            for case in cases:
                if case.library in workers:
                    seconds = settings.seconds if number else min(WARM_UP, settings.seconds)
                    _run_once(workers, case, seconds, measured.runs[case.name] if number else [], measured)
                progress.advance(task)


@contextmanager
def _workers(
    libraries: Iterable[str], peers: Path, for_workers: Any, measured: Measured
) -> Iterator[dict[str, Worker]]:
    """A worker for each library that is there, by its name; they end with the block."""
    workers: dict[str, Worker] = {}
    try:
        for library in libraries:
            command = command_of(library, peers)
            if command is None:
                measured.missing.append(library)
                continue
            try:
                workers[library] = Worker(library, command, for_workers)
            except WorkerFailed as error:
                measured.failed[library] = str(error)
            else:
                measured.versions[library] = workers[library].versions
        yield workers
    finally:
        for worker in workers.values():
            worker.close()


def _run_once(workers: dict[str, Worker], case: Case, seconds: float, rates: list[float], measured: Measured) -> None:
    """Add one run; a worker that fails is let go, and the others go on."""
    try:
        rates.append(workers[case.library].rate(case.name, seconds))
    except WorkerFailed as error:
        measured.failed[case.library] = f"{error} (in {case.name})"
        workers.pop(case.library).close()


def _complain(measured: Measured) -> None:
    """Say on stderr what is not in the figures, and what would help."""
    if measured.missing:
        missing = ", ".join(measured.missing)
        print(f"scala40 bench peers: not installed: {missing}; {INSTALL} installs them", file=sys.stderr)
    for message in measured.failed.values():
        print(f"scala40 bench peers: failed: {message}", file=sys.stderr)


# ---------------------------------------------------------------------------------------------------------------------
# Reporting


def report_of(settings: PeersSettings, measured: Measured) -> dict[str, Any]:
    """All figures as one object."""
    from experiments.league.results import provenance

    rates = {name: median(runs) for name, runs in measured.runs.items() if runs}
    resets = [_reset(case, rates[case.name]) for case in RESETS if case.name in rates]
    return {
        "results": [_result(case, measured) for case in CASES if case.name in rates],
        "ratios": [_ratio(ratio, rates) for ratio in RATIOS if {ratio.over, ratio.under} & set(rates)],
        "reset_1024_ms": max((reset["ms"] for reset in resets), default=None),
        "resets": resets,
        "missing": [{"library": library, "install": INSTALL} for library in measured.missing],
        "failed": [{"library": library, "message": message} for library, message in measured.failed.items()],
        **provenance(),
        "settings": asdict(settings) | {"peers": str(settings.peers)},
    }


def _result(case: Case, measured: Measured) -> dict[str, Any]:
    runs = measured.runs[case.name]
    return {
        **case._asdict(),
        "versions": measured.versions[case.library],
        "decisions_per_s": round(median(runs)),
        "spread": spread(runs),
        "runs": len(runs),
    }


def _ratio(ratio: Ratio, rates: dict[str, float]) -> dict[str, Any]:
    value = _value(ratio, rates)
    holds = None if value is None or ratio.at_least is None else value >= ratio.at_least
    at_least = None if ratio.at_least is None else round(ratio.at_least, 3)
    return {
        "name": ratio.name,
        "value": None if value is None else round(value, 3),
        "at_least": at_least,
        "holds": holds,
    }


def _value(ratio: Ratio, rates: dict[str, float]) -> float | None:
    """A ratio, None if something that it needs was not measured."""
    if not {ratio.over, ratio.under, *(["choice"] if ratio.net else [])} <= set(rates):
        return None
    choice = 1 / rates["choice"] if ratio.net else 0.0
    over, under = (1 / rates[name] - choice for name in (ratio.over, ratio.under))
    return under / over if over > 0 else None


def _reset(case: Case, rate: float) -> dict[str, Any]:
    ms = round(1000 / rate, 2)
    return {"name": case.name, "label": case.label, "ms": ms, "at_most": RESET_MOST_MS, "holds": ms < RESET_MOST_MS}


def _all_well(report: dict[str, Any]) -> bool:
    broken = [one for one in (*report["ratios"], *report["resets"]) if one["holds"] is False]
    return not (broken or report["missing"] or report["failed"])


# As text


def _heading(report: dict[str, Any]) -> str:
    return f"Random legal play on one core of {made_on(report)}"


def _versions(report: dict[str, Any]) -> str:
    """The versions of what was played beside us."""
    peers = {
        library: ", ".join(f"{name} {number}" for name, number in result["versions"].items())
        for result in report["results"]
        if (library := result["library"]) != "ours"
    }
    return "; ".join(f"{library}: {versions}" for library, versions in peers.items())


def _result_rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    return [(result["label"], figure(result)) for result in report["results"]]


def _ratio_rows(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    rows = []
    for ratio in report["ratios"]:
        value = "not measured" if ratio["value"] is None else f"{ratio['value']:,.2f}"
        bound = "" if ratio["at_least"] is None else f"{ratio['at_least']:,.2f}"
        rows.append((ratio["name"], value, bound + ("" if ratio["holds"] is not False else " FAILS")))
    return rows


def _reset_line(report: dict[str, Any]) -> str:
    times = ", ".join(f"{reset['label']} {reset['ms']:.1f} ms" for reset in report["resets"])
    late = " FAILS" if any(not reset["holds"] for reset in report["resets"]) else ""
    return f"Reset of 1,024 games: {times} (less than {RESET_MOST_MS:.0f} ms is wanted{late})"


_RESULT_COLUMNS = ("what", "decisions/s")
_RATIO_COLUMNS = ("ratio", "is", "at least")


def _print_report(report: dict[str, Any]) -> None:
    print(_heading(report))
    print(_versions(report))
    print("median of the runs (in brackets how far they lie apart)\n")
    for columns, rows in ((_RESULT_COLUMNS, _result_rows(report)), (_RATIO_COLUMNS, _ratio_rows(report))):
        table = new_table(columns, right=columns[1:])
        for row in rows:
            table.add_row(*row)
        print_table(table)
        print()
    if report["resets"]:
        print(_reset_line(report))


def _print_markdown(report: dict[str, Any]) -> None:
    print(f"{_heading(report)};")
    print(f"{_versions(report)}. Median of the runs, in brackets how far they lie apart.\n")
    for columns, rows in ((_RESULT_COLUMNS, _result_rows(report)), (_RATIO_COLUMNS, _ratio_rows(report))):
        print(_markdown(columns, rows))
        print()
    if report["resets"]:
        print(_reset_line(report) + ".")


def _markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = "|---|" + "---:|" * (len(columns) - 1)
    return "\n".join([f"| {' | '.join(columns)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)])
