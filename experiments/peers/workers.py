"""Processes that play, one for each library: the parent's side of `experiments.peers.worker`."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

from experiments.measuring import own_process
from experiments.peers.cases import PLAYERS, WITH_US

SCRIPT = Path(__file__).parent / "worker.py"
PATIENCE = 300.0
"""Seconds to wait for an answer beyond those that it has to take: a first call may compile."""
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
_OURS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")


class WorkerFailed(Exception):
    """A worker said that it failed, died, or did not answer in time."""


def interpreter_of(library: str, peers: Path) -> Path | None:
    """The Python of a library's own environment below a folder, None if there is none."""
    for place in ("bin/python", "Scripts/python.exe"):
        if (peers / library / place).exists():
            return peers / library / place
    return None


def command_of(library: str, peers: Path) -> tuple[list[str], dict[str, str]] | None:
    """How to start Python with a library, and its environment variables; None if the library is not installed."""
    if library in WITH_US:
        return own_process(**_ONE_THREAD)
    found = interpreter_of(library, peers)
    if found is None:
        return None
    return [str(found.absolute())], {name: text for name, text in os.environ.items() if name not in _OURS} | _ONE_THREAD


class Worker:
    """A process that plays the games of one library for as long as it is asked to.

    Args:
        library: the name of a file of `players`.
        command: Python and its environment variables, as `command_of` gives them.
        settings: of `experiments.peers.worker`.

    Raises `WorkerFailed`.
    """

    def __init__(self, library: str, command: tuple[list[str], dict[str, str]], settings: Mapping[str, Any]) -> None:
        self.library = library
        python, variables = command
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115  # as long as the process
        self._process = subprocess.Popen(
            # -P: files beside the script shall not hide libraries of the same name
            [*python, "-P", str(SCRIPT), str(PLAYERS / f"{library}.py"), json.dumps(settings)],
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            start_new_session=True,  # Ctrl-C is for the parent, which ends its workers itself
        )
        self._answers: queue.Queue[str] = queue.Queue()
        assert self._process.stdout is not None
        threading.Thread(target=_read, args=(self._process.stdout, self._answers), daemon=True).start()
        try:
            self.versions: dict[str, str] = self._answer(PATIENCE)["versions"]
        except BaseException:
            self.close()
            raise

    def rate(self, case: str, seconds: float) -> float:
        """Decisions a second of one run. Raises `WorkerFailed`."""
        assert self._process.stdin is not None
        with suppress(OSError):  # it has died: the answer says so
            self._process.stdin.write(json.dumps({"case": case, "seconds": seconds}) + "\n")
            self._process.stdin.flush()
        # a run of so many seconds of the core may take longer on a busy machine
        answer = self._answer(10 * seconds + PATIENCE)
        return float(answer["decisions"] / answer["seconds"])

    def _answer(self, patience: float) -> dict[str, Any]:
        try:
            line = self._answers.get(timeout=patience)
        except queue.Empty:
            raise WorkerFailed(f"{self.library}: no answer in {patience:.0f} seconds") from None
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            raise WorkerFailed(f"{self.library}: its process died{self._last_words()}") from None
        if "error" in answer:
            raise WorkerFailed(f"{self.library}: {answer['error']}")
        return answer

    def _last_words(self) -> str:
        """How it ended: the exit code, and the last line that it wrote to stderr."""
        code = self._process.wait(PATIENCE)
        self._log.seek(0)
        lines = self._log.read().strip().splitlines()
        return f" with exit code {code}" + (f": {lines[-1]}" if lines else "")

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            with suppress(OSError):
                cast(IO[str], pipe).close()


def _read(pipe: IO[str], answers: queue.Queue[str]) -> None:
    """Hand on every line, and an empty one at the end."""
    try:
        for line in pipe:
            answers.put(line)
    except ValueError:  # closed while it was read
        pass
    answers.put("")
