"""What ``scala40 bench peers`` measures, and what has to hold: plain data."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

PLAYERS = Path(__file__).parent / "players"
WITH_US = ("ours", "nothing")
"""Played in this project's own environment; every other library has one of its own, of the same name."""


class Case(NamedTuple):
    """Something measured: its name, the file of `players` that has it, a label, and what counts as a decision of it."""

    name: str
    library: str
    label: str
    does: str


CASES = (
    Case(
        "engine",
        "ours",
        "this project: engine",
        "The kernels alone: mask, choice and step in one call for all decisions; no observation.",
    ),
    Case(
        "raw_env",
        "ours",
        "this project: `raw_env()`",
        "PettingZoo's documented loop over `agent_iter`, `last` and `step`: observation and mask of every decision.",
    ),
    Case("env", "ours", "this project: `env()`", "The same loop, in PettingZoo's three usual wrappers."),
    Case(
        "gymnasium",
        "ours",
        "this project: `gymnasium.make`",
        "Gymnasium's documented loop, with its checker: the learner's decisions alone count; the opponent, `random`, "
        "plays inside.",
    ),
    Case(
        "learner_vector",
        "ours",
        "this project: vector, one learner a game",
        "`Scala40VectorEnv`: observation and mask as copies; the learners' decisions alone count; the opponents, "
        "`random`, play inside.",
    ),
    Case(
        "selfplay_vector",
        "ours",
        "this project: vector, self-play",
        "`SelfPlayVectorEnv`: observation and mask as copies, for who is on move in every game.",
    ),
    Case(
        "nothing_raw",
        "nothing",
        "nothing: raw AEC environment",
        "A plain `AECEnv` that gives away copies of an observation and a mask as long as ours and passes the turn on; "
        "the loop of `raw_env()`.",
    ),
    Case("nothing_env", "nothing", "nothing: the same, wrapped", "The same in the wrappers of `env()`."),
    Case(
        "nothing_gymnasium",
        "nothing",
        "nothing: `gymnasium.make`",
        "A plain `gymnasium.Env` with the same copies, through `gymnasium.make` with its checker.",
    ),
    Case(
        "choice",
        "nothing",
        "nothing: the choice by a mask",
        "What every loop with a mask has in it: find the ones of a mask as long as ours, take one of them.",
    ),
    Case(
        "pettingzoo_raw_env",
        "pettingzoo",
        "PettingZoo gin_rummy_v4: `raw_env()`",
        "The loop of our `raw_env()`.",
    ),
    Case("pettingzoo_env", "pettingzoo", "PettingZoo gin_rummy_v4: `env()`", "The same loop, wrapped."),
    Case(
        "pettingzoo_benchmark",
        "pettingzoo",
        "PettingZoo gin_rummy_v4: its benchmark",
        "The loop of PettingZoo's `performance_benchmark` with its own choice, wrapped; its turns count.",
    ),
    Case("rlcard_run", "rlcard", "RLCard gin-rummy: `run`", "`env.run` with agents that choose as all others do."),
    Case(
        "rlcard_step", "rlcard", "RLCard gin-rummy: `step`", "`env.reset` and `env.step`: the state of every decision."
    ),
    Case(
        "rlcard_game",
        "rlcard",
        "RLCard gin-rummy: bare game",
        "The game below: `judge.get_legal_actions` and `game.step`; no observation.",
    ),
    Case(
        "openspiel_apply",
        "openspiel",
        "OpenSpiel gin_rummy: legal and apply",
        "`legal_actions` and `apply_action` from Python; no observation. Dealing and drawing are played, not counted.",
    ),
    Case(
        "openspiel_tensor",
        "openspiel",
        "OpenSpiel gin_rummy: with its tensor",
        "The same and `observation_tensor`, a list of floats, of every decision.",
    ),
    Case(
        "openspiel_observer",
        "openspiel",
        "OpenSpiel gin_rummy: with its observer",
        "The same by `make_observation`, which writes the tensor into one array that it owns.",
    ),
)

RESETS = (
    Case("reset_learner_vector", "ours", "one learner a game", "`Scala40VectorEnv.reset` with new seeds."),
    Case("reset_selfplay_vector", "ours", "self-play", "`SelfPlayVectorEnv.reset` with new seeds."),
)
"""Here a decision is a reset of 1,024 games."""
RESET_MOST_MS = 10.0


class Ratio(NamedTuple):
    """One case's decisions a second over another's; None: nothing is asked of it. ``net``: without the choice."""

    over: str
    under: str
    at_least: float | None
    net: bool = False

    @property
    def name(self) -> str:
        """As in ``raw_env / nothing_raw``."""
        return f"{self.over} / {self.under}{', choice taken off' if self.net else ''}"


RATIOS = (
    Ratio("selfplay_vector", "openspiel_tensor", 20.0),
    Ratio("selfplay_vector", "openspiel_observer", None),
    Ratio("raw_env", "pettingzoo_raw_env", 20.0),
    Ratio("raw_env", "nothing_raw", 1 / 6),
    Ratio("raw_env", "nothing_raw", 1 / 6, net=True),
    Ratio("env", "nothing_env", 0.7),
    Ratio("env", "pettingzoo_env", None),
    Ratio("gymnasium", "nothing_gymnasium", None),
    Ratio("selfplay_vector", "rlcard_step", None),
    Ratio("engine", "rlcard_game", None),
    Ratio("engine", "openspiel_apply", None),
)

NAMES = tuple(case.name for case in (*CASES, *RESETS))
LIBRARIES = tuple(dict.fromkeys(case.library for case in CASES))


def cases_as_markdown() -> str:
    """What each case does, as a table for the documentation."""
    rows = ["| name | | a decision is |", "|---|---|---|"]
    return "\n".join([*rows, *(f"| `{case.name}` | {case.label} | {case.does} |" for case in CASES)])
