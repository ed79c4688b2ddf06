"""Fit what `search` believes of hands that it does not see: ``python -m experiments.fit_beliefs --out beliefs.json``.

Scripted agents play; now and then a hand is looked at as it was, and compared with the same where one card is swapped
for one that lay elsewhere. For each context of `agents.kernels.belief`, logistic regression finds the weights that tell
best which of the two was real: by them hands are as likely, one to another, as they were in play.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray

from agents import KernelAgent, make
from agents.arena import Arena
from agents.beliefs import SHIPPED_BELIEFS, write_beliefs
from agents.kernels.belief import BELIEF_CONTEXTS, BELIEF_FEATURES, BELIEF_TABLES
from agents.kernels.belief_lessons import LESSON, write_swaps
from experiments.console import progress_bar
from scala40_env import Rules
from scala40_env.kernels.engine import start_match, step
from scala40_env.kernels.state import GAME, PLAY
from scala40_env.kernels.view import write_view
from scala40_env.rules.reading import new_games

#: Seats at the tables that lessons for each of `BELIEF_TABLES` come from.
SEATS = {"two_seats": 2, "more_seats": 4}
#: Weights are thousandths of a natural logarithm.
_UNIT = 1000
_BLOCK = 100


@dataclass(frozen=True)
class FitSettings:
    """Fit the beliefs of search to hands of scripted agents."""

    out: Path = SHIPPED_BELIEFS
    """The file that is written."""
    hands: int = 4000
    """Hands that are played, for two seats and for more."""
    agents: tuple[str, ...] = ("expert",)
    """Who plays; the seats are dealt out among them."""
    preset: str = "fisca"
    """The rules."""
    looks: float = 0.25
    """At how many decisions the others' hands are looked at."""
    swaps: int = 24
    """How many cards of a hand are compared then."""
    ridge: float = 2.0
    """How strongly weights are held near zero where there is little to tell."""
    seed: int = 0
    """Decides everything."""
    json: bool = False
    """Print the figures as one JSON object."""


def lessons(settings: FitSettings, seats: int) -> NDArray[np.int8]:
    """Lessons of so many hands: int8[n, LESSON]."""
    rules = Rules.from_preset(settings.preset, num_players=seats, match="single_hand")
    players = [_kernel(name) for name in settings.agents]
    rng, found = np.random.default_rng([settings.seed, seats]), []
    with progress_bar("hands") as progress:
        bar = progress.add_task(f"{seats} seats", total=settings.hands)
        for first in range(0, settings.hands, _BLOCK):
            count = min(_BLOCK, settings.hands - first)
            found += _block(settings, rules, players, count, rng)
            progress.update(bar, advance=count)
    return np.concatenate(found)


def _kernel(name: str) -> KernelAgent:
    agent = make(name)
    if not isinstance(agent, KernelAgent):
        raise SystemExit(f"--agents {name}: only scripted agents play here, as expert and greedy")
    return agent


def _block(
    settings: FitSettings, rules: Rules, players: Sequence[KernelAgent], count: int, rng: np.random.Generator
) -> list[NDArray[np.int8]]:
    seeds = rng.integers(1 << 63, size=count, dtype=np.uint64)
    seating = rng.integers(len(players), size=(count, rules.num_players))
    keys = rng.integers(1 << 63, size=(count, rules.num_players), dtype=np.uint64)
    found: list[NDArray[np.int8]] = []
    for ended in Arena(rules, players).play(seating, seeds, keys, max_hands=1, with_logs=True):
        games = np.repeat(new_games(rules, 0), count)
        games["seed"] = seeds
        for i, log in zip(ended.games, ended.logs, strict=True):
            start_match(games, i)
            _look_on(settings, games, int(i), log.actions, rng, found)
    return found


def _look_on(
    settings: FitSettings,
    games: NDArray[np.void],
    i: int,
    actions: Sequence[int] | NDArray[Any],
    rng: np.random.Generator,
    found: list[NDArray[np.int8]],
) -> None:
    """Play a hand again, and look at the hands of the others now and then."""
    view = np.zeros(1, GAME)
    for action in actions:
        if games[i]["phase"] == PLAY and rng.random() < settings.looks:
            seat = int(games[i]["turn"])
            write_view(games, i, seat, view, 0)
            for other in range(int(games[i]["num_players"])):
                rows = np.zeros((settings.swaps, LESSON), np.int8)
                key = int(rng.integers(1 << 63))
                if other != seat and write_swaps(games, i, other, view, 0, key, rows):
                    found.append(rows)
        step(games, i, int(action))


def fitted(rows: NDArray[np.int8], ridge: float) -> tuple[NDArray[np.float64], float]:
    """Weights by logistic regression, in natural logarithms, and how much they tell: nats a lesson, of log 2.

    The last fifth of the lessons is only looked at.
    """
    from scipy.optimize import minimize

    known, held = rows[: len(rows) * 4 // 5].astype(np.float64), rows[len(rows) * 4 // 5 :].astype(np.float64)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = known @ weights
        wrong = 1 / (1 + np.exp(np.clip(scores, -30, 30)))
        value = np.logaddexp(0, -scores).sum() + ridge * weights @ weights
        return float(value), -known.T @ wrong + 2 * ridge * weights

    weights: NDArray[np.float64] = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B").x
    return weights, float(np.log(2) - np.logaddexp(0, -(held @ weights)).mean()) if len(held) else 0.0


def fit_table(rows: NDArray[np.int8], first: int, ridge: float) -> tuple[NDArray[np.int64], dict[str, Any]]:
    """The weights of all contexts from number ``first`` on: int64[contexts, features]; and what the fits found."""
    table, said = np.zeros((len(BELIEF_CONTEXTS), len(BELIEF_FEATURES)), np.int64), {}
    for at, context in enumerate(BELIEF_CONTEXTS):
        own = rows[rows[:, -1] == first + at, :-1]
        if len(own):
            weights, told = fitted(own, ridge)
            table[at] = np.rint(weights * _UNIT)
            said[context] = {"lessons": len(own), "nats": round(told, 4)}
    return table, said


def main() -> None:
    """Fit, write the file, and print what was found."""
    from experiments.console import print_json
    from experiments.training.run_folder import made_by

    settings = tyro.cli(FitSettings, description=__doc__)
    tables, found = {}, {}
    for at, name in enumerate(BELIEF_TABLES):
        rows = lessons(settings, SEATS[name])
        tables[name], found[name] = fit_table(rows, at * len(BELIEF_CONTEXTS), settings.ridge)
    notes = {"command": " ".join(["python -m experiments.fit_beliefs", *sys.argv[1:]]), **made_by()}
    write_beliefs(settings.out, tables, notes)
    if settings.json:
        print_json(found)
        return
    for name, contexts in found.items():
        for context, said in contexts.items():
            print(f"{name}, {context}: {said['lessons']:,} lessons, {said['nats']:.3f} nats of {np.log(2):.3f}")


if __name__ == "__main__":
    main()
