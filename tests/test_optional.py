"""A test may skip for want of a library on a developer's machine, and never in CI."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.optional import NO_SKIPS, library, only_in, program


def test_what_is_there_is_given() -> None:
    assert library("sys") is sys
    assert program("sh").endswith("sh")


def test_what_has_an_environment_of_its_own_skips_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NO_SKIPS, "1")
    with pytest.raises(pytest.skip.Exception, match=r"\.rllib only: make rllib"):
        only_in(".rllib")
    monkeypatch.setattr(sys, "prefix", "/somewhere/.rllib")
    only_in(".rllib")


@pytest.mark.parametrize(("ask", "why"), [(library, "no_such can't be imported"), (program, "no no_such on the path")])
def test_what_is_missing_skips_or_fails(
    ask: Callable[[str], object], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(NO_SKIPS, raising=False)
    with pytest.raises(pytest.skip.Exception, match=why):
        ask("no_such")
    monkeypatch.setenv(NO_SKIPS, "1")
    with pytest.raises(pytest.fail.Exception, match=why):
        ask("no_such")
