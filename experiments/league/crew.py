"""Blocks of deals played by this process, or by several: the same blocks in the same order, whoever plays them.

A block is played anew if the worker that had it dies, so nothing is lost; a block that kills every worker is an error
that says which agent was thinking.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from ctypes import c_uint64
from functools import cache
from multiprocessing.connection import Connection, wait
from multiprocessing.sharedctypes import RawArray
from typing import Any

import numpy as np

from agents import AgentError
from experiments.league.blocks import Block, BlockPlayer, DealError, Job
from scala40_env.cores import THREADS

#: A block: number of the first deal, how many.
Span = tuple[int, int]

#: Workers that one block may kill.
MOST_TRIES = 3
#: Blocks for each worker that may wait for one before them: bounds the memory.
_AHEAD = 4


def spans(first: int, last: int, size: int) -> list[Span]:
    """The deals from ``first`` up to ``last`` (left out) in blocks of ``size``.

    >>> spans(3, 10, 4)
    [(3, 4), (7, 3)]
    """
    return [(deal, min(size, last - deal)) for deal in range(first, last, size)]


def played_here(player: BlockPlayer, blocks: Sequence[Span]) -> Iterator[Block]:
    """Play them in this process. Raises `DealError` for an agent that fails."""
    for span in blocks:
        yield player.play(*span)


def played_by_processes(job: Job, player: BlockPlayer, blocks: Sequence[Span], workers: int) -> Iterator[Block]:
    """Play them in processes of their own; give them in their order.

    Raises `DealError` for an agent that fails or that kills its process; that of the first such block, and what comes
    before it was given.
    """
    crew = _Crew(job, player, blocks, min(workers, len(blocks)))
    try:
        yield from crew.in_order()
    finally:
        crew.stop()


# ---------------------------------------------------------------------------------------------------------------------
# The workers


class _Worker:
    """A process that plays one block at a time, and the end of its pipe here."""

    def __init__(self, job: Job, threads: int) -> None:
        context = mp.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        shared: Any = RawArray(c_uint64, 2)
        self.asking = np.frombuffer(shared, np.uint64)
        self.block: int | None = None
        self.process = context.Process(target=_work, args=(theirs, job, threads, shared), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, block: int, span: Span) -> None:
        self.asking[:] = 0
        self.block = block
        with suppress(OSError):  # it died while it was idle, which its pipe will tell
            self.pipe.send(span)

    def stop(self) -> None:
        self.pipe.close()
        self.process.terminate()
        self.process.join()


def _work(pipe: Connection, job: Job, threads: int, shared: Any) -> None:
    """What a worker does: play the blocks that come through the pipe, until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started it ends it
    os.environ.setdefault(THREADS, str(threads))
    player = cache(lambda: _watched(job, shared))
    with suppress(EOFError, OSError):
        while True:
            pipe.send(outcome_of(player, pipe.recv()))


def _watched(job: Job, shared: Any) -> BlockPlayer:
    """The player of a job, which tells in shared memory who is thinking."""
    player = job.player()
    player.watch(np.frombuffer(shared, np.uint64))
    return player


def outcome_of(player: Callable[[], BlockPlayer], span: Span) -> Block | Exception:
    """The block, or why there is none, in a form that goes through a pipe."""
    try:
        return player().play(*span)
    except (DealError, AgentError) as error:
        return error
    except Exception:
        return RuntimeError(f"a worker failed at deals from {span[0]} on:\n{traceback.format_exc()}")


class _Crew:
    """Workers, the blocks that they play, and what came of those that are done."""

    def __init__(self, job: Job, player: BlockPlayer, blocks: Sequence[Span], workers: int) -> None:
        self.job = job
        self.player = player
        self.blocks = blocks
        self.threads = max(1, (os.cpu_count() or 1) // max(1, workers))
        self.waiting = list(range(len(blocks)))
        self.done: dict[int, Block | Exception] = {}
        self.lost = [0] * len(blocks)
        self.next = 0
        self.workers = [_Worker(job, self.threads) for _ in range(workers)]

    def in_order(self) -> Iterator[Block]:
        """The blocks as they are done, each after those before it."""
        while self.next < len(self.blocks):
            self._hand_out()
            self._collect()
            while self.next in self.done:
                outcome = self.done.pop(self.next)
                if isinstance(outcome, Exception):
                    raise outcome
                self.next += 1
                yield outcome

    def stop(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.stop()

    def _hand_out(self) -> None:
        """Give idle workers the first blocks that wait; after one that failed none is worth it."""
        failed = (at for at, outcome in self.done.items() if isinstance(outcome, Exception))
        end = min([self.next + _AHEAD * len(self.workers), *failed])
        for worker in self.workers:
            if worker.block is None and self.waiting and self.waiting[0] < end:
                block = self.waiting.pop(0)
                worker.give(block, self.blocks[block])

    def _collect(self) -> None:
        """Wait for workers to be done, or to die."""
        busy = [worker for worker in self.workers if worker.block is not None]
        ready = wait([worker.pipe for worker in busy])
        for worker in busy:
            if worker.pipe in ready:
                self._take_from(worker)

    def _take_from(self, worker: _Worker) -> None:
        block = worker.block
        assert block is not None
        try:
            self.done[block] = worker.pipe.recv()
        except (EOFError, OSError):
            self._replace(worker, block)
        worker.block = None

    def _replace(self, worker: _Worker, block: int) -> None:
        """A new worker for one that died; its block is played again, or given up."""
        worker.stop()
        self.lost[block] += 1
        if self.lost[block] < MOST_TRIES:
            self.waiting = sorted([*self.waiting, block])
        else:
            self.done[block] = self._given_up(worker, block)
        self.workers[self.workers.index(worker)] = _Worker(self.job, self.threads)

    def _given_up(self, worker: _Worker, block: int) -> DealError:
        first, count = self.blocks[block]
        code = worker.process.exitcode
        died = f"killed by signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        reason = f"{MOST_TRIES} workers died one after the other while they played, the last one {died}"
        row, seed = int(worker.asking[0]), int(worker.asking[1])
        if row:
            deal = first + self.player.seeds(first, count).index(seed)
            return DealError(f"agent {self.job.names[row - 1]!r} was thinking: {reason}", deal)
        return DealError(f"{reason}; no agent of Python was thinking ({', '.join(self.job.names)} play)", first, count)
