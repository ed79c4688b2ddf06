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
from agents.kernels.expert import EXPERT_WEIGHTS, FORECASTS, HEADER, STAKES_AT, TABLES
from agents.kernels.greedy import WEIGHTS as GREEDY_WEIGHTS
from agents.kernels.outlook import CONTEXTS, FEATURES
from agents.kernels.stakes import STAKES
from agents.kernels.units import HIDDEN
from scala40_env.rules.errors import shown

__all__ = ["PARTS", "SHIPPED", "make_expert", "pack", "read_weights", "table_of", "weights_of", "write_weights"]

#: The weights that `agents.make("expert")` plays with.
SHIPPED = Path(__file__).parent / "weights" / "expert.json"
FORMAT, VERSION = "scala40 expert weights", 3
#: The parts of a table with their shapes, in the order in which the kernels read them.
PARTS = {
    "units_by_feature": (len(FEATURES), HIDDEN),
    "units_by_context": (len(CONTEXTS), HIDDEN),
    "forecasts_by_unit": (len(FORECASTS), HIDDEN),
    "forecasts_by_feature": (len(FORECASTS), len(FEATURES)),
    "forecasts_by_context": (len(FORECASTS), len(CONTEXTS)),
}
#: Weights are whole numbers of no more than so much: sums of products stay within 64 bits.
_MOST = 1 << 25
_ALLOWED = f"allowed is a whole number from -{_MOST} to {_MOST}"

Content = Mapping[str, Any]


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
    except OSError as error:
        raise AgentError(f"the weights {shown(str(path))} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise AgentError(f"the weights {shown(str(path))} can't be read: they are no JSON ({error})") from error
    wrong = _wrong(content)
    if wrong:
        raise AgentError(f"the weights {shown(str(path))} can't be used: {wrong}")
    return dict(content)


def _wrong(content: Any) -> str:
    """What is wrong with the content of a file; nothing if it can be used."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return f'they are not of the format "{FORMAT}"'
    if content.get("version") != VERSION:
        return f"they are of version {shown(content.get('version'))}, allowed is {VERSION}"
    if content.get("features") != list(FEATURES) or content.get("contexts") != list(CONTEXTS):
        return "they weigh other features or contexts than this version of expert looks at"
    return _wrong_tables(content.get("tables"))


def _wrong_stakes(stakes: Any) -> str:
    if not isinstance(stakes, dict) or list(stakes) != list(STAKES):
        return f"stakes have to be {', '.join(STAKES)}, in this order"
    return next((f"{name} is {shown(value)}, {_ALLOWED}" for name, value in stakes.items() if _bad(value)), "")


def _bad(value: Any) -> bool:
    return isinstance(value, bool) or not isinstance(value, int) or abs(value) > _MOST


def _wrong_tables(tables: Any) -> str:
    if not isinstance(tables, dict) or list(tables) != list(TABLES):
        return f"tables have to be {', '.join(TABLES)}, in this order"
    for name, table in tables.items():
        if not isinstance(table, dict) or list(table) != ["stakes", *PARTS]:
            return f"{name} has to hold stakes, {', '.join(PARTS)}, in this order"
        wrong = _wrong_stakes(table["stakes"])
        if wrong:
            return f"{name}, {wrong}"
        for part, shape in PARTS.items():
            wrong = _wrong_part(table[part], *shape)
            if wrong:
                return f"{name}, {part}: {wrong}"
    return ""


def _wrong_part(rows: Any, height: int, width: int) -> str:
    if not isinstance(rows, list) or len(rows) != height:
        return f"there have to be {height} rows"
    for row in rows:
        if not isinstance(row, list) or len(row) != width:
            return f"a row has to hold {width} numbers"
        for value in row:
            if _bad(value):
                return f"{shown(value)} can't be, {_ALLOWED}"
    return ""


def write_weights(path: Path, content: Content) -> None:
    """Write weights as `read_weights` takes them, each row of numbers on a line."""
    pieces = json.dumps(content, indent=1, ensure_ascii=False).split("[")
    for at, piece in enumerate(pieces):
        inside, bracket, rest = piece.partition("]")
        if at and bracket:
            pieces[at] = " ".join(inside.split()) + bracket + rest
    path.write_text("[".join(pieces) + "\n", encoding="utf-8")


# ---------------------------------------------------------------------------------------------------------------------
# The row that kernels read


def pack(content: Content) -> NDArray[np.int64]:
    """The weights as the kernels read them: int64[EXPERT_WEIGHTS]."""
    row = np.zeros(EXPERT_WEIGHTS, np.int64)
    row[: len(GREEDY_WEIGHTS)] = GREEDY_WEIGHTS
    stakes = [value for table in content["tables"].values() for value in table["stakes"].values()]
    row[STAKES_AT : STAKES_AT + len(stakes)] = stakes
    parts = [table[part] for table in content["tables"].values() for part in PARTS]
    row[HEADER:] = np.concatenate([np.array(part, np.int64).ravel() for part in parts])
    return row


def weights_of(tables: Content, made_by: Content) -> dict[str, Any]:
    """The content of a file of weights: ``tables`` as `table_of` makes them, ``made_by`` says where they are from."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_by": dict(made_by),
        "features": list(FEATURES),
        "contexts": list(CONTEXTS),
        "tables": {name: tables[name] for name in TABLES},
    }


def table_of(stakes: Mapping[str, int], parts: Mapping[str, NDArray[np.int64]]) -> dict[str, Any]:
    """One table for `weights_of`: the stakes by name, and an array for each of `PARTS`."""
    return {"stakes": dict(stakes), **{part: parts[part].tolist() for part in PARTS}}
