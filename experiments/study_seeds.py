"""A study: how far trainings lie apart that differ in their seed alone.

``python -m experiments.study_seeds`` trains a network with each seed, from nothing, and measures all of them on the
same fresh deals; it writes ``seeds.json`` and ``seeds.md`` into ``experiments/results``. Interrupted, it goes on with
the same command where it was: every training has a folder of its own.
"""

from __future__ import annotations

import dataclasses
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

import agents
from agents.ppo.agent import PPOAgent
from agents.ppo.checkpoint import Checkpoint
from experiments import train_ppo
from experiments.console import BadUsage, Exit, complain
from experiments.training.evaluation import measure
from experiments.training.run_folder import LAST, made_by
from experiments.training.settings import FOLDER, TrainSettings, read_settings
from scala40_env.rules.errors import Scala40Error

RESULTS = Path(__file__).parent / "results"
#: The deals that all are measured on; no training evaluates itself on them.
_DEALS_SEED = 1_000_003


@dataclass(frozen=True)
class SeedsSettings:
    """Train with several seeds, and measure how far the networks lie apart."""

    seeds: tuple[int, ...] = (0, 1, 2)
    """Of the trainings."""
    settings: Path = FOLDER / "seeds.yaml"
    """What they have in common, as `scala40 train` reads it."""
    seats: int = 2
    """Seats at a table."""
    against: tuple[str, ...] = ("greedy", "expert")
    """Whom all are measured against."""
    deals: int = 5000
    """Deals of that, each from all seats."""
    threads: int = 1
    """Threads of PyTorch."""
    work: Path = Path("runs/seeds")
    """Folder of the trainings."""
    out: Path = RESULTS
    """Folder of the results."""


class Interrupted(Exception):
    """A training was interrupted, or did not come to its end for another reason; the exit code goes with it."""


def study(settings: SeedsSettings) -> dict[str, Any]:
    """Train what is not trained yet, and measure. Raises `Interrupted`, `BadUsage`, `AgentError`."""
    if len(set(settings.seeds)) < 2 or settings.deals < 2:
        given = f"--seeds {' '.join(map(str, settings.seeds))} --deals {settings.deals}"
        raise BadUsage(f"{given}: allowed are 2 different seeds and more, 2 deals and more")
    base = dataclasses.replace(read_settings(settings.settings), seats=settings.seats, threads=settings.threads)
    command = shlex.join(["python", "-m", "experiments.study_seeds", *sys.argv[1:]])
    rows = [row for seed in settings.seeds for row in _rows(settings, base, seed, command)]
    return {
        "command": command,
        "settings": {key: str(value) if isinstance(value, Path) else value for key, value in vars(base).items()},
        "seats": settings.seats,
        "deals": settings.deals,
        **made_by(),
        "rows": rows,
        "spread": [_spread(name, [row for row in rows if row["against"] == name]) for name in settings.against],
    }


def _rows(settings: SeedsSettings, base: TrainSettings, seed: int, command: str) -> list[dict[str, Any]]:
    """Train with a seed, or take what was trained, and measure it."""
    folder = settings.work / f"{settings.seats}-{seed}"
    code = train_ppo.run(dataclasses.replace(base, seed=seed, out=folder, resume=True), command)
    if code != Exit.OK:
        raise Interrupted(code)
    checkpoint = Checkpoint.load(folder / LAST)  # and not the best: that was chosen by its luck too
    player = PPOAgent(checkpoint, f"seed {seed}")
    found = [measure(player, agents.make(name), base.rules(), settings.deals, _DEALS_SEED) for name in settings.against]
    return [{"seed": seed, "decisions": checkpoint.notes.get("decisions"), **each.as_json()} for each in found]


def _spread(against: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation of the seeds against one agent."""
    shares, margins = (np.array([row[what] for row in rows]) for what in ("win_share", "margin"))
    return {
        "against": against,
        "win_share": float(shares.mean()),
        "win_share_deviation": float(shares.std(ddof=1)),
        "margin": float(margins.mean()),
        "margin_deviation": float(margins.std(ddof=1)),
    }


def as_markdown(found: dict[str, Any]) -> str:
    """The results as a table."""
    machine, trained = found["machine"], found["settings"]
    lines = [
        "# Trainings that differ in their seed alone",
        "",
        f"`{found['command']}` on {machine['cpu']} ({machine['cores']} cores), "
        + ", ".join(f"{name} {version}" for name, version in found["versions"].items())
        + f". {found['seats']} seats, `{trained['preset']}`, networks of size `{trained['size']}` that know nothing at "
        f"first: {trained['clone_decisions']:,} decisions of `{trained['teacher']}` cloned, then "
        f"{trained['decisions']:,} of PPO. Measured on the same {found['deals']:,} fresh deals from all seats; 95% "
        "intervals by bootstrap over deals. *all*: mean and standard deviation of the seeds.",
        "",
        "| seed | against | won | ahead by points |",
        "|---|---|---|---|",
    ]
    for row in found["rows"]:
        share, margin = row["win_share_ci"], row["margin_ci"]
        lines.append(
            f"| {row['seed']} | {row['against']} | {row['win_share']:.1%} ({share[0]:.1%} to {share[1]:.1%}) "
            f"| {row['margin']:+.2f} ({margin[0]:+.2f} to {margin[1]:+.2f}) |"
        )
    for row in found["spread"]:
        lines.append(
            f"| all | {row['against']} | {row['win_share']:.1%} ± {row['win_share_deviation']:.1%} "
            f"| {row['margin']:+.2f} ± {row['margin_deviation']:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the study and write its results; returns the exit code."""
    settings = tyro.cli(SeedsSettings, description=__doc__)
    try:
        found = study(settings)
    except Interrupted as error:
        return int(error.args[0])
    except (agents.AgentError, Scala40Error) as error:
        return complain("study_seeds", error, Exit.BAD_INPUT)
    settings.out.mkdir(parents=True, exist_ok=True)
    (settings.out / "seeds.json").write_text(json.dumps(found, indent=1) + "\n")
    (settings.out / "seeds.md").write_text(as_markdown(found))
    print(as_markdown(found))
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
