"""Let a network come with the package: ``python -m experiments.ship runs/mine/best.npz --name fisca-2``.

The network goes to `agents/ppo/weights`, where `agents.make("ppo")` finds it by its rules, with a card beside it: how
it was made, how strong it is, and what it is not good for. The figures of the card are measured here.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from experiments.console import BadUsage, Exit, complain, progress_bar
from scala40_env.rules.errors import Scala40Error

if TYPE_CHECKING:
    from rich.progress import TaskID

    from agents.ppo.checkpoint import Checkpoint
    from experiments.training.evaluation import Strength

#: Settings that are files of whoever trained, and those that the card leaves out as they tell nothing of the learning.
_PLACES = ("start", "settings")
_NOT_TOLD = ("preset", "seats", "set", "device", "threads")
_CARD = """\
# ppo:{name}

A network for {rules}, every seat for itself: `agents.make("ppo")` plays it by these rules. {weights} weights
({shape}) in {size} MB, for inference, without the optimiser.

## Strength

`{command}`
measured {deals} deals, each from all {seats} seats, one seat against the agent on all others, the likeliest move
played. Points are those charged a hand; intervals are 95%, by bootstrap over deals.

{head}
{rows}

{style}

## How it was made

{stages}

## Limits

It has learnt from {rules} alone, and for other rules it is refused. It has
learnt from single hands: near the limit of a match it plays as anywhere else. It plays one move for one position, so
who plays against it for long can learn it by heart; `ppo:{name},sample` draws its moves.
"""
_COLUMNS = ("against", "hands", "won", "95%", "points", "theirs", "ahead by", "95%", "illegal moves")

#: What notes may say of a stage beside that.
_REMARKS = {"stopped": "Stopped", "made": "Made"}
#: What was learnt from the teacher.
_LEARNT = {
    "choices": "Cloned",
    "forecasts": "Learnt what each move was thought to be worth in",
    "outcomes": "Learnt how hands went on from each move in",
}


@dataclass(frozen=True)
class ShipSettings:
    """Measure a network, and put it into the package with a card."""

    checkpoint: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="CHECKPOINT")]
    """The network's file."""
    name: str
    """What it is called: agents.make("ppo:NAME") plays it, and "ppo" where it is the first for the rules at hand."""
    after: tuple[Path, ...] = ()
    """The checkpoints that its training began with, the first one first: the card tells how they were made too. A
    shipped one stands for all that led to it."""
    against: tuple[str, ...] = ("random", "greedy", "expert")
    """Agents that it is measured against."""
    deals: int = 5000
    """Deals, each played from all seats."""
    seed: int = 1
    """Decides the deals. Training evaluates on deals of another seed, and picks the best network by those."""
    folder: Path | None = None
    """Where it goes; into the package if left out."""


def run(settings: ShipSettings) -> int:
    """Measure, write, and say where it is; returns the exit code."""
    from agents.ppo.agent import WEIGHTS
    from agents.ppo.checkpoint import Checkpoint

    if not settings.name or not settings.name.replace("-", "").replace("_", "").isalnum():
        raise BadUsage(f"--name {settings.name}: allowed are letters, digits, - and _")
    if settings.deals < 2 or settings.seed < 0:
        raise BadUsage(
            f"--deals {settings.deals} --seed {settings.seed}: allowed are 2 deals and more, seed 0 and more"
        )
    checkpoint = Checkpoint.load(settings.checkpoint)
    before = [Checkpoint.load(path) for path in settings.after]
    stages = [stage for each in (*before, checkpoint) for stage in _stages_of(each)]
    found = _measured(settings, checkpoint)
    folder = settings.folder or WEIGHTS
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{settings.name}.npz"
    notes = {"name": settings.name, "stages": stages, "strength": [_without_time(one) for one in found]}
    replace(checkpoint, notes=notes).save(target)
    _note_in_index(folder / "index.json", settings.name, checkpoint.rules.to_dict())
    card = target.with_suffix(".md")
    card.write_text(card_of(settings, checkpoint, stages, found, target.stat().st_size), encoding="utf-8")
    print(f"{target} and {card} are written; play it as ppo:{settings.name}")
    return Exit.OK


def _stages_of(checkpoint: Checkpoint) -> list[dict[str, Any]]:
    """How a checkpoint was made: one that was shipped holds all stages that led to it."""
    stages: list[dict[str, Any]] = checkpoint.notes.get("stages") or [_told(checkpoint)]
    return stages


def _told(checkpoint: Checkpoint) -> dict[str, Any]:
    """How a checkpoint was made, without what it was measured at on the way, and where its files lay."""
    told = {key: value for key, value in checkpoint.notes.items() if key != "evaluation"}
    settings = {key: value for key, value in told.get("settings", {}).items() if key not in _PLACES}
    return {**told, "settings": settings}


def _without_time(one: Strength) -> dict[str, Any]:
    return {key: value for key, value in one.as_json().items() if key != "ms"}


