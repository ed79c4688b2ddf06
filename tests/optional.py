"""What not every machine has: libraries of the extras, and a browser.

Tests that need one of these skip where it is missing. Where `SCALA40_NO_SKIPS` is set, as in `.ci/run`, they fail; only
those that have an environment of their own skip there too.
"""

from __future__ import annotations

import os
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import pytest

NO_SKIPS = "SCALA40_NO_SKIPS"


def library(name: str) -> Any:
    """A library that is installed with the extra `dev`."""
    try:
        return import_module(name)
    except ImportError as error:
        _missing(f"{name} can't be imported ({error})")


def only_in(folder: str) -> None:
    """Skip, in CI too, unless the tests run in the environment of this name: the Makefile makes it for them alone."""
    if Path(sys.prefix).name != folder:
        pytest.skip(f"runs in {folder} only: make {folder.strip('.')}")


def program(name: str) -> str:
    """The path of a program."""
    found = shutil.which(name)
    return found or _missing(f"there is no {name} on the path")


def _missing(why: str) -> NoReturn:
    if os.environ.get(NO_SKIPS):
        pytest.fail(f"{why}, and {NO_SKIPS} is set", pytrace=False)
    pytest.skip(why, allow_module_level=True)
