"""Kernels read no memory that was given back: where freed memory is overwritten at once, games go the same way."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scala40_env import Rules
from tests.walks import walk

ROOT = Path(__file__).parents[2]
RULES = [
    Rules.megajogos(num_players=2),
    Rules.casa(num_players=3, buying=True, opening_points=12, hand_size=10),
]
#: glibc: keep no freed blocks aside, and fill what is freed with a pattern. Elsewhere it means nothing.
OVERWRITING = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0", "MALLOC_PERTURB_": "85"}


def digest() -> str:
    """All legal moves of some random play that takes from the pozzo and buys."""
    seen = hashlib.sha256()
    for rules in RULES:
        for _, actions in walk(rules, 6, 1500, 0.9):
            seen.update(repr(actions).encode())
    return seen.hexdigest()


@pytest.mark.jit
def test_games_go_the_same_way_where_freed_memory_is_overwritten() -> None:
    code = "from tests.kernels.test_memory import digest; print(digest())"
    environment = {**os.environ, **OVERWRITING}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == digest()
