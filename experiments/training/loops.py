"""Loops that learn, made alike so that ``scala40 bench learning`` can compare them: two seats under ``fisca``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from sb3_contrib import MaskablePPO

from agents.ppo.network import CardNetwork, size_of
from agents.ppo.policy import CardPolicy, LegalMlpPolicy
from experiments.ppo_torch import PlainSettings, learn, new_network
from experiments.train_ppo import coefficients_of
from experiments.training.nothing import Nothing
from experiments.training.pool import Pool
from experiments.training.ppo import SelfPlayPPO
from experiments.training.settings import TrainSettings
from scala40_env import Rules
from scala40_env.observation import schema_of
from scala40_env.rules.moves import num_actions
from scala40_env.sb3 import Scala40VecEnv

if TYPE_CHECKING:
    from experiments.bench_learning import LearningSettings

__all__ = [
    "RULES",
    "Run",
    "card_run",
    "learnt_by_maskable",
    "learnt_by_torch",
    "mlp_run",
    "torch_run",
    "train_run",
    "untrained",
]

RULES = Rules.fisca(num_players=2, match="single_hand")
PLAIN_OBSERVATION, PLAIN_ACTIONS = 800, 700
"""Sizes of the environment that costs nothing where the network is a plain one."""

Run = Callable[[], int]
"""One rollout and what is learnt from it; returns how many decisions that were."""


def untrained(settings: LearningSettings) -> CardNetwork:
    """A network for the cards that knows nothing."""
    return new_network(RULES, settings.size, settings.seed, torch.device("cpu"))


def mlp_run(settings: LearningSettings, legal: bool) -> Run:
    """MaskablePPO with a plain network, without games; with our distribution or with sb3-contrib's."""
    env = Nothing(settings.envs, PLAIN_OBSERVATION, PLAIN_ACTIONS)
    layers = {"net_arch": [settings.hidden, settings.hidden]}
    return _sb3_run(settings, _maskable(settings, LegalMlpPolicy if legal else "MlpPolicy", env, policy_kwargs=layers))


def card_run(settings: LearningSettings, with_games: bool) -> Run:
    """MaskablePPO with the network for the cards, without games or against `greedy`."""
    if with_games:
        return _sb3_run(settings, _on_games(settings))
    env = Nothing(settings.envs, schema_of(RULES).size, num_actions(RULES))
    return _sb3_run(settings, _maskable(settings, CardPolicy, env, policy_kwargs={"size": settings.size}))


def _on_games(settings: LearningSettings, **more: Any) -> MaskablePPO:
    env = Scala40VecEnv(settings.envs, rules=RULES, opponents="greedy", seat="rotate")
    env.seed(settings.seed)
    return _maskable(settings, CardPolicy, env, policy_kwargs={"size": settings.size}, **more)


def _maskable(settings: LearningSettings, policy: Any, env: Any, **more: Any) -> MaskablePPO:
    sizes = {"n_steps": settings.steps, "batch_size": settings.batch_size, "n_epochs": settings.epochs}
    return MaskablePPO(policy, env, seed=settings.seed, device="cpu", **sizes, **more)


def _sb3_run(settings: LearningSettings, learner: MaskablePPO) -> Run:
    decisions = settings.envs * settings.steps

    def play() -> int:
        learner.learn(decisions, reset_num_timesteps=False)
        return decisions

    return play


def train_run(settings: LearningSettings, games_share: list[float]) -> Run:
    """A rollout and an update as ``scala40 train`` makes them; the games' share of the time is added to the list."""
    learner = SelfPlayPPO(
        RULES,
        size_of(settings.size),
        settings.envs,
        batch_size=settings.batch_size,
        n_epochs=settings.epochs,
        seed=settings.seed,
        device="cpu",
    )
    pool = Pool(RULES, ["greedy"], 0, 0.5, 1.0)
    playing = _time_taken_by(learner.games, "step")
    learner.begin(pool.lineups())
    coefficients = replace(coefficients_of(TrainSettings(), 0), anchor=0.0)

    def play() -> int:
        began, playing[0] = time.perf_counter(), 0.0
        learner.collect(settings.envs * settings.steps, pool.lineups(), {})
        done = int(learner.update(coefficients)["decisions"])
        games_share.append(playing[0] / (time.perf_counter() - began))
        return done

    return play


def _time_taken_by(owner: Any, method: str) -> list[float]:
    """A list of one number, to which the seconds are added that calls of a method take from now on."""
    seconds, whole = [0.0], getattr(owner, method)

    def timed(*arguments: Any) -> Any:
        began = time.perf_counter()
        result = whole(*arguments)
        seconds[0] += time.perf_counter() - began
        return result

    setattr(owner, method, timed)
    return seconds


def torch_run(settings: LearningSettings, bf16: bool, compiled: bool) -> Run:
    """`experiments.ppo_torch` against `greedy`."""
    decisions = settings.envs * settings.steps
    given = _as_plain(settings, bf16=bf16, compile=compiled, decisions=(settings.rounds + 1) * decisions)
    updates: Iterator[Any] = learn(given, RULES, untrained(settings))

    def play() -> int:
        next(updates)
        return decisions

    return play


def _as_plain(settings: LearningSettings, **more: Any) -> PlainSettings:
    names = ("envs", "steps", "batch_size", "epochs", "size", "seed")
    return PlainSettings(**{name: getattr(settings, name) for name in names}, **more)


# ---------------------------------------------------------------------------------------------------------------------
# From nothing, for as many decisions


def learnt_by_maskable(settings: LearningSettings) -> CardNetwork:
    """What MaskablePPO has learnt after ``settings.learn`` decisions, with the settings of `ppo_torch`."""
    same = _as_plain(settings)

    def rate(left: float) -> float:
        return same.learning_rate * left

    learner = _on_games(
        settings,
        learning_rate=rate,
        gamma=same.discount,
        gae_lambda=same.decay,
        clip_range=same.clip,
        ent_coef=same.entropy,
        vf_coef=same.value,
        max_grad_norm=same.max_grad_norm,
    )
    learner.learn(settings.learn)
    network: CardNetwork = learner.policy.net
    return network


def learnt_by_torch(settings: LearningSettings) -> CardNetwork:
    """The same of `ppo_torch`; rewards as they are, for so does MaskablePPO take them."""
    network = untrained(settings)
    for _ in learn(_as_plain(settings, decisions=settings.learn, reward_scale=1.0), RULES, network):
        pass
    return network
