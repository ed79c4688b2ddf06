"""The weights of `expert`: the file they are kept in, and the agent that plays with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import AgentError, KernelAgent
from agents.kernels.choice import EXPERT
from agents.kernels.expert import EXPERT_WEIGHTS, FORECASTS, HEADER, TABLES
from agents.kernels.greedy import WEIGHTS as GREEDY_WEIGHTS
from agents.kernels.outlook import CONTEXTS, FEATURES
from agents.kernels.stakes import STAKES
from scala40_env.rules.errors import shown

__all__ = ["SHIPPED", "make_expert", "pack", "read_weights", "unpack", "write_weights"]

#: The weights that `agents.make("expert")` plays with.
SHIPPED = Path(__file__).parent / "weights" / "expert.json"
FORMAT, VERSION = "scala40 expert weights", 1
#: Weights are whole numbers of no more than so much: sums of products stay within 64 bits.
MOST = 1 << 24
_STAKES_AT = 8


def make_expert(path: str | None = None) -> KernelAgent:
    """The expert, with the weights of a file if one is named. Raises `AgentError` for a file that is none."""
    name = "expert" if path is None else f"expert:{path}"
    return KernelAgent(name, EXPERT, pack(read_weights(SHIPPED if path is None else Path(path))).tolist())


# ---------------------------------------------------------------------------------------------------------------------
# The file


def read_weights(path: Path) -> dict[str, Any]:
    """The weights of a file, checked. Raises `AgentError` that says what is wrong with it."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"it is no JSON ({error})"
        raise AgentError(f"the weights {shown(str(path))} can't be read: {reason}") from error
    wrong = _wrong(content)
    if wrong:
        raise AgentError(f"the weights {shown(str(path))} can't be used: {wrong}")
    return dict(content)


def _wrong(content: Any) -> str:
    """What is wrong with the content of a file; nothing if it can be used."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return f'they are not of the format "{FORMAT}"'
    if content.get("version") != VERSION:
        return f"they are of version {shown(content.get('version'))}, this program reads version {VERSION}"
    if content.get("features") != list(FEATURES) or content.get("contexts") != list(CONTEXTS):
        return "they weigh other features or contexts than this version of expert looks at"
    return _wrong_stakes(content.get("stakes")) or _wrong_tables(content.get("tables"))


def _wrong_stakes(stakes: Any) -> str:
    if not isinstance(stakes, dict) or list(stakes) != list(STAKES):
        return f"stakes have to be {', '.join(STAKES)}"
    return next((f"stakes: {name} is {shown(value)}, {_ALLOWED}" for name, value in stakes.items() if _bad(value)), "")


_ALLOWED = f"allowed is a whole number from -{MOST} to {MOST}"


def _bad(value: Any) -> bool:
    return isinstance(value, bool) or not isinstance(value, int) or abs(value) > MOST


def _wrong_tables(tables: Any) -> str:
    if not isinstance(tables, dict) or list(tables) != list(TABLES):
        return f"tables have to be {', '.join(TABLES)}"
    for table, forecasts in tables.items():
        if not isinstance(forecasts, dict) or list(forecasts) != list(FORECASTS):
            return f"{table}: forecasts have to be {', '.join(FORECASTS)}"
        for forecast, rows in forecasts.items():
            wrong = _wrong_rows(rows)
            if wrong:
                return f"{table}, {forecast}: {wrong}"
    return ""


def _wrong_rows(rows: Any) -> str:
    if not isinstance(rows, dict) or list(rows) != list(CONTEXTS):
        return "there has to be a row for each context, in their order"
    for context, row in rows.items():
        if not isinstance(row, list) or len(row) != len(FEATURES):
            return f"{context} has to be a list of {len(FEATURES)} numbers, one for each feature"
        for value in row:
            if _bad(value):
                return f"{context} holds {shown(value)}, {_ALLOWED}"
    return ""


def write_weights(path: Path, content: Mapping[str, Any]) -> None:
    """Write weights as `read_weights` takes them: one line for each context."""
    text = json.dumps(content, indent=1, ensure_ascii=False)
    path.write_text(_with_short_rows(text) + "\n", encoding="utf-8")


def _with_short_rows(text: str) -> str:
    """JSON with every list on one line."""
    pieces = text.split("[")
    for at, piece in enumerate(pieces[1:], start=1):
        inside, bracket, rest = piece.partition("]")
        pieces[at] = " ".join(inside.split()) + bracket + rest
    return "[".join(pieces)


# ---------------------------------------------------------------------------------------------------------------------
# The row that kernels read


def pack(content: Mapping[str, Any]) -> NDArray[np.int64]:
    """The weights as the kernels read them: int64[EXPERT_WEIGHTS]."""
    row = np.zeros(EXPERT_WEIGHTS, np.int64)
    row[: len(GREEDY_WEIGHTS)] = GREEDY_WEIGHTS
    row[_STAKES_AT : _STAKES_AT + len(STAKES)] = list(content["stakes"].values())
    row[HEADER:] = tables_of(content).ravel()
    return row


def tables_of(content: Mapping[str, Any]) -> NDArray[np.int64]:
    """The forecasts, int64[tables, contexts, forecasts, features]."""
    tables = [[list(rows.values()) for rows in table.values()] for table in content["tables"].values()]
    return np.array(tables, np.int64).transpose(0, 2, 1, 3)


def unpack(stakes: Mapping[str, int], tables: NDArray[np.int64], made_by: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a file of weights: ``tables`` as `tables_of` gives them."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_by": dict(made_by),
        "features": list(FEATURES),
        "contexts": list(CONTEXTS),
        "stakes": dict(stakes),
        "tables": {name: _forecasts(table) for name, table in zip(TABLES, tables, strict=True)},
    }


def _forecasts(table: NDArray[np.int64]) -> dict[str, Any]:
    return {
        forecast: {context: table[c, f].tolist() for c, context in enumerate(CONTEXTS)}
        for f, forecast in enumerate(FORECASTS)
    }