def _measured(settings: ShipSettings, checkpoint: Checkpoint) -> list[Strength]:
    import agents
    from agents.ppo.agent import PPOAgent
    from experiments.training.evaluation import measure

    player, found = PPOAgent(checkpoint, settings.name), []
    with progress_bar("deals") as progress:
        for other in map(agents.make, settings.against):
            bar = progress.add_task(f"against {other.name}", total=settings.deals)

            def show(done: int, bar: TaskID = bar) -> None:
                progress.update(bar, completed=done)

            found.append(measure(player, other, checkpoint.rules, settings.deals, settings.seed, show))
    return found


def _note_in_index(path: Path, name: str, rules: Mapping[str, Any]) -> None:
    index = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    index[name] = {"file": f"{name}.npz", "rules": dict(rules)}
    path.write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")


# ---------------------------------------------------------------------------------------------------------------------
# The card


def card_of(
    settings: ShipSettings,
    checkpoint: Checkpoint,
    stages: Sequence[Mapping[str, Any]],
    found: Sequence[Strength],
    size: int,
) -> str:
    """The card of a network, as Markdown."""
    rules, network = checkpoint.rules, checkpoint.size
    weights = sum(weight.size for weight in checkpoint.weights.values())
    told = {
        "name": settings.name,
        "rules": f"{rules.num_players} seats under `{rules.preset}`",
        "weights": f"{weights:,}",
        "shape": f"{network.channels} channels, {network.blocks} blocks, {network.numbers} numbers",
        "size": f"{size / 1e6:.2f}",
        "command": command_of(settings),
        "deals": f"{settings.deals:,}",
        "seats": rules.num_players,
        "head": "| " + " | ".join(_COLUMNS) + " |\n" + "|---" * len(_COLUMNS) + "|",
        "rows": "\n".join(map(_row_of, found)),
        "style": "\n".join(map(_style_of, found[-1:])),
        "stages": "\n".join(_stage_of(number, stage) for number, stage in enumerate(stages, 1)),
    }
    return _CARD.format(**told)


def command_of(settings: ShipSettings) -> str:
    """The command that measures the same once the network is in the package."""
    words = ["scala40", "evaluate", f"ppo:{settings.name}", "--against", *settings.against]
    return shlex.join([*words, "--deals", str(settings.deals), "--seed", str(settings.seed)])


def _row_of(one: Strength) -> str:
    cells = (
        f"`{one.against}`",
        f"{one.hands:,}",
        f"{one.win_share:.1%}",
        _interval(one.win_share_ci, ".1%"),
        f"{one.points:.2f}",
        f"{one.others_points:.2f}",
        f"{one.margin:+.2f}",
        _interval(one.margin_ci, "+.2f"),
        f"{one.illegal}",
    )
    return "| " + " | ".join(cells) + " |"


def _interval(interval: tuple[float, float] | None, form: str) -> str:
    return "" if interval is None else f"{interval[0]:{form}} to {interval[1]:{form}}"


def _style_of(one: Strength) -> str:
    return (
        f"Against `{one.against}` it opened in {one.opened:.1%} of the hands, in lap {one.opening_lap:.1f} in the mean,"
        f"\nand closed {one.closed_in_hand:.1%} of those that it won in hand."
    )


def _stage_of(number: int, stage: Mapping[str, Any]) -> str:
    """One stage of training, as an item of a list."""
    if "mean_of" in stage:
        parts = "; ".join(stage.get("parts", ()))
        which = f"{stage['mean_of']} networks: {parts}" if parts else f"the last {stage['mean_of']} of these"
        return f"{number}. The mean of the weights of {which}.\n   {_made_on(stage)}."
    settings = stage.get("settings", {})
    told = ", ".join(f"{key} {_plain(value)}" for key, value in settings.items() if key not in _NOT_TOLD)
    remarks = "".join(f"\n   {_REMARKS[key]} {stage[key]}." for key in _REMARKS if key in stage)
    return (
        f"{number}. {_LEARNT[settings.get('clone', 'choices')]} {settings.get('clone_decisions', 0):,} decisions of"
        f" `{settings.get('teacher', 'nobody')}`, then {stage.get('decisions', 0):,} decisions of its own by PPO, seed"
        f" {settings.get('seed', 0)}.\n   {_made_on(stage)}.\n   Settings: {told}.{remarks}"
    )


def _made_on(stage: Mapping[str, Any]) -> str:
    """The machine, the versions and the revision."""
    machine = stage.get("machine", {})
    versions = ", ".join(f"{name} {version}" for name, version in stage.get("versions", {}).items())
    return (
        f"On {machine.get('cpu', 'a machine unknown')}, {machine.get('cores', '?')} cores; {versions}; revision"
        f" {str(stage.get('revision', 'unknown'))[:12]}"
    )


def _plain(value: Any) -> str:
    return " and ".join(map(str, value)) if isinstance(value, list) else str(value)


def main() -> int:
    """Ship; returns the exit code."""
    from agents import AgentError

    settings = tyro.cli(ShipSettings, description=__doc__)
    try:
        return run(settings)
    except (AgentError, Scala40Error) as error:
        return complain("ship", error, Exit.BAD_INPUT)


if __name__ == "__main__":
    sys.exit(main())
