"""Times that the tests do not assert, since machines differ: ``python -m tests.timings``.

How long a replay of thirty hands takes to open in Chromium, and the reset of a vector of 1,024 games.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from scala40_env import Rules
from scala40_env.render import replay_html
from scala40_env.vector import Scala40VectorEnv, SelfPlayVectorEnv
from tests.render.browser import SIZES, launched, opened
from tests.render.tables import long_match

RUNS = 7


def main() -> None:
    """Print them all."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "match.html"
        size = replay_html(long_match(), page)
        print(f"a replay of 30 hands has {size:,} bytes")
        with launched() as browser:
            for name in SIZES:
                print(f"it opens in {of_runs([load_ms(browser, page, name) for _ in range(RUNS)])} ({name})")
    rules = Rules.fisca(num_players=2)
    for env in (SelfPlayVectorEnv(1024, rules), Scala40VectorEnv(1024, rules, "greedy")):
        env.reset(seed=0)
        print(f"reset of 1,024 games takes {of_runs([reset_ms(env) for _ in range(RUNS)])} ({type(env).__name__})")


def of_runs(times: list[float]) -> str:
    """Median and range in milliseconds."""
    return f"{statistics.median(times):.1f} ms, {min(times):.1f} to {max(times):.1f}"


def load_ms(browser: Any, page: Path, size: str) -> float:
    """From the start of the navigation to the end of the load event, after which it is drawn."""
    with opened(browser, page, size) as (shown, _):
        return float(shown.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))


def reset_ms(env: Any) -> float:
    """One reset."""
    start = time.perf_counter()
    env.reset()
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    sys.exit(main())
