"""What a run needs of the machine: its libraries, threads, memory and device, and Ctrl-C."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from experiments.console import BadUsage
from scala40_env.cores import cores_there

if TYPE_CHECKING:
    from experiments.training.settings import TrainSettings

__all__ = ["check_libraries", "prepare_torch", "scaled", "stopping"]

#: How many times as much is played and learnt from at once where a GPU learns.
GPU_GAMES, GPU_BATCH = 8, 4
#: What `mallopt` calls them, and values that keep memory once it was asked for.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_NEVER_TRIMMED, _NEVER_MAPPED = (1 << 31) - 1, 1 << 30


def check_libraries(*names: str) -> None:
    """Raise `BadUsage` if one of these libraries of the extra ``train`` can't be imported."""
    for name in names:
        try:
            import_module(name)
        except ImportError as error:
            raise BadUsage(f"this needs {name} ({error}): pip install 'scala40-env[train]'") from error


def prepare_torch(threads: int) -> None:
    """Set the threads (0: one for each core), and let freed memory be kept instead of asking the system again."""
    import torch

    torch.set_num_threads(threads or len(cores_there()))
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except OSError:  # another C library, which has other ways
        return
    mallopt(_MMAP_THRESHOLD, _NEVER_MAPPED)
    mallopt(_TRIM_THRESHOLD, _NEVER_TRIMMED)


def scaled(settings: TrainSettings) -> TrainSettings:
    """The settings for the device: a GPU plays and learns from more at once. Raises `BadUsage` if it is not there."""
    import torch

    there = torch.cuda.is_available()
    if settings.device == "cuda" and not there:
        raise BadUsage("device = 'cuda': PyTorch finds no such GPU here; allowed are auto and cpu")
    if settings.device == "cpu" or not there:
        return settings
    return replace(
        settings,
        games=settings.games * GPU_GAMES,
        rollout=settings.rollout * GPU_GAMES,
        batch_size=settings.batch_size * GPU_BATCH,
    )


@contextmanager
def stopping() -> Iterator[list[bool]]:
    """A list that gets an item when Ctrl-C is pressed; pressed twice, it ends everything at once."""
    asked: list[bool] = []

    def note(number: int, frame: Any) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(True)
        print("\nstopping after this step; Ctrl-C once more stops at once", file=sys.stderr)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
