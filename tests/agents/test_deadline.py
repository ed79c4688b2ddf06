"""Deadlines: code that is too slow is stopped, and whoever had the signal before has it again."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest

import agents
from agents import Agent, AgentError
from agents.arena import Arena
from agents.deadline import Deadline, TookTooLong
from scala40_env import Rules, View
from tests.agents.tables import chance


def test_what_is_too_slow_is_stopped() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        with pytest.raises(TookTooLong), Deadline(0.01):
            time.sleep(3600)
        signal.raise_signal(signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert rung == [1]


def test_what_is_in_time_is_left_alone() -> None:
    for seconds in (None, 3600.0):
        with Deadline(seconds):
            pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


class Slow(Agent):
    """Sleeps before every move."""

    name = "slow"

    def act(self, view: View, rng: np.random.Generator) -> int:
        time.sleep(0.02)
        return view.legal_actions()[0]


def test_without_the_signal_it_is_told_afterwards() -> None:
    """Outside the main thread no signal comes."""
    rules, said = Rules.fisca(num_players=2), []

    def play_there() -> None:
        arena = Arena(rules, [Slow(), agents.make("random")], max_ms_per_move=1)
        try:
            list(arena.play(np.array([[0, 1]]), *chance(1, 2), 1))
        except AgentError as error:
            said.append(str(error))

    thread = threading.Thread(target=play_there)
    thread.start()
    thread.join()
    assert len(said) == 1 and "ms for a move; allowed are 1" in said[0]
