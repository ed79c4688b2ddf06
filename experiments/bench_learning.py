"""``scala40 bench learning``: what learning costs: distributions, loops and networks beside each other.

How it measures is told in `experiments.measuring`; a run here is one rollout and what is learnt from it. Some cases
play nothing (`experiments.training.nothing`): they are what the others are compared with.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from experiments.console import BadUsage, Exit, new_table, print_json, print_table, progress_bar
from experiments.measuring import made_on, spread
from experiments.training.runtime import check_libraries, prepare_torch

if TYPE_CHECKING:
    from experiments.training.loops import Run

BATCH = 256
"""Decisions of a batch that is played, as leagues do."""
MASKABLE, PLAIN = "MaskablePPO", "ppo_torch"
"""Who learn from as many decisions."""
_DEALS_SEED = 4040


class Case(NamedTuple):
    """Something measured: its name in JSON, and its label."""

    name: str
    label: str


STOCK = Case("stock", "MaskablePPO, plain network, sb3-contrib's distribution; no games")
LEGAL = Case("legal", "MaskablePPO, plain network, distribution of the legal actions; no games")
CARDS = Case("cards", "MaskablePPO, network for the cards; no games")
GAMES = Case("games", "MaskablePPO, network for the cards; against greedy")
TRAIN = Case("train", "scala40 train: all seats, or against greedy")
TORCH = Case("torch", "ppo_torch; against greedy")
BF16 = Case("torch_bf16", "ppo_torch, bf16; against greedy")
COMPILED = Case("torch_compiled", "ppo_torch, compiled; against greedy")
BOTH = Case("torch_both", "ppo_torch, bf16 and compiled; against greedy")
CASES = (STOCK, LEGAL, CARDS, GAMES, TRAIN, TORCH, BF16, COMPILED, BOTH)


class Bound(NamedTuple):
    """Something that has to hold: a value at least, or at most, as much as the bound."""

    name: str
    value: float
    bound: float
    at_least: bool

    @property
    def holds(self) -> bool:
        """Whether it does."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound


@dataclass(frozen=True)
class LearningSettings:
    """Measure steps a second of learners, and what single decisions of the network cost. Takes some minutes.

    The exit code is 1 where a ratio is not what it has to be.
    """

    envs: int = 256
    """Environments, or games, beside each other."""
    steps: int = 32
    """Steps of each in a rollout."""
    batch_size: int = 2048
    """Decisions of a step of learning."""
    epochs: int = 4
    """How often an update goes through its decisions."""
    hidden: int = 256
    """Width of the two layers of the plain networks."""
    size: str = "small"
    """Size of the network for the cards."""
    threads: int = 1
    """Threads of PyTorch; 0: one for each core."""
    rounds: int = 5
    """Runs of every case, taking turns, of which the median counts."""
    compile: bool = False
    """Measure compiled networks too; compiling takes a minute, and a C++ compiler."""
    learn: int = 0
    """Then let MaskablePPO and ppo_torch learn from so many decisions each, and measure both against `greedy`."""
    deals: int = 500
    """Deals of that measuring, each from both seats."""
    seed: int = 0
    """Of that learning."""
    json: bool = False
    """Print one object instead of tables."""


@dataclass
class Measured:
    """All that was measured so far."""

    rates: dict[Case, list[float]] = field(default_factory=dict)
    games_share: list[float] = field(default_factory=list)
    """Shares of the time of `TRAIN` that games and opponents take."""
    alone_ms: float = 0.0
    batch_us: float = 0.0
    learnt: list[dict[str, Any]] = field(default_factory=list)


def run(settings: LearningSettings) -> int:
    """Measure and print; returns the exit code."""
    from agents import AgentError

    _check(settings)
    check_libraries("torch", "sb3_contrib", "yaml")
    prepare_torch(settings.threads)
    try:
        measured = _measured(settings)
    except AgentError as error:
        raise BadUsage(str(error)) from error
    report = report_of(settings, measured)
    print_json(report) if settings.json else _print_report(report)
    return Exit.OK if all(bound["holds"] for bound in report["bounds"]) else Exit.FAILED


def _measured(settings: LearningSettings) -> Measured:
    measured = Measured()
    _measure_loops(settings, measured)
    _measure_playing(settings, measured)
    if settings.learn:
        measured.learnt = [_learnt_by(name, settings) for name in (MASKABLE, PLAIN)]
    return measured


def _check(settings: LearningSettings) -> None:
    lows = {"threads": 0, "learn": 0, "seed": 0, "deals": 2}
    for name, value in asdict(settings).items():
        if isinstance(value, int) and value < lows.get(name, 1) and not isinstance(value, bool):
            raise BadUsage(f"{name} = {value}: allowed is {lows.get(name, 1)} and more")
    if settings.envs * settings.steps % settings.batch_size:
        raise BadUsage(
            f"batch_size = {settings.batch_size}: allowed is what divides {settings.envs} x {settings.steps}"
        )


# ---------------------------------------------------------------------------------------------------------------------
# Loops


def _measure_loops(settings: LearningSettings, measured: Measured) -> None:
    cases = [case for case in CASES if settings.compile or case not in (COMPILED, BOTH)]
    with progress_bar("runs") as progress:
        bar = progress.add_task("preparing", total=len(cases) * (settings.rounds + 1))
        runs = {case: _run_of(case, settings, measured) for case in cases}
        measured.rates = {case: [] for case in cases}
        for number in range(settings.rounds + 1):
            for case, play in runs.items():
                progress.update(bar, description=case.name)
                began = time.perf_counter()
                decisions = play()
                if number:  # the first one warms up
                    measured.rates[case].append(decisions / (time.perf_counter() - began))
                progress.advance(bar)
    del measured.games_share[0]


