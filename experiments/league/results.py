"""Results: what was played and what made it, the one file format that keeps them, and merging.

A file is a JSON object, plain or packed by gzip. It holds one or more *parts*; a part is what one command played: its
line-ups, on deals that follow one another. Sums are kept by deal and line-up, so that intervals, ratings and tests can
be made anew from the file alone. Nothing in it changes from run to run (no times, no paths): the same command gives the
same bytes, interrupted or not.
"""

from __future__ import annotations

import gzip
import json
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from experiments.league.blocks import FIELDS, HISTOGRAMS, SEAT_FIELDS, Block, Histogram
from experiments.league.lineups import rotations
from scala40_env import __version__

FORMAT, FORMAT_VERSION = "scala40 results", 2
RESULTS, RECORDS = "results.json", "records.jsonl.gz"


class ResultsError(ValueError):
    """A file or folder that can't take the results, or does not hold those that were asked for."""


def provenance() -> dict[str, Any]:
    """What made a result: versions and machine."""
    import numba

    versions = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "scala40_env": __version__,
    }
    return {"versions": versions, "machine": {"cpu": _cpu_model(), "cores": os.cpu_count()}}


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


@dataclass(frozen=True)
class Part:
    """What one command played.

    Attributes: `made_by`, its command, settings, versions and machine; the `agents` by name; the `lineups`, indices
    into them by seat; the `seed` of the deals, which are numbered from `first_deal` on; their `block` of numbers.
    """

    made_by: Mapping[str, Any]
    agents: tuple[str, ...]
    lineups: tuple[tuple[int, ...], ...]
    seed: int
    first_deal: int
    block: Block

    @property
    def deals(self) -> range:
        """The numbers of the deals."""
        return range(self.first_deal, self.first_deal + self.block.deals)

    def seats_of(self, lineup: int) -> tuple[str, ...]:
        """The names of a line-up by seat, the same however it was turned around the table."""
        return min(rotations_of_names(tuple(self.agents[agent] for agent in self.lineups[lineup])))


def rotations_of_names(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """All seatings that rotate one."""
    return [tuple(names[at] for at in turned) for turned in rotations(tuple(range(len(names))))]


@dataclass(frozen=True)
class Results:
    """What a file holds.

    Attributes: the `rules` as `Rules.to_dict` says them; `episode`, hand or match; `agents`, what each name stands for;
    the `parts`; `records_bytes`, how much of the records beside it counts, None where there are none; the `table` of
    agents for those who read the file, None while it is being played.
    """

    rules: Mapping[str, Any]
    episode: str
    agents: Mapping[str, str]
    parts: tuple[Part, ...]
    records_bytes: int | None = None
    table: Sequence[Mapping[str, Any]] | None = None

    @property
    def version(self) -> str:
        """The version of this package that made it."""
        return str(self.parts[0].made_by["versions"]["scala40_env"])


# ---------------------------------------------------------------------------------------------------------------------
# Writing


def write_results(results: Results, path: Path) -> None:
    """Write a file in one step: packed if its name ends with ``.gz``. Raises `OSError`."""
    text = json.dumps(_as_json(results), ensure_ascii=False, separators=(",", ":")) + "\n"
    data = text.encode()
    if path.suffix == ".gz":
        data = gzip.compress(data, compresslevel=9, mtime=0)
    draft = path.with_name(f"{path.name}.tmp")
    with draft.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _as_json(results: Results) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "rules": dict(results.rules),
        "episode": results.episode,
        "agents": dict(results.agents),
        "parts": [_part_as_json(part) for part in results.parts],
        "records_bytes": results.records_bytes,
        "table": results.table,
    }


def _part_as_json(part: Part) -> dict[str, Any]:
    return {
        **part.made_by,
        "agents": list(part.agents),
        "seed": part.seed,
        "first_deal": part.first_deal,
        "deals_done": part.block.deals,
        "lineups": [_lineup_as_json(part, at) for at in range(len(part.lineups))],
    }


