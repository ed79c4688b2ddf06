"""Tables on disk: ``tables/ID.json`` holds a match that can go on, ``records/ID.jsonl`` the record of its hands.

A table is its set-up and the ids of its moves: the seed deals the same cards again. It is written after every move, to
another name first, so that a process killed at any time leaves a whole file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from experiments.play.table import Place, Setup, Table
from experiments.play.words import LANGUAGES
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import Scala40Error, shown
from scala40_env.rules.record import Record

__all__ = ["BadSave", "Saved", "Store"]

FORMAT, VERSION = "scala40 table", 1
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class BadSave(Scala40Error):
    """A file of a table that can't be read, or does not replay."""


class Saved(NamedTuple):
    """A table in a file, not replayed yet: `hands` are the ids of its moves, `stops` where an undo may stop."""

    setup: Setup
    hands: list[list[int]]
    stops: list[int] | None
    over: bool


class Store:
    """The tables of a folder, which is made if need be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tables, self._records = folder / "tables", folder / "records"
        for part in (self._tables, self._records):
            part.mkdir(parents=True, exist_ok=True)

    def record_file(self, table_id: str) -> Path:
        """Where the record of a table's hands lies, once one of them is over."""
        return self._records / f"{table_id}.jsonl"

    def save(self, table: Table) -> None:
        """Write a table as it stands."""
        content = {"format": FORMAT, "version": VERSION, "over": table.over, "hands": table.hands, "stops": table.stops}
        content["setup"] = {**asdict(table.setup), "rules": table.setup.rules.to_dict()}
        _write(self._table_file(table.setup.id), json.dumps(content, ensure_ascii=False))

    def save_record(self, table: Table) -> None:
        """Write the record of the hands that are over, in the form that `scala40 replay` reads."""
        record = table.record()
        if record is not None:
            _write(self.record_file(table.setup.id), record.to_json() + "\n")

    def saved(self) -> Iterator[Saved | BadSave]:
        """All tables, the newest first; an error in place of a file that is broken."""
        for path in sorted(self._tables.glob("*.json"), key=_age):
            try:
                yield _read(path)
            except BadSave as error:
                yield error

    def read(self, table_id: str) -> Saved:
        """What the file of a table says. Raises `BadSave`, also where there is none of that name."""
        return _read(self._table_file(table_id))

    def load(self, table_id: str) -> Table:
        """A table, ready to go on. Raises `BadSave`, also where there is none of that name."""
        saved = self.read(table_id)
        try:
            return Table(saved.setup, saved.hands, saved.stops)
        except Scala40Error as error:
            why = str(error).splitlines()[0]
            raise BadSave(f"{self._table_file(table_id)}: its moves can't be played: {why}") from None

    def _table_file(self, table_id: str) -> Path:
        if not _ID.fullmatch(table_id):
            raise BadSave(f"{shown(table_id)} can't be the name of a table")
        return self._tables / f"{table_id}.json"

    def record(self, table_id: str) -> Record:
        """The record of a table's hands. Raises `BadRecord`, or `OSError` where there is none."""
        (record,) = Record.load(self.record_file(table_id))
        return record


def _age(path: Path) -> tuple[float, str]:
    return -path.stat().st_mtime, path.name


def _write(path: Path, text: str) -> None:
    # Not forced to the disk: that takes longer than the move, and only a loss of power would show the difference.
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, "utf-8")
    os.replace(part, path)


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def _read(path: Path) -> Saved:
    try:
        given = json.loads(path.read_text("utf-8"))
        if not isinstance(given, dict) or given.get("format") != FORMAT or given.get("version") != VERSION:
            raise BadSave(f'it is not of the format "{FORMAT}", version {VERSION}')
        stops = _stops(given.get("stops"))
        return Saved(_setup(given["setup"], path.stem), _hands(given["hands"]), stops, given["over"] is True)
    except OSError as error:
        raise BadSave(f"{path}: {error.strerror}") from None
    except KeyError as error:
        raise BadSave(f"{path}: it lacks {error}") from None
    except (ValueError, RecursionError) as error:  # no JSON, no text, or what the checks below refuse
        raise BadSave(f"{path}: {error}") from None


def _setup(given: Any, name: str) -> Setup:
    if not isinstance(given, Mapping) or given["id"] != name:
        raise BadSave(f"its set-up is not that of table {name}")
    rules = Rules.from_dict(given["rules"])
    places = tuple(map(_place, given["places"])) if isinstance(given["places"], list) else ()
    if len(places) != rules.num_players:
        raise BadSave(f"places = {shown(given['places'])}: allowed is one for each of {rules.num_players} seats")
    if all(place.agent for place in places):
        raise BadSave("no person sits at this table")
    if given["language"] not in LANGUAGES:
        raise BadSave(f"language = {shown(given['language'])}: allowed is {', '.join(LANGUAGES)}")
    return Setup(
        name, rules, _whole(given, "seed"), places, _whole(given, "clock"), given["language"], str(given["made"])
    )


def _place(given: Any) -> Place:
    kinds = {"name": str, "agent": str | None, "token": str}
    if not isinstance(given, Mapping) or not all(isinstance(given[key], kind) for key, kind in kinds.items()):
        raise BadSave(f"{shown(given)} is no place at a table")
    if (given["agent"] is None) != bool(given["token"]):
        raise BadSave(f"{shown(given)}: a person has a token, an agent has none")
    return Place(given["name"], given["agent"], given["token"])


def _whole(given: Mapping[str, Any], key: str) -> int:
    value = given[key]
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadSave(f"{key} = {shown(value)}: allowed is a whole number from 0")
    return value


def _hands(given: Any) -> list[list[int]]:
    if not isinstance(given, list) or not given or not all(isinstance(hand, list) for hand in given):
        raise BadSave("hands is a list of lists of moves")
    return given


def _stops(given: Any) -> list[int] | None:
    """None of a table that was saved before they were."""
    if given is None or (isinstance(given, list) and all(isinstance(stop, int) for stop in given)):
        return given
    raise BadSave("stops is a list of numbers of moves")
