"""A study: does a network made for the cards learn faster than a plain one? Both clone the same teacher.

``python -m experiments.study_network`` writes ``network.json`` and ``network.md`` into ``experiments/results``: for
both networks the share of decisions alike with the teacher's on hands of another seed, and the strength against the
teacher, by the number of decisions learnt from.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from torch import Tensor, nn

import agents
from agents.ppo.agent import PPOAgent
from agents.ppo.layout import input_layout
from agents.ppo.network import CardNetwork, size_of
from experiments.console import progress_bar
from experiments.training.cloning import Cloner, score_of
from experiments.training.evaluation import measure
from experiments.training.run_folder import made_by
from experiments.training.teacher import TeacherStream
from scala40_env import Rules
from scala40_env.observation import schema_of
from scala40_env.rules.moves import num_actions

RESULTS = Path(__file__).parent / "results"
_HELD_OUT, _HELD_SEED = 20_000, 1_000_003


@dataclass(frozen=True)
class StudySettings:
    """Clone a teacher with the network of `ppo` and with a plain one."""

    teacher: str = "greedy"
    """Whose decisions are cloned; a kernel."""
    decisions: tuple[int, ...] = (50_000, 100_000, 200_000, 400_000)
    """After how many of them both are measured."""
    size: str = "small"
    """Size of the network made for the cards."""
    hidden: int = 512
    """Width of the two layers of the plain one."""
    batch: int = 512
    """Decisions of a step."""
    card_learning_rate: float = 2e-3
    """Of the network made for the cards, at the first step."""
    plain_learning_rate: float = 1e-3
    """Of the plain one."""
    deals: int = 400
    """Deals played against the teacher, from both seats."""
    seed: int = 0
    """Decides everything."""
    threads: int = 1
    """Threads of PyTorch."""
    out: Path = RESULTS
    """Folder of the results."""


class PlainNetwork(nn.Module):
    """Two layers on the flat observation, each number divided by its bound.

    Args:
        rules: of the hands.
        hidden: width of the layers.
    """

    scales: Tensor

    def __init__(self, rules: Rules, hidden: int) -> None:
        super().__init__()
        schema = schema_of(rules)
        self.body = nn.Sequential(nn.Linear(schema.size, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.policy, self.value = nn.Linear(hidden, num_actions(rules)), nn.Linear(hidden, 1)
        self.register_buffer("scales", 1 / torch.from_numpy(schema.bounds[1].astype(np.float32)).clamp(min=1))

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (batch, actions) and values (batch,)."""
        seen = self.body(observations.float() * self.scales)
        return self.policy(seen), self.value(seen)[:, 0]

    def logits(self, observations: Tensor) -> Tensor:
        """Only the logits."""
        logits: Tensor = self(observations)[0]
        return logits


def study(settings: StudySettings) -> dict[str, Any]:
    """Run it; returns what goes into the file."""
    rules = Rules.fisca(num_players=2, match="single_hand")
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    size = size_of(settings.size)
    networks: dict[str, tuple[Any, float]] = {
        f"cards, {settings.size}": (
            CardNetwork(input_layout(schema_of(rules)), num_actions(rules), size),
            settings.card_learning_rate,
        ),
        f"plain, {settings.hidden}-{settings.hidden}": (
            PlainNetwork(rules, settings.hidden),
            settings.plain_learning_rate,
        ),
    }
    rows = [row for name, (network, rate) in networks.items() for row in _learnt(settings, rules, name, network, rate)]
    return {
        "command": shlex.join(["python", "-m", "experiments.study_network", *sys.argv[1:]]),
        "settings": {key: value for key, value in asdict(settings).items() if key != "out"},
        **made_by(),
        "rows": rows,
    }


def _learnt(settings: StudySettings, rules: Rules, name: str, network: Any, rate: float) -> list[dict[str, Any]]:
    """Let a network learn, measured on the way."""
    teacher, actions = agents.make(settings.teacher), num_actions(rules)
    held = TeacherStream(rules, teacher, seed=_HELD_SEED).read(_HELD_OUT)
    stream, rng = TeacherStream(rules, teacher, seed=settings.seed), np.random.default_rng(settings.seed)
    cloner = Cloner(network, actions, rate, settings.decisions[-1] // settings.batch)
    rows, seconds = [], 0.0
    with progress_bar("decisions") as progress:
        bar = progress.add_task(name, total=settings.decisions[-1])
        for upto in settings.decisions:
            while cloner.step < upto // settings.batch:
                began = time.process_time()
                for batch in stream.read(1 << 14).batches(settings.batch, rng):
                    if cloner.step < upto // settings.batch:
                        cloner.learn(batch)
                seconds += time.process_time() - began
                progress.update(bar, completed=cloner.step * settings.batch)
            player = PPOAgent.of(network, rules, name)
            strength = measure(player, teacher, rules, settings.deals, _HELD_SEED)
            rows.append(
                {
                    "network": name,
                    "weights": sum(weight.numel() for weight in network.parameters()),
                    "decisions": cloner.step * settings.batch,
                    "cpu_seconds": round(seconds),
                    **asdict(score_of(network, held, actions)),
                    "win_share": strength.win_share,
                    "win_share_ci": strength.win_share_ci,
                    "margin": strength.margin,
                    "margin_ci": strength.margin_ci,
                }
            )
    return rows


def as_markdown(found: dict[str, Any]) -> str:
    """The results as a table."""
    settings, machine = found["settings"], found["machine"]
    lines = [
        f"# Cloning `{settings['teacher']}` with two networks",
        "",
        f"`{found['command']}`, seed {settings['seed']}, on {machine['cpu']} ({machine['cores']} cores), "
        + ", ".join(f"{name} {version}" for name, version in found["versions"].items())
        + ". Two seats, `fisca`. *alike*: decisions as the teacher's, of hands of another seed; *won*: share of the "
        f"hands against the teacher in {settings['deals']} deals from both seats, with its 95% interval.",
        "",
        "| network | weights | decisions | CPU s | alike | cross-entropy | value error | won | margin in points |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in found["rows"]:
        low, high = row["win_share_ci"]
        lines.append(
            f"| {row['network']} | {row['weights']:,} | {row['decisions']:,} | {row['cpu_seconds']} "
            f"| {row['agreement']:.1%} | {row['cross_entropy']:.3f} | {row['value_error']:.4f} "
            f"| {row['win_share']:.1%} ({low:.1%} to {high:.1%}) | {row['margin']:+.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the study and write its results."""
    settings = tyro.cli(StudySettings)
    found = study(settings)
    settings.out.mkdir(parents=True, exist_ok=True)
    (settings.out / "network.json").write_text(json.dumps(found, indent=1) + "\n")
    (settings.out / "network.md").write_text(as_markdown(found))
    print(as_markdown(found))


if __name__ == "__main__":
    main()
