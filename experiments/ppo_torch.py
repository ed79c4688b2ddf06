"""PPO in one file of plain PyTorch, for those who want to change the algorithm, or the fastest loop.

``python -m experiments.ppo_torch --help`` tells the flags. It learns on `Scala40VectorEnv`: one seat of every game is
the learner's, a scripted agent sits on the others. Network, distribution and checkpoints are those of `agents.ppo`, and
all of the algorithm (Schulman et al. 2017) is below, from the rollout to the loss. ``scala40 train`` is the larger
machine: it clones first, plays all seats, has a pool, evaluates and resumes. ``scala40 bench learning`` measures both.
"""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
import tyro
from torch import Tensor, nn
from torch.nn import functional

from agents import AgentError
from agents.ppo.checkpoint import Checkpoint
from agents.ppo.distribution import LegalActions, LegalCategorical
from agents.ppo.layout import input_layout
from agents.ppo.network import CardNetwork, size_of
from experiments.console import BadUsage, Exit, complain, progress_bar
from experiments.training.cloning import check_finite
from experiments.training.run_folder import made_by
from experiments.training.runtime import prepare_torch
from experiments.training.settings import hand_rules
from scala40_env import Rules, Scala40Error
from scala40_env.observation import schema_of
from scala40_env.rules.moves import num_actions
from scala40_env.vector import Scala40VectorEnv

__all__ = ["PlainSettings", "advantages_of", "learn", "new_network"]


@dataclass(frozen=True)
class PlainSettings:
    """Train a network by plain PPO against scripted agents."""

    preset: str = "fisca"
    """Rules to start from: fisca, casa, scala_quaranta, tavolo or megajogos."""
    seats: int = 2
    """Seats at a table."""
    set: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="FIELD=VALUE")] = ()
    """Change one field of the rules, as --set opening_points=30; may be given again."""
    opponent: str = "greedy"
    """Who sits on the other seats."""
    out: Path = Path("plain.npz")
    """The checkpoint that is written at the end, or when Ctrl-C is pressed."""
    seed: int = 0
    """Decides everything; on a CPU the same seed gives the same bytes."""
    device: str = "auto"
    """Where it learns: auto (a GPU if there is one), cpu or cuda."""
    threads: int = 0
    """Threads of PyTorch; 0: one for each core."""
    bf16: bool = False
    """Run the network in bfloat16 where PyTorch's autocast thinks it safe."""
    compile: bool = False
    """Compile the network first; takes a minute, and a C++ compiler on CPUs."""

    size: str = "small"
    """Size of the network: small, medium or large."""
    decisions: int = 1_000_000
    """How many decisions to learn from."""
    envs: int = 256
    """Games beside each other."""
    steps: int = 32
    """Decisions of each in a rollout."""
    batch_size: int = 2048
    """Decisions of a step of learning; divides those of a rollout."""
    epochs: int = 4
    """How often an update goes through its decisions."""
    learning_rate: float = 5e-4
    """At the first update; a straight line takes it to zero at the last."""
    discount: float = 1.0
    """Gamma."""
    decay: float = 0.95
    """Lambda of the advantages."""
    clip: float = 0.2
    """How far the probability of an action may move in an update."""
    entropy: float = 0.003
    """Bonus for entropy."""
    value: float = 0.5
    """Weight of the value's error."""
    max_grad_norm: float = 0.5
    """Longer gradients are cut to this."""
    reward_scale: float = 4.0
    """Rewards are multiplied by it."""

    def check(self) -> None:
        """Raise `BadUsage` for a value out of its range."""
        for name in ("decisions", "envs", "steps", "batch_size", "epochs"):
            if getattr(self, name) < 1:
                raise BadUsage(f"{name} = {getattr(self, name)}: allowed is 1 and more")
        if self.seed < 0 or self.threads < 0:
            raise BadUsage(f"seed = {self.seed}, threads = {self.threads}: allowed is 0 and more")
        if self.envs * self.steps % self.batch_size:
            raise BadUsage(f"batch_size = {self.batch_size}: allowed is what divides {self.envs} x {self.steps}")
        if self.device not in ("auto", "cpu", "cuda") or (self.device == "cuda" and not torch.cuda.is_available()):
            raise BadUsage(f"device = {self.device!r}: allowed are auto, cpu, and cuda where PyTorch finds a GPU")


