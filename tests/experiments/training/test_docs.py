"""The page about training: its example runs, and its commands have the flags that they use."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import tyro

from experiments import cli
from tests.optional import library

PAGE = (Path(__file__).parents[3] / "docs" / "training.md").read_text()


def code(language: str) -> str:
    """All blocks of the page in a language; commands have none."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return "".join(block for of, block in blocks if of == language)


def commands() -> list[list[str]]:
    return [shlex.split(line, comments=True) for line in code("").splitlines()]


def test_the_commands_have_the_flags_that_they_use() -> None:
    library("torch")
    found = []
    for program, *words in commands():
        if program == "scala40":
            command, flags = cli._found(words)
            kind = getattr(import_module(command.module), command.settings)
            found.append(cli._settings(kind, command.name, cli._spread_settings(flags)))
        elif words[:2] == ["-m", "experiments.ppo_torch"]:
            found.append(tyro.cli(library("experiments.ppo_torch").PlainSettings, args=words[2:]))
    assert {type(each).__name__ for each in found} >= {"TrainSettings", "EvaluateSettings", "PlainSettings"}


@pytest.mark.once
@pytest.mark.jit
def test_the_example_runs() -> None:
    library("sb3_contrib")
    small = code("python").replace("VecEnv(256", "VecEnv(4").replace("2048", "16").replace("100_000", "128")
    names: dict[str, Any] = {}
    exec(compile(small, "training.md", "exec"), names)
    assert names["model"].num_timesteps == 128