def _run_of(case: Case, settings: LearningSettings, measured: Measured) -> Run:
    from experiments.training import loops

    if case in (STOCK, LEGAL):
        return loops.mlp_run(settings, legal=case == LEGAL)
    if case in (CARDS, GAMES):
        return loops.card_run(settings, with_games=case == GAMES)
    if case == TRAIN:
        return loops.train_run(settings, measured.games_share)
    return loops.torch_run(settings, bf16=case in (BF16, BOTH), compiled=case in (COMPILED, BOTH))


# ---------------------------------------------------------------------------------------------------------------------
# Playing


def _measure_playing(settings: LearningSettings, measured: Measured) -> None:
    """What a decision takes as a player makes it: alone, and in a batch."""
    import numpy as np

    from agents.ppo.agent import PPOAgent
    from experiments.training.loops import RULES, untrained

    agent = PPOAgent.of(untrained(settings), RULES, "untrained")
    views, rng = _views(BATCH), np.random.default_rng(0)
    alone, batch = [], []
    for _ in range(settings.rounds + 1):
        began = time.perf_counter()
        for view in views[:50]:
            agent.act(view, rng)
        alone.append((time.perf_counter() - began) / 50)
        began = time.perf_counter()
        agent.act_batch(views, [rng] * len(views))
        batch.append((time.perf_counter() - began) / len(views))
    measured.alone_ms, measured.batch_us = 1e3 * median(alone[1:]), 1e6 * median(batch[1:])


def _views(count: int) -> list[Any]:
    """Views of seats with a choice, of hands played at random."""
    import numpy as np

    from experiments.training.loops import RULES
    from scala40_env import Game

    rng, seed = np.random.default_rng(0), 0
    views: list[Any] = []
    game = Game(RULES, seed=seed)
    while len(views) < count:
        legal = game.legal_actions()
        if not legal:
            seed += 1
            game = Game(RULES, seed=seed)
            continue
        if len(legal) > 1:
            views.append(game.view(game.turn))
        game.play_action(int(rng.choice(legal)))
    return views


# ---------------------------------------------------------------------------------------------------------------------
# Learning


def _learnt_by(name: str, settings: LearningSettings) -> dict[str, Any]:
    """Let a learner learn from nothing, and measure what it has learnt."""
    import agents
    from agents.ppo.agent import PPOAgent
    from experiments.training.evaluation import measure
    from experiments.training.loops import RULES, learnt_by_maskable, learnt_by_torch

    began = time.perf_counter()
    network = (learnt_by_maskable if name == MASKABLE else learnt_by_torch)(settings)
    seconds = time.perf_counter() - began
    found = measure(PPOAgent.of(network, RULES, name), agents.make("greedy"), RULES, settings.deals, _DEALS_SEED)
    return {"learner": name, "decisions": settings.learn, "seconds": round(seconds), **found.as_json()}


# ---------------------------------------------------------------------------------------------------------------------
# Reporting


def report_of(settings: LearningSettings, measured: Measured) -> dict[str, Any]:
    """All figures as one object."""
    from experiments.training.run_folder import made_by

    return {
        "results": [
            {**case._asdict(), "steps_per_s": round(median(rates)), "spread": spread(rates), "runs": len(rates)}
            for case, rates in measured.rates.items()
        ],
        "bounds": [{**bound._asdict(), "holds": bound.holds} for bound in _bounds(measured)],
        "learnt": measured.learnt,
        **made_by(),
        "settings": asdict(settings),
    }


def _bounds(measured: Measured) -> list[Bound]:
    """What has to hold. Ratios are of runs beside each other."""
    return [
        Bound("legal / stock", _ratio(measured, LEGAL, STOCK), 1.3, True),
        Bound("train / cards", _ratio(measured, TRAIN, CARDS), 0.9, True),
        Bound("games and opponents, share of train", round(median(measured.games_share), 3), 0.1, False),
        Bound("ms a decision, alone", round(measured.alone_ms, 3), 1.0, False),
        Bound(f"us a decision, in a batch of {BATCH}", round(measured.batch_us, 1), 100.0, False),
    ]


def _ratio(measured: Measured, over: Case, under: Case) -> float:
    pairs = zip(measured.rates[over], measured.rates[under], strict=True)
    return round(median(one / other for one, other in pairs), 2)


def _print_report(report: dict[str, Any]) -> None:
    settings = report["settings"]
    print(f"learning on {made_on(report)}")
    sizes = f"{settings['envs']} x {settings['steps']}, batch {settings['batch_size']}, {settings['epochs']} epochs"
    print(f"{sizes}, threads: {settings['threads']}; median of the runs, in brackets how far they lie apart\n")
    table = new_table(("what", "", "steps/s"), right=("steps/s",))
    for row in report["results"]:
        table.add_row(row["name"], row["label"], f"{row['steps_per_s']:,} ({row['spread']:.0%})")
    print_table(table)
    print()
    table = new_table(("what has to hold", "is", "bound"), right=("is", "bound"))
    for row in report["bounds"]:
        bound = f"{'at least' if row['at_least'] else 'at most'} {row['bound']:g}"
        table.add_row(row["name"], f"{row['value']:g}", bound + ("" if row["holds"] else " FAILS"))
    print_table(table)
    for row in report["learnt"]:
        low, high = row["win_share_ci"]
        print(
            f"\n{row['learner']}: {row['decisions']:,} decisions in {row['seconds']} s; against greedy it wins "
            f"{row['win_share']:.1%} ({low:.1%} to {high:.1%}), {row['margin']:+.2f} points a hand"
        )
