"""The folder of a tournament: ``results.json``, whole at any moment, and ``records.jsonl.gz`` as long as it says."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.league.blocks import Block, joined
from experiments.league.results import (
    RECORDS,
    RESULTS,
    Part,
    Results,
    ResultsError,
    differences,
    read_results,
    with_table,
    write_results,
)
from scala40_env import __version__


class Tally:
    """What a tournament has played so far, and the folder that keeps it, if there is one.

    Args:
        empty: the results before the first deal: one part without deals.
        folder: where the files go; None keeps nothing.
        with_records: write the records too.
    """

    def __init__(self, empty: Results, folder: Path | None, with_records: bool) -> None:
        self.empty = empty
        self.folder = folder
        self._blocks: list[Block] = [empty.parts[0].block]
        self._records_size: int | None = 0 if with_records and folder is not None else None

    @property
    def deals(self) -> int:
        """How many deals were played."""
        return sum(block.deals for block in self._blocks)

    @property
    def results(self) -> Results:
        """What was played so far."""
        self._blocks = [joined(self._blocks)]
        part = replace(self.empty.parts[0], block=self._blocks[0])
        return replace(self.empty, parts=(part,), records_bytes=self._records_size)

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
        self._blocks, self._records_size = [*self._blocks, replace(block, records=())], size

    def save(self, table: Sequence[Mapping[str, Any]] | None = None) -> None:
        """Write the results file in one step, with the table if it is given."""
        if self.folder is not None:
            results = self.results if table is None else with_table(self.results, table)
            write_results(results, self.folder / RESULTS)

    def close(self, table: Sequence[Mapping[str, Any]]) -> None:
        """Write what there is, with its table."""
        self._cut_records()
        self.save(table)

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

    def _load(self, file: Path) -> None:
        """Take over what a results file holds."""
        there = read_results(file)
        if len(there.parts) != 1:
            raise ResultsError(f"{file} can't go on: it is merged from {len(there.parts)} parts")
        self._check_same(there, file)
        self._blocks, self._records_size = [there.parts[0].block], there.records_bytes

    def _check_same(self, there: Results, file: Path) -> None:
        for part, old, new in (
            ("settings", _settings(there.parts[0]), _settings(self.empty.parts[0])),
            ("rules", there.rules, self.empty.rules),
            ("agents", there.agents, self.empty.agents),
            ("version", there.version, __version__),
        ):
            for what, before, now in differences(part, old, json.loads(json.dumps(new))):
                raise ResultsError(f"{file} can't go on: its {what} is {before!r}, now it is {now!r}")


def _settings(part: Part) -> Any:
    return part.made_by["settings"]
