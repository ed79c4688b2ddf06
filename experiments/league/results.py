"""The folder of a tournament: ``results.json``, whole at any moment, and ``records.jsonl.gz`` as long as it says.

Both hold nothing that changes from run to run (no times, no paths): the same command gives the same bytes, interrupted
or not. Sums are kept by deal and line-up, so that tables can be made of them anew.
"""

from __future__ import annotations

import gzip
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from experiments.league.blocks import FIELDS, Block, Sums
from experiments.league.lineups import Lineup
from experiments.league.statistics import AgentRow
from scala40_env import __version__

FORMAT, FORMAT_VERSION = "scala40 tournament", 1
RESULTS, RECORDS = "results.json", "records.jsonl.gz"
#: What has to be the same for a tournament to go on.
_SAME = ("settings", "rules", "agents")


class ResultsError(ValueError):
    """A folder that can't take the results, or does not hold those that were asked for."""


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


def table_as_json(rows: Sequence[AgentRow]) -> list[dict[str, Any]]:
    """The rows of a table as JSON takes them."""
    return [asdict(row) for row in rows]


class Tally:
    """What was played so far, and the folder that keeps it, if there is one.

    Args:
        heading: what the results file says before the results: command, settings, rules, agents ...
        lineups: of the tournament.
        folder: where the files go; None keeps nothing.
        with_records: write the records too.
    """

    def __init__(
        self, heading: Mapping[str, Any], lineups: Sequence[Lineup], folder: Path | None, with_records: bool
    ) -> None:
        self.heading = dict(heading)
        self.names: tuple[str, ...] = tuple(heading["agents"])
        self.lineups = tuple(lineups)
        self.folder = folder
        self._blocks: list[Sums] = []
        self._records_size: int | None = 0 if with_records and folder is not None else None

    @property
    def deals(self) -> int:
        """How many deals were played."""
        return sum(block.shape[-1] for block in self._blocks)

    @property
    def sums(self) -> Sums:
        """The sums of all deals so far, one behind the other."""
        empty: Sums = np.zeros((len(FIELDS), len(self.lineups), len(self.names), 0), np.int64)
        return np.concatenate([empty, *self._blocks], axis=-1)

    # -- the folder ----------------------------------------------------------------------------------------------

    def open(self, resume: bool) -> None:
        """Make the folder ready: empty, or with ``resume`` as it was left. Raises `ResultsError`, `OSError`."""
        if self.folder is None:
            return
        if self.folder.exists() and not self.folder.is_dir():
            raise ResultsError(f"{self.folder} is a file; --out names a folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        results = self.folder / RESULTS
        if results.exists() and not resume:
            raise ResultsError(f"{self.folder} holds results already; go on with --resume, or name another folder")
        if results.exists():
            self._load(results)
        self._cut_records()
        self.save()

    def add(self, block: Block) -> None:
        """Add a block of deals. Until this returns it does not count, and what it wrote is cut off again."""
        size = self._append_records(block.records)
        self._blocks, self._records_size = [*self._blocks, block.sums], size

    def save(self, rows: Sequence[AgentRow] | None = None) -> None:
        """Write the results file in one step, with the table if it is given."""
        if self.folder is None:
            return
        target = self.folder / RESULTS
        draft = target.with_suffix(".tmp")
        with draft.open("w") as file:
            json.dump(self._as_json(rows), file, ensure_ascii=False, separators=(",", ":"))
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)

    def close(self, rows: Sequence[AgentRow]) -> None:
        """Write what there is, with its table."""
        self._cut_records()
        self.save(rows)

    def _append_records(self, records: Sequence[str]) -> int | None:
        if self._records_size is None or self.folder is None:
            return None
        text = "".join(f"{line}\n" for line in records).encode()
        packed = gzip.compress(text, compresslevel=6, mtime=0)  # every block is a file in the file, as gzip allows
        with (self.folder / RECORDS).open("ab") as file:
            file.write(packed)
        return self._records_size + len(packed)

    def _cut_records(self) -> None:
        """Cut off what was written behind the last whole block."""
        if self._records_size is None or self.folder is None:
            return
        records = self.folder / RECORDS
        size = records.stat().st_size if records.exists() else 0
        if size < self._records_size:
            raise ResultsError(
                f"{records} holds {size} bytes, but {RESULTS} counts {self._records_size}: it was changed"
            )
        with records.open("ab") as file:
            file.truncate(self._records_size)

    # -- the results file ----------------------------------------------------------------------------------------

    def _as_json(self, rows: Sequence[AgentRow] | None) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            **self.heading,
            "deals_done": self.deals,
            "records_bytes": self._records_size,
            "lineups": self._lineups_as_json(),
            "table": None if rows is None else table_as_json(rows),
        }

    def _lineups_as_json(self) -> list[dict[str, Any]]:
        sums = self.sums
        return [
            {
                "seats": [self.names[agent] for agent in lineup.seats],
                "sums": {
                    self.names[agent]: {field: sums[row, at, agent].tolist() for row, field in enumerate(FIELDS)}
                    for agent in sorted(set(lineup.seats))
                },
            }
            for at, lineup in enumerate(self.lineups)
        ]

    def _load(self, results: Path) -> None:
        """Take over what a results file holds."""
        try:
            given = json.loads(results.read_text())
            self._check_same(given, results)
            sums: Sums = np.zeros((len(FIELDS), len(self.lineups), len(self.names), given["deals_done"]), np.int64)
            for at, lineup in enumerate(given["lineups"]):
                for name, fields in lineup["sums"].items():
                    for row, field in enumerate(FIELDS):
                        sums[row, at, self.names.index(name)] = fields[field]
            size = given["records_bytes"]
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            if isinstance(error, ResultsError):
                raise
            raise ResultsError(f"{results} is no results file of a tournament, or broken: {error!r}") from error
        self._blocks, self._records_size = [sums], size

    def _check_same(self, given: Mapping[str, Any], results: Path) -> None:
        if given["format"] != FORMAT or given["format_version"] != FORMAT_VERSION:
            raise ResultsError(f"{results} is not of the form {FORMAT!r}, version {FORMAT_VERSION}")
        for part in _SAME:
            for what, there, here in _differences(part, given[part], json.loads(json.dumps(self.heading[part]))):
                raise ResultsError(f"{results} can't go on: its {what} is {there!r}, now it is {here!r}")
        made_by, version = given["versions"]["scala40_env"], __version__
        if made_by != version:
            raise ResultsError(f"{results} can't go on: it was made by version {made_by}, this is {version}")


def _differences(name: str, there: Any, here: Any) -> list[tuple[str, Any, Any]]:
    """Where two JSON objects differ: the names and both values."""
    if isinstance(there, dict) and isinstance(here, dict):
        keys = dict.fromkeys([*there, *here])
        return [found for key in keys for found in _differences(key, there.get(key), here.get(key))]
    return [] if there == here else [(name, there, here)]
