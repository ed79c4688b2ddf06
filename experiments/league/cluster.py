"""Blocks of deals played on a Ray cluster. Ray is an extra; every node needs this package and the agents' modules."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

from experiments.console import BadUsage
from experiments.league.blocks import Block, BlockPlayer, DealError, Job
from experiments.league.crew import MOST_TRIES, Span, outcome_of
from scala40_env.cores import THREADS

#: Blocks for each core of the cluster that are under way or wait for one before them.
_AHEAD = 3


def played_by_ray(job: Job, blocks: Sequence[Span], address: str) -> Iterator[Block]:
    """Play them on a cluster; give them in their order.

    Args:
        job: what is played.
        blocks: which deals.
        address: ``HOST:PORT`` of the cluster's head, ``auto`` for the one that runs on this machine, ``local`` for one
            of this machine alone that ends with the tournament.

    Raises `BadUsage` without Ray or without a cluster, `DealError` for an agent that fails or kills its process.
    """
    ray = _ray()
    _connect(ray, address)
    try:
        yield from _in_order(ray, job, blocks)
    finally:
        ray.shutdown()


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise BadUsage('--ray needs Ray: pip install "scala40-env[ray]"') from error
    return ray


def _connect(ray: Any, address: str) -> None:
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error", configure_logging=True)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise BadUsage(f"--ray {address}: there is no such cluster: {error}") from error


def _in_order(ray: Any, job: Job, blocks: Sequence[Span]) -> Iterator[Block]:
    play = ray.remote(num_cpus=1, max_retries=MOST_TRIES - 1)(_play)
    shared, waiting = ray.put(job), iter(blocks)
    ahead = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
    under_way: deque[tuple[Span, Any]] = deque()
    for span in waiting:
        under_way.append((span, play.remote(shared, span)))
        if len(under_way) == ahead:
            yield _answer(ray, job, *under_way.popleft())
    while under_way:
        yield _answer(ray, job, *under_way.popleft())


def _answer(ray: Any, job: Job, span: Span, reference: Any) -> Block:
    """The block that a task gives. Raises what it raised."""
    try:
        outcome = ray.get(reference)
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError) as error:
        reason = f"{MOST_TRIES} workers died one after the other while they played: {type(error).__name__}"
        raise DealError(f"{reason} ({', '.join(job.names)} play)", *span) from error
    if isinstance(outcome, Exception):
        raise outcome
    block: Block = outcome
    return block


def _play(job: Job, span: Span) -> Block | Exception:
    """What a task does."""
    os.environ.setdefault(THREADS, "1")  # a task has one core
    return outcome_of(partial(_player, job), span)


@lru_cache(maxsize=1)
def _player(job: Job) -> BlockPlayer:
    """The player of a worker, made once for all its tasks."""
    return job.player()