def _lineup_as_json(part: Part, at: int) -> dict[str, Any]:
    block, seats = part.block, part.lineups[at]
    there = {agent: part.agents[agent] for agent in sorted(set(seats))}
    return {
        "seats": [part.agents[agent] for agent in seats],
        "sums": {
            name: {field: block.sums[row, at, agent].tolist() for row, field in enumerate(FIELDS)}
            for agent, name in there.items()
        },
        "by_seat": {
            name: {field: block.by_seat[row, at, agent].tolist() for row, field in enumerate(SEAT_FIELDS)}
            for agent, name in there.items()
        },
        "histograms": {
            name: {kind: _pairs_of(block.histograms[kind], at, agent) for kind in HISTOGRAMS}
            for agent, name in there.items()
        },
    }


def _pairs_of(histogram: Histogram, lineup: int, agent: int) -> list[list[int]]:
    return sorted([value, times] for (at, who, value), times in histogram.items() if (at, who) == (lineup, agent))


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def results_file(path: Path) -> Path:
    """The file itself, or that of a folder. Raises `ResultsError` where there is none."""
    file = path / RESULTS if path.is_dir() else path
    if not file.exists():
        raise ResultsError(f"{file}: there is no such file of results")
    return file


def read_results(path: Path) -> Results:
    """The results of a file or folder. Raises `ResultsError`, or `OSError`."""
    file = results_file(path)
    data = file.read_bytes()
    try:
        given = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        _check_format(given, file)
        return Results(
            rules=given["rules"],
            episode=given["episode"],
            agents=given["agents"],
            parts=tuple(_part_from_json(part) for part in given["parts"]),
            records_bytes=given["records_bytes"],
            table=given["table"],
        )
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, EOFError, gzip.BadGzipFile) as error:
        if isinstance(error, ResultsError):
            raise
        raise ResultsError(f"{file} is no results file, or broken: {error!r}") from error


def _check_format(given: Mapping[str, Any], file: Path) -> None:
    if given["format"] != FORMAT or given["format_version"] != FORMAT_VERSION:
        raise ResultsError(
            f"{file} is of the form {given['format']!r}, version {given['format_version']!r};"
            f" this reads {FORMAT!r}, version {FORMAT_VERSION}"
        )


_PART_KEYS = ("agents", "seed", "first_deal", "deals_done", "lineups")


def _part_from_json(given: Mapping[str, Any]) -> Part:
    names = tuple(given["agents"])
    lineups = tuple(tuple(names.index(name) for name in lineup["seats"]) for lineup in given["lineups"])
    block = Block.empty(len(lineups), len(names), len(lineups[0]), given["deals_done"])
    for at, lineup in enumerate(given["lineups"]):
        _fill(block, at, lineup, names)
    made_by = {key: value for key, value in given.items() if key not in _PART_KEYS}
    return Part(made_by, names, lineups, int(given["seed"]), int(given["first_deal"]), block)


def _fill(block: Block, at: int, lineup: Mapping[str, Any], names: Sequence[str]) -> None:
    """Write the numbers of a line-up into a block."""
    for name, fields in lineup["sums"].items():
        for row, field in enumerate(FIELDS):
            block.sums[row, at, names.index(name)] = fields[field]
    for name, fields in lineup["by_seat"].items():
        for row, field in enumerate(SEAT_FIELDS):
            block.by_seat[row, at, names.index(name)] = fields[field]
    for name, kinds in lineup["histograms"].items():
        for kind in HISTOGRAMS:
            block.histograms[kind].update({(at, names.index(name), value): times for value, times in kinds[kind]})


# ---------------------------------------------------------------------------------------------------------------------
# Merging


def merge(given: Mapping[str, Results]) -> Results:
    """One of several, by the names of their files. Raises `ResultsError` if they don't go together.

    They have to have the same rules, kind of episode and version of this package, and no deal of a line-up twice.
    """
    (first_name, first), *others = given.items()
    for name, results in others:
        _check_together(first_name, first, name, results)
    for (a, one), (b, other) in combinations(given.items(), 2):
        _check_no_deal_twice(a, one, b, other)
    agents = {name: spec for results in given.values() for name, spec in results.agents.items()}
    parts = [part for results in given.values() for part in results.parts]
    ordered = sorted(parts, key=lambda part: (part.seed, part.agents, part.lineups, part.first_deal))
    return Results(first.rules, first.episode, dict(sorted(agents.items())), tuple(ordered))


