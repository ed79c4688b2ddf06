"""`scala40 evaluate`: a checkpoint against a list of agents, on the same deals from all seats, and how it plays."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from experiments.console import BadUsage, Exit, new_table, print_json, print_table, progress_bar
from experiments.training.settings import hand_rules

if TYPE_CHECKING:
    from agents import Agent
    from experiments.training.evaluation import Strength
    from scala40_env import Rules


@dataclass(frozen=True)
class EvaluateSettings:
    """Measure a checkpoint: one hand a deal, the checkpoint on one seat and one agent on all the others."""

    checkpoint: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="CHECKPOINT")]
    """A checkpoint's file, or any agent by name, such as ppo or expert."""
    against: tuple[str, ...] = ("random", "greedy", "expert")
    """Agents to play against."""
    preset: str | None = None
    """Rules to start from, if not those of the checkpoint; fisca for an agent by name. A network plays no others."""
    set: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="FIELD=VALUE")] = ()
    """Change one field of the rules, as --set opening_points=30; may be given again."""
    seats: int | None = None
    """Seats at the table, if not those of the checkpoint; 2 for an agent by name."""
    deals: int = 1000
    """How many deals, each from every seat."""
    seed: int = 0
    """Decides the deals and all chance."""
    sample: bool = False
    """Let the checkpoint draw its moves by their probabilities instead of playing the likeliest."""
    json: bool = False
    """Print one JSON object instead of the table."""


def run(settings: EvaluateSettings) -> int:
    """Measure and print; returns the exit code: `Exit.FAILED` if an illegal move was made."""
    import agents
    from agents import AgentError

    if settings.deals < 1:
        raise BadUsage(f"--deals {settings.deals}: allowed is 1 and more")
    if settings.seed < 0:
        raise BadUsage(f"--seed {settings.seed}: allowed is 0 and more")
    if not settings.against:
        raise BadUsage("--against: at least one agent is asked for")
    try:
        player, rules = _player(settings)
        others = [agents.make(name) for name in settings.against]
        for agent in (player, *others):
            agent.check_rules(rules)
        found = _all_measured(settings, player, others, rules)
    except AgentError as error:
        raise BadUsage(str(error)) from error
    _print(settings, rules, found)
    if len(found) < len(others):
        return Exit.INTERRUPTED
    return Exit.FAILED if any(one.illegal for one in found) else Exit.OK


def _all_measured(settings: EvaluateSettings, player: Agent, others: Sequence[Agent], rules: Rules) -> list[Strength]:
    """The player against each of the others; interrupted, against those that are done, if any is."""
    found: list[Strength] = []
    try:
        for other in others:
            found.append(_measured(settings, player, other, rules))
    except KeyboardInterrupt:
        if not found:
            raise
    return found


def _player(settings: EvaluateSettings) -> tuple[Agent, Rules]:
    """Who is measured, and by which rules: those of the checkpoint, unless a flag says otherwise."""
    import agents
    from scala40_env import Rules

    path = Path(settings.checkpoint)
    if path.suffix != ".npz":
        player = agents.make(sampling(settings.checkpoint) if settings.sample else settings.checkpoint)
        return player, hand_rules(settings.preset or "fisca", settings.seats, settings.set)
    try:
        from agents.ppo.agent import PPOAgent
        from agents.ppo.checkpoint import Checkpoint
    except ImportError as error:
        raise BadUsage(f"a checkpoint needs PyTorch ({error}): pip install 'scala40-env[train]'") from error
    checkpoint = Checkpoint.load(path)
    start = checkpoint.rules
    if settings.preset is not None:
        start = Rules.from_preset(settings.preset, num_players=start.num_players)
    rules = hand_rules(start, settings.seats, settings.set)
    return PPOAgent(checkpoint, path.stem, settings.sample), rules


def sampling(name: str) -> str:
    """The name of the same `ppo` agent that draws its moves. Raises `BadUsage` for any other agent."""
    if name != "ppo" and not name.startswith("ppo:"):
        raise BadUsage(f"--sample is for checkpoints and for ppo; {name} decides for itself how it plays")
    return f"{name},sample" if ":" in name else f"{name}:sample"


def _measured(settings: EvaluateSettings, player: Agent, other: Agent, rules: Rules) -> Strength:
    from experiments.training.evaluation import measure

    with progress_bar("deals") as progress:
        bar = progress.add_task(f"against {other.name}", total=settings.deals)

        def show(done: int) -> None:
            progress.update(bar, completed=done)

        return measure(player, other, rules, settings.deals, settings.seed, show)


def command_of(settings: EvaluateSettings, rules: Rules) -> str:
    """The command that measures this."""
    words = ["scala40", "evaluate", settings.checkpoint, "--against", *settings.against]
    if settings.preset is not None:
        words += ["--preset", settings.preset]
    words += ["--seats", str(rules.num_players)]
    for change in settings.set:
        words += ["--set", change]
    words += ["--deals", str(settings.deals), "--seed", str(settings.seed)]
    return shlex.join([*words, "--sample"] if settings.sample else words)


def _print(settings: EvaluateSettings, rules: Rules, found: list[Strength]) -> None:
    if settings.json:
        from experiments.league.results import provenance

        heading = {"command": command_of(settings, rules), "rules": rules.to_dict(), **provenance()}
        print_json(heading | {"results": [one.as_json() for one in found]})
        return
    print(f"{command_of(settings, rules)}\n{settings.deals:,} deals, each from {rules.num_players} seats\n")
    numbers = (
        "won",
        "95%",
        "points",
        "theirs",
        "margin",
        "95% ",
        "opened",
        "lap",
        "in hand",
        "jokers",
        "illegal",
        "ms",
    )
    table = new_table(("against", *numbers), right=numbers)
    for one in found:
        table.add_row(*_cells(one))
    print_table(table)
    for one in found:
        outcomes = ", ".join(f"{what} {points:.1f}" for what, points in one.points_by_outcome.items())
        print(f"points against {one.against}: {outcomes}")


def _cells(one: Strength) -> list[str]:
    return [
        one.against,
        f"{one.win_share:.1%}",
        _interval(one.win_share_ci, ".1%"),
        f"{one.points:.2f}",
        f"{one.others_points:.2f}",
        f"{one.margin:+.2f}",
        _interval(one.margin_ci, "+.2f"),
        f"{one.opened:.1%}",
        f"{one.opening_lap:.1f}",
        f"{one.closed_in_hand:.1%}",
        f"{one.jokers_left:.2f}",
        f"{one.illegal}",
        f"{one.ms:.2f}",
    ]


def _interval(interval: tuple[float, float] | None, form: str) -> str:
    return "-" if interval is None else f"{interval[0]:{form}} to {interval[1]:{form}}"
