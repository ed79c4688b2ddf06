"""An example for Ray RLlib: its PPO on the PettingZoo form, with masks, on a cluster.

``make rllib`` makes an environment of its own for it, ``.rllib``, for RLlib pins versions that others may want newer::

    .rllib/bin/python -m experiments.train_rllib --decisions 100000 --out rllib.npz
    scala40 evaluate rllib.npz

All seats are played, and learnt for, by one network, that of `agents.ppo`; the checkpoint at the end is of its form.
Without ``--address`` Ray starts a cluster on this machine. RLlib has its own settings, loggers and checkpoints beside
what is shown here; for real strength use ``scala40 train``, which wastes no time between environment and learner.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
import tyro
from torch import Tensor

from agents import AgentError
from agents.ppo.checkpoint import Checkpoint
from agents.ppo.layout import layout_for_size
from agents.ppo.network import CardNetwork, size_of
from experiments.console import BadUsage, Exit, complain, progress_bar
from experiments.training.run_folder import made_by
from experiments.training.settings import hand_rules
from scala40_env import Rules, Scala40Error, scala40_v0

try:
    import ray
    from ray.rllib.algorithms.algorithm import Algorithm
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.apis import ValueFunctionAPI
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.core.rl_module.torch import TorchRLModule
    from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
    from ray.tune.registry import register_env
except ImportError as error:
    raise SystemExit(
        f"train_rllib needs Ray RLlib ({error}): make rllib, then .rllib/bin/python -m experiments.train_rllib"
    ) from error

ENVIRONMENT, PLAYER = "scala40", "player"
"""How RLlib knows the environment, and the one network that plays all seats."""
_ILLEGAL = -1e9
"""Logit of an illegal action: finite, so that RLlib's entropies are."""


@dataclass(frozen=True)
class RLlibSettings:
    """Train a network by RLlib's PPO in self-play."""

    preset: str = "fisca"
    """Rules to start from: fisca, casa, scala_quaranta, tavolo or megajogos."""
    seats: int = 2
    """Seats at a table."""
    set: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="FIELD=VALUE")] = ()
    """Change one field of the rules, as --set opening_points=30; may be given again."""
    out: Path = Path("rllib.npz")
    """The checkpoint that is written at the end, or when Ctrl-C is pressed."""
    seed: int = 0
    """Of the network, the deals and the choices."""
    address: str | None = None
    """A Ray cluster: HOST:PORT of its head, or auto; a new one on this machine if left out."""
    runners: int = 1
    """Processes that play; 0: the learner plays too."""
    size: str = "small"
    """Size of the network: small, medium or large."""
    decisions: int = 100_000
    """How many decisions to learn from, forced ones among them."""
    rollout: int = 4096
    """Decisions of an update."""
    batch_size: int = 512
    """Decisions of a step of learning."""
    epochs: int = 3
    """How often an update goes through its decisions."""
    learning_rate: float = 5e-4
    """Of all steps."""
    decay: float = 0.95
    """Lambda of the advantages; gamma is 1."""
    entropy: float = 0.003
    """Bonus for entropy."""

    def check(self) -> None:
        """Raise `BadUsage` for a number out of its range."""
        lows = {"seed": 0, "runners": 0, "decisions": 1, "rollout": 1, "batch_size": 1, "epochs": 1}
        for name, low in lows.items():
            if getattr(self, name) < low:
                raise BadUsage(f"{name} = {getattr(self, name)}: allowed is {low} and more")


class CardModule(TorchRLModule, ValueFunctionAPI):
    """`CardNetwork` as RLlib takes it: logits of illegal actions are taken away by the mask in the observation."""

    def setup(self) -> None:
        """Make the network."""
        layout = layout_for_size(int(self.observation_space["observation"].shape[0]))
        self.net = CardNetwork(layout, int(self.action_space.n), size_of(self.model_config["size"]))

    def _forward(self, batch: dict[str, Any], **more: Any) -> dict[str, Tensor]:
        seen = batch[Columns.OBS]
        cells, summary = self.net.trunk(seen["observation"])
        logits = self.net.heads(seen["observation"], cells, summary)
        legal = seen["action_mask"] != 0
        return {Columns.ACTION_DIST_INPUTS: torch.where(legal, logits, _ILLEGAL), Columns.EMBEDDINGS: summary}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:
        """The values of a batch, from its embeddings where they are known already."""
        summary = self.net.trunk(batch[Columns.OBS]["observation"])[1] if embeddings is None else embeddings
        values: Tensor = self.net.value(summary)
        return values


