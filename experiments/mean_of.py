"""Take the mean of networks: ``python -m experiments.mean_of runs/a/best.npz runs/b/best.npz --out mean.npz``.

Networks that came of one another lie near enough for the means of their weights to play well, often better than any of
them: what each has learnt beside the others adds up, and noise cancels out (Wortsman et al. 2022, "Model soups").
Networks that began from different weights have nothing in common that a mean would keep.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import tyro

from experiments.console import BadUsage, Exit, complain
from scala40_env.rules.errors import Scala40Error

if TYPE_CHECKING:
    from agents.ppo.checkpoint import Checkpoint


@dataclass(frozen=True)
class MeanSettings:
    """Take the mean of the weights of networks that came of one another."""

    checkpoints: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="CHECKPOINT ...")]
    """Their files, two or more."""
    out: Path
    """The file that is written."""


def mean_of(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    """The mean of networks. Raises `CheckpointError` for different rules, `BadUsage` for different sizes."""
    first = checkpoints[0]
    for other in checkpoints[1:]:
        other.check_rules(first.rules)
        if other.size != first.size:
            raise BadUsage(f"a network of {other.size}: the first is of {first.size}, and all have to be alike")
    weights = {
        name: np.stack([one.weights[name] for one in checkpoints]).mean(axis=0, dtype=np.float64).astype(weight.dtype)
        for name, weight in first.weights.items()
    }
    return replace(first, weights=weights)


def part_of(checkpoint: Checkpoint) -> str:
    """What a mean was made of, in words: a network by the seed and the length of its run, or another mean."""
    notes = checkpoint.notes
    if "mean_of" in notes:
        return f"a mean of {notes['mean_of']}"
    seed, decisions = notes.get("settings", {}).get("seed", "unknown"), notes.get("decisions", 0)
    return f"seed {seed} after {decisions:,} decisions"


def run(settings: MeanSettings) -> int:
    """Load, take the mean, write; returns the exit code."""
    from agents.ppo.checkpoint import Checkpoint
    from experiments.training.run_folder import made_by

    if len(settings.checkpoints) < 2:
        raise BadUsage(f"{len(settings.checkpoints)} networks: allowed are 2 and more")
    checkpoints = [Checkpoint.load(path) for path in settings.checkpoints]
    learnt = checkpoints[-1].notes.get("settings", {})  # what its values are of
    parts = [part_of(checkpoint) for checkpoint in checkpoints]
    notes = {"mean_of": len(checkpoints), "parts": parts, "settings": learnt, **made_by()}
    replace(mean_of(checkpoints), notes=notes).save(settings.out)
    print(f"{settings.out} is written; measure it with: scala40 evaluate {settings.out}")
    return Exit.OK


def main() -> int:
    """Write the mean; returns the exit code."""
    from agents import AgentError

    settings = tyro.cli(MeanSettings, description=__doc__)
    try:
        return run(settings)
    except (AgentError, Scala40Error) as error:
        return complain("mean_of", error, Exit.BAD_INPUT)


if __name__ == "__main__":
    sys.exit(main())
