"""The other end of `experiments.peers.workers`: a program that makes decisions in one library's games, and is timed.

It runs in the environment of that library, so it needs nothing but NumPy, and nothing of this project::

    python worker.py PLAYERS.py '{"core": 1, "num_players": 2, "num_envs": 256}'

A file of players has `LIBRARIES` (distributions whose versions are told) and `CASES`: by name a function that takes the
`Loops` and the settings, makes a game, and returns ``play(decisions)``, which makes about as many decisions (whole
games or whole batches if need be) and returns how many. The worker says on stdout in one line of JSON what it has, and
then answers each line ``{"case": NAME, "seconds": S}`` with one: how many decisions were made in how many seconds of
the core. Whatever a library prints goes to stderr.
"""

from __future__ import annotations

import json
import os
import random
import runpy
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import cycle
from typing import IO, Any

Play = Callable[[int], int]

NUMBERS = 65_537
"""Random numbers that are drawn ahead, so that their drawing costs nobody anything."""


class Loops:
    """How a random player plays: the same loops, and the same choice, for every library with such an interface."""

    def __init__(self) -> None:
        drawn = random.Random(40)
        self._next = cycle([drawn.random() for _ in range(NUMBERS)]).__next__

    def choose(self, legal: Sequence[Any]) -> Any:
        """One of the legal actions, each as likely."""
        return legal[int(self._next() * len(legal))]

    def choose_masked(self, mask: Any) -> Any:
        """The number of one of the ones in a mask (int8[actions]), each as likely."""
        legal = mask.view("?").nonzero()[0]  # as truth values they are found three times as fast
        return legal[int(self._next() * len(legal))]

    def aec(self, env: Any) -> Play:
        """The loop that PettingZoo's documentation shows, for an `AECEnv`."""
        env.reset()

        def play(decisions: int) -> int:
            made = 0
            while made < decisions:
                if not env.agents:
                    env.reset()
                for _ in env.agent_iter(decisions - made):
                    seen, _, terminated, truncated, _ = env.last()
                    if terminated or truncated:
                        env.step(None)
                    else:
                        env.step(self.choose_masked(seen["action_mask"]))
                        made += 1
            return made

        return play

    def gymnasium(self, env: Any) -> Play:
        """The loop that Gymnasium's documentation shows; the mask is in the info."""
        info = env.reset()[1]

        def play(decisions: int) -> int:
            nonlocal info
            for _ in range(decisions):
                _, _, terminated, truncated, info = env.step(self.choose_masked(info["action_mask"]))
                if terminated or truncated:
                    info = env.reset()[1]
            return decisions

        return play


def timed(play: Play, seconds: float, clock: Callable[[], float] = time.process_time) -> tuple[int, float]:
    """Play for so long: how many decisions were made, and the seconds that they took.

    Seconds of the core, not of the clock on the wall: what else the machine does is no business of the library.
    """
    made, part, began = 0, 1, clock()
    while True:
        made += play(part)
        took = clock() - began
        if took >= seconds:
            return made, took
        # The clock is looked at ever more rarely, but for the last part, which shall not be too long.
        part = max(1, min(2 * part, int(made / took * (seconds - took)))) if took else 2 * part


class Worker:
    """The cases of one file of players, each made when it is first asked for."""

    def __init__(self, path: str, settings: dict[str, Any]) -> None:
        self.settings = settings
        players = runpy.run_path(path)
        self.makers: dict[str, Callable[[Loops, dict[str, Any]], Play]] = players["CASES"]
        self.versions = {name: version(name) for name in players["LIBRARIES"]}
        self._playing: dict[str, Play] = {}

    def answer(self, case: str, seconds: float) -> dict[str, Any]:
        """Time one case."""
        if case not in self._playing:
            self._playing[case] = self.makers[case](Loops(), self.settings)
        made, took = timed(self._playing[case], seconds)
        return {"decisions": made, "seconds": took}


def serve(requests: IO[str], answers: IO[str], path: str, settings: dict[str, Any]) -> None:
    """Say what there is, then answer every request until there are no more."""

    def say(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    try:
        worker = Worker(path, settings)
        say({"cases": list(worker.makers), "versions": worker.versions})
        for line in requests:
            say(worker.answer(**json.loads(line)))
    except Exception as error:
        traceback.print_exc()
        say({"error": f"{type(error).__name__}: {error}"})


def main(path: str, settings: str) -> None:
    """Run as a program; keep stdout for the answers."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    given = json.loads(settings)
    if given.get("core") is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {given["core"]})
    serve(sys.stdin, answers, path, given)


if __name__ == "__main__":
    main(*sys.argv[1:])
