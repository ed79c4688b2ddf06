"""``scala40 legal``: the legal moves of a position."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from experiments.console import Exit, print_json
from scala40_env.rules.errors import BadPosition, shown

STDIN = "-"


@dataclass(frozen=True)
class LegalSettings:
    """Print the legal moves of a position, one a line, sorted, in notation; nothing if the hand is over."""

    file: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="FILE")]
    """A position as JSON; - reads it from standard input."""
    json: bool = False
    """Print one object instead: {"legal": [...]}."""


def run(settings: LegalSettings) -> int:
    """Print the legal moves. Raises `BadPosition` or `BadRules` for what is no position, `OSError` for no file."""
    position = read_position(settings.file)

    from scala40_env import Game  # only now: kernels are not needed to refuse what is no JSON

    moves = Game.from_position(position).legal_moves()
    if settings.json:
        print_json({"legal": moves})
    else:
        sys.stdout.writelines(f"{move}\n" for move in moves)
    return Exit.OK


def read_position(file: str) -> Any:
    """What the JSON in a file, or on standard input, says. Raises `BadPosition`, or `OSError`."""
    data = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    name = "standard input" if file == STDIN else file
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_object)
    except BadPosition:
        raise
    except UnicodeDecodeError as error:
        raise BadPosition(f"{name}: this is no UTF-8 text: {error}") from None
    except (ValueError, RecursionError) as error:
        raise BadPosition(f"{name}: this is no JSON: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which no key occurs twice: whoever wrote such a one did not mean to lose half of it."""
    given = dict(pairs)
    if len(given) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise BadPosition(f"the key {shown(twice)} is there twice")
    return given
