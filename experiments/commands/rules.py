"""``scala40 rules``: the fields of the rules with their values, and the presets side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from experiments.console import BadUsage, Exit, new_table, print_json, print_table
from scala40_env.rules.config import FIELDS, MAX_NUMBER, PRESETS, SPECS, Rules, SettingRow, Value, parse_setting

DIFFERS = "*"
"""Marks a value that is not the federation's."""


@dataclass(frozen=True)
class RulesSettings:
    """Print every field of the rules: its value, the federation's where it differs (marked *), and what it means."""

    preset: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="PRESET")] = "fisca"
    """Which rules: fisca (the federation's), casa, scala_quaranta, tavolo or megajogos."""
    set: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="FIELD=VALUE")] = ()
    """Change fields: --set num_players=3 limit=201. None, true and false are read in small letters too."""
    list: bool = False
    """Print the presets side by side instead: the fields in which any of them differs."""
    json: bool = False
    """Print one object instead of a table."""


def run(settings: RulesSettings) -> int:
    """Print the rules. Raises `BadRules` for an unknown preset, field or value."""
    rules = rules_from(settings.preset, settings.set)
    if settings.list:
        if settings.set:
            raise BadUsage("--list prints the presets as they are; leave out --set")
        _print_presets(settings.json)
    elif settings.json:
        print_json(rules_as_json(rules))
    else:
        _print_rules(rules)
    return Exit.OK


def rules_from(preset: str, changes: tuple[str, ...]) -> Rules:
    """The rules of a preset with ``field=value`` changes. Raises `BadRules`."""
    return Rules.from_dict({"preset": preset, **dict(map(parse_setting, changes))})


def rules_as_json(rules: Rules) -> dict[str, Any]:
    """The object that ``--json`` prints; its `rules` is what positions and records take."""
    rows = {row.field: _row_as_json(row) for row in rules.describe()}
    return {"preset": rules.preset, "rules": rules.to_dict(), "fields": rows}


def _row_as_json(row: SettingRow) -> dict[str, Any]:
    return {
        "value": row.value,
        "federation": row.federation,
        "differs": row.differs,
        "allowed": allowed_text(row.field),
        "source": SPECS[row.field]["source"],
        "meaning": row.help,
    }


_WRAPPED = ("meaning, and what is allowed",)


def _print_rules(rules: Rules) -> None:
    rows = rules.describe()
    differing = any(row.differs for row in rows)
    federations = ("federation",) if differing else ()
    table = new_table(("field", "value", *federations, *_WRAPPED), wrap=_WRAPPED)
    for row in rows:
        value = f"{_text(row.value)} {DIFFERS}" if row.differs else _text(row.value)
        federation = (_text(row.federation) if row.differs else "",) if differing else ()
        table.add_row(row.field, value, *federation, f"{row.help} [{allowed_text(row.field)}]")
    differ = f"{DIFFERS} differs from the federation's" if differing else "the federation's"
    print(f"{rules.preset}, {rules.num_players} players ({differ})\n")
    print_table(table)


def _print_presets(as_json: bool) -> None:
    if as_json:
        print_json({"presets": PRESETS})
        return
    federation = Rules()
    table = new_table(("field", *PRESETS))
    for name in FIELDS:
        values = [settings.get(name, getattr(federation, name)) for settings in PRESETS.values()]
        if any(value != values[0] for value in values):
            marks = ["" if value == values[0] else f" {DIFFERS}" for value in values]
            table.add_row(name, *(_text(value) + mark for value, mark in zip(values, marks, strict=True)))
    print(f"the presets ({DIFFERS} differs from fisca, the federation's); all other fields are as in fisca\n")
    print_table(table)


def _text(value: Value) -> str:
    """A value as `parse_setting` reads it back."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def allowed_text(name: str) -> str:
    """What a field takes, as short as a table wants it: ``2..6``, ``sum | worst``, ``1.. | none``."""
    spec = SPECS[name]
    if "range" in spec:
        low, high = spec["range"]
        allowed = f"{low}.." if high == MAX_NUMBER else f"{low}..{high}"
    else:
        allowed = " | ".join(_text(choice) for choice in spec["choices"])
    return f"{allowed} | none" if spec["none"] else allowed
