"""Tables on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.play.store import BadSave, Saved, Store
from experiments.play.table import Table
from scala40_env import Record
from tests.experiments.play.tables import played, setup_of


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_a_table_comes_back(store: Store) -> None:
    table = played(Table(setup_of(clock=30, language="it", made="2026-01-01")), 40)
    store.save(table)
    again = store.load("table")
    assert again.setup == table.setup and again.game == table.game
    (saved,) = store.saved()
    assert isinstance(saved, Saved) and saved.hands == table.hands and not saved.over


def test_the_record_is_one_that_replays(store: Store, tmp_path: Path) -> None:
    table = Table(setup_of())
    store.save_record(table)
    assert not store.record_file("table").exists()
    while not table.sheet:
        played(table, 1)
    store.save_record(table)
    (record,) = Record.load(tmp_path / "records" / "table.jsonl")
    assert record.check().scores == list(table.sheet[0].scores) and store.record("table") == record


def broken(store: Store, tmp_path: Path, **changes: Any) -> Path:
    """The file of a table with some keys changed, or without those that are None."""
    store.save(played(Table(setup_of()), 10))
    path = tmp_path / "tables" / "table.json"
    content = json.loads(path.read_text())
    for key, value in changes.items():
        part = content if key in content else content["setup"]
        if value is None:
            del part[key]
        else:
            part[key] = value
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "other"}, "not of the format"),
        ({"version": 9}, "version 1"),
        ({"hands": None}, "lacks 'hands'"),
        ({"hands": 3}, "hands is a list"),
        ({"hands": [[1]]}, "can't be played"),
        ({"hands": [["x"]]}, "can't be played"),
        ({"hands": [[0, 2], [0]]}, "can't be played"),
        ({"seed": -1}, "seed = -1"),
        ({"clock": "soon"}, "clock = 'soon'"),
        ({"places": []}, "allowed is one for each of 3 seats"),
        ({"places": [1, 2, 3]}, "no place at a table"),
        ({"language": "fr"}, "allowed is en, it, es"),
        ({"rules": {"preset": "fiska"}}, "did you mean 'fisca'"),
        ({"id": "another"}, "not that of table"),
        ({"stops": 3}, "stops is a list"),
        ({"places": [{"name": "a", "agent": "greedy", "token": ""}] * 3}, "no person"),
        ({"places": [{"name": "a", "agent": None, "token": ""}] * 3}, "a person has a token"),
    ],
)
def test_a_broken_file_is_named_with_what_is_wrong(
    store: Store, tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    path = broken(store, tmp_path, **changes)
    with pytest.raises(BadSave) as caught:
        store.load("table")
    assert said in str(caught.value) and str(path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[" * 10_000, "null", "\xff"])
def test_what_is_no_table_at_all(store: Store, tmp_path: Path, text: str) -> None:
    (tmp_path / "tables" / "table.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(BadSave):
        store.load("table")
    assert all(isinstance(each, BadSave) for each in store.saved())


@pytest.mark.parametrize("name", ["nothing", "../secret", "", "a/b"])
def test_there_is_no_such_table(store: Store, name: str) -> None:
    with pytest.raises(BadSave):
        store.load(name)
