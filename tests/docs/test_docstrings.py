"""The examples in docstrings, which the reference of the public modules shows, run and give what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

pytestmark = pytest.mark.once


def modules_with_examples() -> list[str]:
    sources = [
        source for folder in ("scala40_env", "agents", "experiments") for source in (ROOT / folder).rglob("*.py")
    ]
    return sorted(name_of(source) for source in sources if ">>> " in source.read_text())


def name_of(source: Path) -> str:
    parts = source.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings(name: str) -> None:
    module = import_module(name)
    parts = [part for part in doctest.DocTestFinder().find(module, name) if part.examples]
    runner = doctest.DocTestRunner(verbose=False)
    failed = sum(runner.run(part).failed for part in parts)
    assert parts and not failed, name
