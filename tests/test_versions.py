"""The oldest versions that are tested are the oldest that the package says it takes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def pins(name: str) -> dict[str, str]:
    """The versions that a file of constraints sets."""
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / name).read_text(), re.MULTILINE))


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    bounds = dict(re.findall(r"(\w+)>=([\d.]+)", " ".join(wanted)))
    tested = pins("constraints-oldest.txt")
    assert len(bounds) == len(wanted)
    for name, bound in bounds.items():
        assert f"{tested[name]}.0".startswith(f"{bound}."), f"{name}>={bound}, but tested with {tested[name]}"


def test_the_tools_of_the_tests_are_the_same() -> None:
    usual, oldest = pins("constraints.txt"), pins("constraints-oldest.txt")
    for name in ("pytest", "pytest-xdist", "hypothesis"):
        assert usual[name] == oldest[name]


def test_nothing_above_what_ray_pins_is_required() -> None:
    """RLlib pins Gymnasium 1.2.2."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    (bounds,) = [each for each in wanted if each.startswith("gymnasium")]
    (found,) = re.findall(r"gymnasium>=(\d+)\.(\d+),<(\d+)$", bounds)
    major, minor, limit = map(int, found)
    assert (major, minor) <= (1, 2) and limit > 1
    assert pins("constraints.txt")["gymnasium"] == "1.2.2"
