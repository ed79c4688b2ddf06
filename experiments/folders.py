"""Folders that one command at a time may write to."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from experiments.console import BadUsage

__all__ = ["alone_in"]


@contextmanager
def alone_in(folder: Path | None) -> Iterator[None]:
    """Hold a folder while the block runs, so that no second command of this machine writes to it; None holds nothing.

    The folder need not be there yet, and nothing is written into it: the lock is a file among the temporary ones, and
    is gone with its process, however that ends. Raises `BadUsage` if another command holds the folder.
    """
    if folder is None:
        yield
        return
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:32]
    lock = FileLock(Path(tempfile.gettempdir()) / f"scala40-{name}.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise BadUsage(f"another command writes to {folder}; wait for its end, or name another folder") from None
    try:
        yield
    finally:
        lock.release()