@dataclass(frozen=True)
class Rollout:
    """Decisions in order of time: tensors (steps, envs, ...); `last_values` (envs,) are those of what comes next."""

    last_values: Tensor
    observations: Tensor
    masks: Tensor
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    rewards: Tensor
    dones: Tensor


def new_network(rules: Rules, size: str, seed: int, device: torch.device) -> CardNetwork:
    """A network that knows nothing yet."""
    torch.manual_seed(seed)
    return CardNetwork(input_layout(schema_of(rules)), num_actions(rules), size_of(size)).to(device)


def learn(settings: PlainSettings, rules: Rules, network: CardNetwork) -> Iterator[dict[str, float]]:
    """Let a network learn, and tell after each update what the curves show; its `decisions` are all so far."""
    device = next(network.parameters()).device
    optimizer = torch.optim.Adam(network.parameters(), lr=settings.learning_rate, eps=1e-5)
    think = _thinking(settings, network, device)
    env = Scala40VectorEnv(settings.envs, rules, settings.opponent, seat="rotate")
    seen = torch.from_numpy(env.reset(seed=settings.seed)[0]).to(device)
    per_rollout = settings.envs * settings.steps
    updates = -(-settings.decisions // per_rollout)
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = settings.learning_rate * (1 - update / updates)
        rollout, seen = _played(env, seen, think, settings)
        curves = _learnt(rollout, think, network, optimizer, settings)
        paid = rollout.rewards[rollout.dones] / settings.reward_scale
        yield {"decisions": (update + 1) * per_rollout, "reward": float(paid.mean()) if len(paid) else 0.0, **curves}


Thinking = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Observations (batch, size) to logits (batch, actions) and values (batch,), both float32."""


def _thinking(settings: PlainSettings, network: CardNetwork, device: torch.device) -> Thinking:
    run: Any = torch.compile(network) if settings.compile else network

    def think(observations: Tensor) -> tuple[Tensor, Tensor]:
        with torch.autocast(device.type, torch.bfloat16, enabled=settings.bf16):
            logits, values = run(observations)
        return logits.float(), values.float()

    return think


# ---------------------------------------------------------------------------------------------------------------------
# Playing


@torch.no_grad()
def _played(env: Scala40VectorEnv, seen: Tensor, think: Thinking, settings: PlainSettings) -> tuple[Rollout, Tensor]:
    """A rollout, so many steps of every game from what is seen now; and what is seen then."""
    rows, device = [], seen.device
    for _ in range(settings.steps):
        masks = torch.from_numpy(env.action_masks()).to(device)
        logits, values = think(seen)
        chosen = LegalCategorical(logits, LegalActions(masks))
        actions = chosen.sample()
        following, rewards, terminated, truncated, _ = env.step(actions.cpu().numpy())
        paid = torch.from_numpy(rewards).to(device, torch.float32) * settings.reward_scale
        done = torch.from_numpy(terminated | truncated).to(device)  # a hand is never cut short: there is its own end
        rows.append((seen, masks, actions, chosen.log_prob(actions), values, paid, done))
        seen = torch.from_numpy(following).to(device)
    columns = [torch.stack(column) for column in zip(*rows, strict=True)]
    return Rollout(think(seen)[1], *columns), seen


def advantages_of(rollout: Rollout, discount: float, decay: float) -> Tensor:
    """Generalized advantages (Schulman et al. 2016): (steps, envs)."""
    advantages = torch.zeros_like(rollout.values)
    after, then = torch.zeros_like(rollout.last_values), rollout.last_values
    for step in reversed(range(len(rollout.values))):
        goes_on = 1 - rollout.dones[step].float()
        ahead = rollout.rewards[step] + discount * goes_on * then - rollout.values[step]
        after = ahead + discount * decay * goes_on * after
        advantages[step], then = after, rollout.values[step]
    return advantages


# ---------------------------------------------------------------------------------------------------------------------
# Learning


def _learnt(
    rollout: Rollout, think: Thinking, network: CardNetwork, optimizer: torch.optim.Optimizer, settings: PlainSettings
) -> dict[str, float]:
    """Learn from a rollout; what the curves show."""
    advantages = advantages_of(rollout, settings.discount, settings.decay)
    returns = advantages + rollout.values
    columns = (rollout.observations, rollout.masks, rollout.actions, rollout.log_probs, advantages, returns)
    flat = [column.flatten(0, 1) for column in columns]
    shown: list[dict[str, float]] = []
    for _ in range(settings.epochs):
        for rows in torch.randperm(len(flat[0]), device=flat[0].device).split(settings.batch_size):
            loss, curves = _loss(think, [column[rows] for column in flat], settings)
            check_finite(loss, "an update")
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), settings.max_grad_norm)
            optimizer.step()
            shown.append(curves)
    return {name: sum(each[name] for each in shown) / len(shown) for name in shown[0]}


def _loss(think: Thinking, batch: list[Tensor], settings: PlainSettings) -> tuple[Tensor, dict[str, float]]:
    observations, masks, actions, log_probs, advantages, returns = batch
    logits, values = think(observations)
    chosen = LegalCategorical(logits, LegalActions(masks))
    ratio = (chosen.log_prob(actions) - log_probs).exp()
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
    policy_loss = -torch.minimum(advantages * ratio, advantages * clipped).mean()
    value_loss, entropy = functional.mse_loss(values, returns), chosen.entropy().mean()
    loss = policy_loss + settings.value * value_loss - settings.entropy * entropy
    kl = (ratio - 1 - ratio.log()).mean()
    shown = {"policy_loss": policy_loss, "value_loss": value_loss, "entropy": entropy, "kl": kl}
    return loss, {name: float(each.detach()) for name, each in shown.items()}


# ---------------------------------------------------------------------------------------------------------------------
# The script


def train(settings: PlainSettings) -> None:
    """Learn, show how it goes, and write the checkpoint."""
    settings.check()
    rules = hand_rules(settings.preset, settings.seats, settings.set)
    prepare_torch(settings.threads)
    gpu = settings.device == "cuda" or (settings.device == "auto" and torch.cuda.is_available())
    network = new_network(rules, settings.size, settings.seed, torch.device("cuda" if gpu else "cpu"))
    done = 0.0
    with progress_bar("decisions") as progress:
        bar = progress.add_task("learning", total=settings.decisions)
        try:
            for curves in learn(settings, rules, network):
                done = curves["decisions"]
                told = f"learning; {curves['reward']:+.3f} a hand, entropy {curves['entropy']:.2f}"
                progress.update(bar, completed=min(int(done), settings.decisions), description=told)
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
    given = {key: value for key, value in dataclasses.asdict(settings).items() if key != "out"}
    command = shlex.join(["python", "-m", "experiments.ppo_torch", *sys.argv[1:]])
    notes = {"command": command, "settings": given, "decisions": int(done), **made_by()}
    settings.out.parent.mkdir(parents=True, exist_ok=True)
    Checkpoint.of(network, rules, notes).save(settings.out)
    print(f"{int(done):,} decisions; measure it with: scala40 evaluate {shlex.quote(str(settings.out))}")


def main() -> int:
    """Run the script; returns its exit code."""
    settings = tyro.cli(PlainSettings, config=(tyro.conf.FlagCreatePairsOff,), description=__doc__)
    try:
        train(settings)
    except (AgentError, Scala40Error) as error:
        return complain("ppo_torch", error, Exit.BAD_INPUT)
    except OSError as error:
        return complain("ppo_torch", error, Exit.FAILED)
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
