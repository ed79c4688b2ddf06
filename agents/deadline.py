"""A limit of time for code that may never come back."""

from __future__ import annotations

import signal
import threading
from typing import Any

__all__ = ["Deadline", "TookTooLong"]


class TookTooLong(BaseException):
    """Raised in code that is still running at its deadline; no `Exception`, so that it does not catch it by chance."""


class Deadline:
    """Raise `TookTooLong` inside of the block when its time is over.

    It needs the timer signal of Unix and the main thread, and comes through when Python code runs; elsewhere, or inside
    a long call of compiled code, the block goes on to its end.

    Args:
        seconds: after which it raises; None never does.
    """

    def __init__(self, seconds: float | None) -> None:
        possible = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        self._seconds = seconds if possible else None
        self._before: Any = None

    def __enter__(self) -> None:
        if self._seconds is not None:
            self._before = signal.signal(signal.SIGALRM, self._ring)
            signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *_: object) -> None:
        if self._seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)

    @staticmethod
    def _ring(*_: object) -> None:
        raise TookTooLong
