"""The folder of a run: what it was made by, its curves, its evaluations, its checkpoints, and all to go on with.

``config.json``, ``evaluations.json``, ``best.npz``, ``last.npz``, ``state.pt``, the events of TensorBoard, and the
networks of all evaluations (``at-DECISIONS.npz``) if they are wanted. Every file is whole at any moment.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from agents.ppo.checkpoint import Checkpoint
from experiments.console import BadUsage
from experiments.league.results import provenance

__all__ = ["RunFolder", "made_by"]

CONFIG, EVALUATIONS, STATE, BEST, LAST = "config.json", "evaluations.json", "state.pt", "best.npz", "last.npz"
#: Parts of the configuration that have to be the same for a run to go on.
_SAME = ("settings", "rules")


def made_by() -> dict[str, Any]:
    """Versions, machine and the revision of the sources."""
    found = provenance()
    found["versions"] = found["versions"] | {"torch": torch.__version__}
    return found | {"revision": _revision()}


def _revision() -> str | None:
    """The commit of the sources, with a plus sign if they were changed since; None where they are not in git."""
    here = Path(__file__).parent
    try:
        _git(here, "ls-files", "--error-unmatch", Path(__file__).name)  # installed, they may lie in another project
        commit = _git(here, "rev-parse", "HEAD")
        return commit + "+" * bool(_git(here, "status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def _config_of(path: Path) -> dict[str, Any]:
    """What a run was made with. Raises `BadUsage` for a file that does not say it."""
    try:
        found: dict[str, Any] = json.loads(path.read_text())
        if all(isinstance(found[part], dict) for part in _SAME):
            return found
    except (ValueError, KeyError, TypeError):
        pass
    raise BadUsage(f"{path} is broken; begin anew with another --out")


class RunFolder:
    """The folder.

    Args:
        path: where it is.
        config: settings and rules, as JSON takes them: they have to be the same for a run to go on.
        resume: go on with what is there. Raises `BadUsage` if there is a run already and this is false, or if it was
            made with other settings.
        keep_all: keep every checkpoint that is saved.
    """

    def __init__(self, path: Path, config: Mapping[str, Any], resume: bool, keep_all: bool = False) -> None:
        self.path, self._keep_all = path, keep_all
        if path.exists() and not path.is_dir():
            raise BadUsage(f"{path} is a file; --out names a folder")
        known = path / CONFIG
        if known.exists() and not resume:
            raise BadUsage(f"{path} holds a run already; go on with --resume, or name another folder with --out")
        path.mkdir(parents=True, exist_ok=True)
        if known.exists():
            self._check_same(known, json.loads(json.dumps(config)))
        else:
            self._write(CONFIG, json.dumps({**config, **made_by()}, indent=2))

    def _check_same(self, known: Path, config: Mapping[str, Any]) -> None:
        there = _config_of(known)
        for part in _SAME:
            for key in dict.fromkeys([*there[part], *config[part]]):
                before, now = there[part].get(key), config[part].get(key)
                if before != now:
                    raise BadUsage(f"{self.path} can't go on: its {key} is {before!r}, now it is {now!r}")

    def state(self) -> dict[str, Any] | None:
        """What was saved to go on with, None if nothing was. Raises `BadUsage` for a file that can't be read."""
        path = self.path / STATE
        if not path.exists():
            return None
        try:
            found: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
            raise BadUsage(f"{path} is broken; begin anew with another --out") from error
        return found

    def save(self, state: Mapping[str, Any], evaluations: Sequence[Mapping[str, Any]]) -> None:
        """Save all that going on needs."""
        draft = self.path / f"{STATE}.tmp"
        with draft.open("wb") as file:
            torch.save(dict(state), file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path / STATE)
        self._write(EVALUATIONS, json.dumps(list(evaluations), indent=1))

    def save_checkpoint(self, checkpoint: Checkpoint, best: bool, place: int) -> None:
        """Save a network to play with, as the last one and maybe as the best, or by its place among all."""
        checkpoint.save(self.path / LAST)
        if self._keep_all:
            checkpoint.save(self.path / f"at-{place:010}.npz")
        if best:
            checkpoint.save(self.path / BEST)

    def _write(self, name: str, text: str) -> None:
        draft = self.path / f"{name}.tmp"
        draft.write_text(text + "\n")
        draft.replace(self.path / name)