def _check_together(a: str, one: Results, b: str, other: Results) -> None:
    same: dict[str, Callable[[Results], Any]] = {
        "rules": lambda results: results.rules,
        "episode": lambda results: results.episode,
        "version": lambda results: results.version,
    }
    for part, read in same.items():
        for what, here, there in differences(part, read(one), read(other)):
            raise ResultsError(f"{a} and {b} can't be merged: {what} is {here!r} in the first, {there!r} in the second")
    for name in sorted(set(one.agents) & set(other.agents)):
        if one.agents[name] != other.agents[name]:
            raise ResultsError(
                f"{a} and {b} can't be merged: the agent {name!r} is {one.agents[name]!r} in the first,"
                f" {other.agents[name]!r} in the second"
            )


def _check_no_deal_twice(a: str, one: Results, b: str, other: Results) -> None:
    for (seats, seed, deals), (seats_too, seed_too, deals_too) in product(_tables(one), _tables(other)):
        both = range(max(deals.start, deals_too.start), min(deals.stop, deals_too.stop))
        if (seats, seed) == (seats_too, seed_too) and both:
            raise ResultsError(
                f"{a} and {b} can't be merged: both hold deals {both[0]} to {both[-1]} of seed {seed}"
                f" for the line-up {', '.join(seats)}"
            )


def _tables(results: Results) -> Iterator[tuple[tuple[str, ...], int, range]]:
    """What line-ups played: their seats, the seed, the deals."""
    for part in results.parts:
        for at in range(len(part.lineups)):
            yield part.seats_of(at), part.seed, part.deals


def differences(name: str, here: Any, there: Any) -> list[tuple[str, Any, Any]]:
    """Where two JSON objects differ: the names and both values."""
    if isinstance(here, dict) and isinstance(there, dict):
        keys = dict.fromkeys([*here, *there])
        return [found for key in keys for found in differences(key, here.get(key), there.get(key))]
    return [] if here == there else [(name, here, there)]


# ---------------------------------------------------------------------------------------------------------------------
# One table of all parts


@dataclass(frozen=True)
class Played:
    """The parts of a file put together, as statistics take them.

    Attributes: `names` of the agents; `lineups`, indices into them by seat; `block`, with a place for every deal that
    any line-up played, zeros where one did not; `deals_of`, int64[line-ups], how many each played.
    """

    names: tuple[str, ...]
    lineups: tuple[tuple[int, ...], ...]
    block: Block
    deals_of: np.ndarray[Any, np.dtype[np.int64]]


def played(results: Results) -> Played:
    """Put the parts of a file together: the same line-up is one, the same deal has one place."""
    names = tuple(dict.fromkeys(name for part in results.parts for name in part.agents))
    seats = tuple(dict.fromkeys(part.seats_of(at) for part in results.parts for at in range(len(part.lineups))))
    deals = sorted({(part.seed, deal) for part in results.parts for deal in part.deals})
    place = {deal: at for at, deal in enumerate(deals)}
    whole = Block.empty(len(seats), len(names), len(seats[0]), len(deals))
    for part in results.parts:
        where = [place[part.seed, deal] for deal in part.deals]
        _put(whole, part, [names.index(name) for name in part.agents], seats, where)
    lineups = tuple(tuple(names.index(name) for name in lineup) for lineup in seats)
    hands = whole.sums[FIELDS.index("hands")].sum(axis=1)
    return Played(names, lineups, whole, (hands > 0).sum(axis=1))


def _put(whole: Block, part: Part, rows: list[int], seats: Sequence[tuple[str, ...]], where: list[int]) -> None:
    """Add the numbers of a part, whose agents are these rows of the whole, and whose deals go to these places."""
    for at in range(len(part.lineups)):
        lineup = seats.index(part.seats_of(at))
        whole.by_seat[:, lineup, rows] += part.block.by_seat[:, at]
        for agent, row in enumerate(rows):
            whole.sums[:, lineup, row, where] += part.block.sums[:, at, agent]
        for kind in HISTOGRAMS:
            moved = {
                (lineup, rows[agent], value): hands
                for (there, agent, value), hands in part.block.histograms[kind].items()
                if there == at
            }
            whole.histograms[kind].update(Counter(moved))


def with_table(results: Results, table: Sequence[Mapping[str, Any]]) -> Results:
    """The same with its table."""
    return replace(results, table=list(table))