def algorithm_of(settings: RLlibSettings, rules: Rules) -> Algorithm:
    """RLlib's PPO for these settings."""
    register_env(ENVIRONMENT, lambda config: PettingZooEnv(scala40_v0.raw_env(rules=config["rules"])))
    return (
        PPOConfig()
        # RLlib's check plays without masks, and this form refuses what is illegal
        .environment(ENVIRONMENT, env_config={"rules": rules}, disable_env_checking=True)
        .env_runners(num_env_runners=settings.runners)
        .multi_agent(policies={PLAYER}, policy_mapping_fn=lambda agent, episode, **more: PLAYER)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=CardModule, model_config={"size": settings.size}))
        .training(
            gamma=1.0,
            lambda_=settings.decay,
            lr=settings.learning_rate,
            entropy_coeff=settings.entropy,
            vf_clip_param=float("inf"),
            use_kl_loss=False,
            grad_clip=0.5,
            train_batch_size_per_learner=settings.rollout,
            minibatch_size=min(settings.batch_size, settings.rollout),
            num_epochs=settings.epochs,
        )
        .fault_tolerance(restart_failed_env_runners=False)  # a process that fails ends it, with what went wrong
        .debugging(seed=settings.seed, log_level="ERROR")
        .build_algo()
    )


def train(settings: RLlibSettings) -> None:
    """Learn, show how it goes, and write the checkpoint."""
    settings.check()
    rules = hand_rules(settings.preset, settings.seats, settings.set)
    size_of(settings.size)
    _join_cluster(settings.address)
    try:
        algorithm = algorithm_of(settings, rules)
        done = _learnt(algorithm, settings)
        made = made_by()
        made["versions"] |= {"ray": ray.__version__}
        notes = {"settings": _as_json(settings), "decisions": done, **made}
        settings.out.parent.mkdir(parents=True, exist_ok=True)
        Checkpoint.of(algorithm.get_module(PLAYER).net, rules, notes).save(settings.out)
        algorithm.stop()
    finally:
        ray.shutdown()
    print(f"{done:,} decisions; measure it with: scala40 evaluate {settings.out}")


def _join_cluster(address: str | None) -> None:
    """Begin to use a cluster, or one on this machine; its processes find this project as this one does."""
    paths = filter(None, (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")))
    ray.init(
        address=address,
        include_dashboard=False if address is None else None,
        logging_level=logging.ERROR,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(paths)}},
    )
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)


def _learnt(algorithm: Algorithm, settings: RLlibSettings) -> int:
    """Let it learn; returns how many decisions it has learnt from."""
    done = 0
    with progress_bar("decisions") as progress:
        bar = progress.add_task("learning", total=settings.decisions)
        try:
            while done < settings.decisions:
                results = algorithm.train()["env_runners"]
                done = int(results["num_env_steps_sampled_lifetime"])
                told = f"learning; {results.get('episode_len_mean', 0):.0f} decisions a hand"
                progress.update(bar, completed=min(done, settings.decisions), description=told)
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
    return done


def _as_json(settings: RLlibSettings) -> dict[str, Any]:
    return dataclasses.asdict(settings) | {"out": str(settings.out)}


def main() -> int:
    """Run the script; returns its exit code."""
    settings = tyro.cli(RLlibSettings, config=(tyro.conf.FlagCreatePairsOff,), description=__doc__)
    try:
        train(settings)
    except (AgentError, Scala40Error) as error:
        return complain("train_rllib", error, Exit.BAD_INPUT)
    except (ConnectionError, OSError) as error:
        return complain("train_rllib", error, Exit.FAILED)
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
