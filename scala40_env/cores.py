"""The cores of the machine that this process may use."""

from __future__ import annotations

import os

__all__ = ["cores_there"]


def cores_there() -> list[int]:
    """The numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))
