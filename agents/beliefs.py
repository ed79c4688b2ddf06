"""The weights of `agents.kernels.belief`: the file they are kept in, and the row that kernels read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import AgentError
from agents.kernels.belief import BELIEF_CONTEXTS, BELIEF_FEATURES, BELIEF_TABLES
from scala40_env.rules.errors import shown

__all__ = ["SHIPPED_BELIEFS", "read_beliefs", "write_beliefs"]

#: Those that `search` plays with.
SHIPPED_BELIEFS = Path(__file__).parent / "weights" / "beliefs.json"
FORMAT, VERSION = "scala40 beliefs", 1
#: Thousandths of a natural logarithm; sums stay far within 64 bits.
_MOST = 1 << 20


def read_beliefs(path: Path = SHIPPED_BELIEFS) -> NDArray[np.int64]:
    """The weights of a file: int64[BELIEFS]. Raises `AgentError` that says what is wrong with it."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AgentError(f"the beliefs {shown(str(path))} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise AgentError(f"the beliefs {shown(str(path))} can't be read: they are no JSON ({error})") from error
    wrong = _wrong(content)
    if wrong:
        raise AgentError(f"the beliefs {shown(str(path))} can't be used: {wrong}")
    rows = [row for table in BELIEF_TABLES for row in content["tables"][table].values()]
    return np.array(rows, np.int64).ravel()


def write_beliefs(path: Path, tables: Mapping[str, NDArray[np.int64]], made_by: Mapping[str, Any]) -> None:
    """Write weights as `read_beliefs` takes them: for each of `BELIEF_TABLES` int64[contexts, features]."""
    lines = [f"{json.dumps(name)}: {_as_json(tables[name])}" for name in BELIEF_TABLES]
    head = {"format": FORMAT, "version": VERSION, "made_by": dict(made_by), "features": list(BELIEF_FEATURES)}
    text = json.dumps(head, indent=1, ensure_ascii=False)[:-2]
    path.write_text(f'{text},\n "tables": {{\n' + ",\n".join(lines) + "\n }\n}\n", encoding="utf-8")


def _as_json(table: NDArray[np.int64]) -> str:
    rows = (f"{json.dumps(name)}: {row.tolist()}" for name, row in zip(BELIEF_CONTEXTS, table, strict=True))
    return "{\n  " + ",\n  ".join(rows) + "}"


def _wrong(content: Any) -> str:
    """What is wrong with the content of a file; nothing if it can be used."""
    if not isinstance(content, dict) or content.get("format") != FORMAT or content.get("version") != VERSION:
        return f'they are not of the format "{FORMAT}", version {VERSION}'
    if content.get("features") != list(BELIEF_FEATURES):
        return f"they weigh other features: there are {', '.join(BELIEF_FEATURES)}"
    tables = content.get("tables")
    if not isinstance(tables, dict) or list(tables) != list(BELIEF_TABLES):
        return f"tables have to be {' and '.join(BELIEF_TABLES)}, in this order"
    for name, table in tables.items():
        if not isinstance(table, dict) or list(table) != list(BELIEF_CONTEXTS):
            return f"{name} has to hold {', '.join(BELIEF_CONTEXTS)}, in this order"
        for context, row in table.items():
            if not isinstance(row, list) or len(row) != len(BELIEF_FEATURES) or not all(map(_is_weight, row)):
                return f"{name}, {context}: {len(BELIEF_FEATURES)} whole numbers from -{_MOST} to {_MOST} are asked for"
    return ""


def _is_weight(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _MOST
