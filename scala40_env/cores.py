"""The cores of the machine that this process may use, and the threads that it should."""

from __future__ import annotations

import os

__all__ = ["THREADS", "cores_there", "threads_there"]

#: The variable that says how many threads an agent should use.
THREADS = "SCALA40_THREADS"


def cores_there() -> list[int]:
    """The numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def threads_there() -> int:
    """How many threads an agent should use: what `THREADS` says, or else one for each core. Raises `ValueError`."""
    given = os.environ.get(THREADS, "").strip()
    if not given:
        return len(cores_there())
    if not given.isdecimal() or int(given) < 1:
        raise ValueError(f"{THREADS}={given}: allowed is a number of threads, 1 and more")
    return int(given)
