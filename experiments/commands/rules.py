"""``scala40 rules``: the fields of the rules with their values, and the presets side by side."""

from __future__ import annotations

from collections.abc import Iterator
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
    markdown: bool = False
    """Print the page docs/rules-options.md."""


def run(settings: RulesSettings) -> int:
    """Print the rules. Raises `BadRules` for an unknown preset, field or value, `BadUsage` for flags that clash."""
    if settings.markdown and settings != RulesSettings(markdown=True):
        raise BadUsage("--markdown stands alone")
    rules = rules_from(settings.preset, settings.set)
    if settings.markdown:
        print(as_markdown(), end="")
    elif settings.list:
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
    table = new_table(("field", *PRESETS))
    for name, values in _differing():
        marks = ["" if value == values[0] else f" {DIFFERS}" for value in values]
        table.add_row(name, *(_text(value) + mark for value, mark in zip(values, marks, strict=True)))
    print(f"the presets ({DIFFERS} differs from fisca, the federation's); all other fields are as in fisca\n")
    print_table(table)


def _differing() -> Iterator[tuple[str, list[Value]]]:
    """The fields in which any preset differs from the federation's rules, with the values of all presets."""
    federation = Rules()
    for name in FIELDS:
        values = [settings.get(name, getattr(federation, name)) for settings in PRESETS.values()]
        if any(value != values[0] for value in values):
            yield name, values


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


# ---------------------------------------------------------------------------------------------------------------------
# The page of the documentation


def as_markdown() -> str:
    """The page of the documentation: the presets side by side, then every option."""
    presets = [f"| `{name}` | {' | '.join(map(_marked, values, _bold(values)))} |" for name, values in _differing()]
    options = [_option_row(row) for row in Rules().describe()]
    head = f"| | {' | '.join(f'`{name}`' for name in PRESETS)} |\n|---{'|---' * len(PRESETS)}|"
    return _MARKDOWN.format(head=head, presets="\n".join(presets), options="\n".join(options))


def _bold(values: list[Value]) -> list[bool]:
    """Which values are not the federation's, that is, the first."""
    return [value != values[0] for value in values]


def _marked(value: Value, bold: bool) -> str:
    return f"**{_text(value)}**" if bold else _text(value)


def _option_row(row: SettingRow) -> str:
    allowed = allowed_text(row.field).replace(" | ", ", ")
    return f"| `{row.field}` | {_text(row.value)} | {allowed} | {row.help} |"


_MARKDOWN = """\
# Options and presets

What tables disagree on is a field of `Rules`. This page is what `scala40 rules --markdown` prints, so it says what the
code does; [rules.md](rules.md) teaches the game, and [rules-decisions.md](rules-decisions.md) tells why some things are
as they are.

## Presets

Five rule sets have names. These are the fields in which any of them differs from the federation's rules (`fisca`); what
differs is bold, and all other fields are as below in each of them. `megajogos` is for 2 to 5 players.

{head}
{presets}

`Rules.casa(num_players=3, limit=201)` starts from a preset and changes fields, and so does
`scala40 rules casa --set num_players=3 limit=201`.

## Options

| field | federation | allowed | meaning |
|---|---|---|---|
{options}
"""
