"""Cloning: the network learns to decide as a teacher does, and what a hand will bring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import cos, pi
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from agents.ppo.distribution import LegalActions, LegalCategorical
from experiments.training.averaging import WeightMeans
from experiments.training.teacher import Examples, unpacked
from scala40_env.rules.errors import Scala40Error

__all__ = [
    "CloneScore",
    "Cloner",
    "NotFinite",
    "check_finite",
    "comparison_error",
    "legal_of",
    "score_of",
    "soft_targets",
]

#: Examples of a batch where nothing is learnt.
_LOOKING = 2048
#: Candidates count in comparisons by a softmax of their forecasts over this, in units of reward.
_FORECAST_TEMPERATURE = 0.1


@dataclass(frozen=True, slots=True)
class CloneScore:
    """How well a network decides as its teacher: share of `agreement`, `cross_entropy`, `value_error` (mean square)."""

    agreement: float
    cross_entropy: float
    value_error: float


def legal_of(examples: Examples, actions: int, device: torch.device) -> LegalActions:
    """The legal actions of examples."""
    return LegalActions(torch.from_numpy(unpacked(examples.masks, actions)).to(device))


def soft_targets(examples: Examples, legal: LegalActions, temperature: float) -> Tensor:
    """What to do by the worths of all candidates: a softmax of worth / temperature; (n, most) over `legal.ids`.

    Legal actions that are no candidates get nothing.
    """
    assert examples.candidates is not None and examples.worths is not None
    device = legal.ids.device
    candidates = torch.from_numpy(examples.candidates).to(device)
    worths = torch.from_numpy(examples.worths).to(device)
    shares = torch.softmax(torch.where(candidates >= 0, worths / temperature, -torch.inf), 1)
    given = torch.zeros((len(candidates), legal.num_actions), device=device)
    given.scatter_add_(1, candidates.clamp(min=0), shares)
    return given.gather(1, legal.ids) * legal.there


def comparison_error(logits: Tensor, examples: Examples, temperature: float) -> Tensor:
    """How far the differences between candidates' logits are from those of their outcomes / temperature.

    The mean square, in the weights that the forecasts give the candidates: what is clearly worse counts little. What
    all candidates of a decision have in common, the luck of the hand, cancels out.
    """
    assert examples.candidates is not None and examples.worths is not None and examples.forecasts is not None
    candidates = torch.from_numpy(examples.candidates).to(logits.device)
    worths, forecasts = (torch.from_numpy(each).to(logits.device) for each in (examples.worths, examples.forecasts))
    there = candidates >= 0
    weights = torch.softmax(torch.where(there, forecasts / _FORECAST_TEMPERATURE, -torch.inf), 1)
    off = torch.where(there, logits.gather(1, candidates.clamp(min=0)) * temperature - worths, 0.0)
    off = off - (weights * off).sum(1, keepdim=True)
    return (weights * off.square()).sum(1).mean() / temperature


class NotFinite(Scala40Error):
    """A loss that is no number any more: whatever is learnt from it is lost."""


def check_finite(loss: Tensor, where: str) -> None:
    """Raise `NotFinite` if a loss is none to learn from."""
    if not bool(torch.isfinite(loss)):
        raise NotFinite(f"the loss is {float(loss.detach())} in {where}: try a lower learning rate, or smaller rewards")


class Cloner:
    """Adam on the cross-entropy to a teacher, plus the squared error of the value.

    Args:
        network: gives logits and values, as `CardNetwork` does.
        actions: how many there are.
        learning_rate: of the first step; it falls to a tenth along half a cosine over `steps`.
        steps: how many there will be.
        value_weight: of the value's error in the loss.
        temperature: of soft targets, in units of reward; a logit is worth so much.
        value_scale: the value learns returns multiplied by it.
        averaging: how much of its mean over the steps so far a weight keeps in a step; 0: no means are kept.

    Attributes: `means`, of the weights: those to go on with.
    """

    def __init__(
        self,
        network: nn.Module,
        actions: int,
        learning_rate: float,
        steps: int,
        value_weight: float = 0.5,
        temperature: float = 0.05,
        value_scale: float = 1.0,
        averaging: float = 0.0,
    ) -> None:
        self.means = WeightMeans(network, averaging)
        self.network, self.actions = network, actions
        self.device = next(network.parameters()).device
        self.optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate, eps=1e-5)
        self.learning_rate, self.steps, self.step = learning_rate, steps, 0
        self.value_weight, self.temperature, self.value_scale = value_weight, temperature, value_scale

    def learn(self, examples: Examples) -> float:
        """One step on these examples; returns the loss."""
        self._set_learning_rate()
        self.network.train()
        loss = self._loss(examples)
        check_finite(loss, f"cloning step {self.step}")
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        self.means.step()
        return float(loss.detach())

    def state(self) -> dict[str, Any]:
        """All that has to be kept to go on later, but for the network."""
        return {"step": self.step, "optimizer": self.optimizer.state_dict(), "means": self.means.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state`."""
        self.step = state["step"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.means.restore(state["means"])

    def _set_learning_rate(self) -> None:
        done = min(self.step / max(self.steps, 1), 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate * (0.1 + 0.9 * 0.5 * (1 + cos(pi * done)))

    def _loss(self, examples: Examples) -> Tensor:
        logits, values = self.network(torch.from_numpy(examples.observations).to(self.device))
        legal = legal_of(examples, self.actions, self.device)
        chosen = LegalCategorical(logits, legal)
        returns = torch.from_numpy(examples.returns * self.value_scale).to(self.device)
        value_error = functional.mse_loss(values, returns)
        if examples.candidates is None:
            missed = -chosen.log_prob(torch.from_numpy(examples.actions).to(self.device)).mean()
        elif examples.forecasts is None:
            missed = -(chosen.log_probs * soft_targets(examples, legal, self.temperature)).sum(1).mean()
        else:
            missed = comparison_error(logits, examples, self.temperature)
        loss: Tensor = missed + self.value_weight * value_error
        return loss


def score_of(network: nn.Module, examples: Examples, actions: int, value_scale: float = 1.0) -> CloneScore:
    """How well a network does on examples that it has not learnt from; its values are of returns times the scale."""
    device = next(network.parameters()).device
    network.eval()
    sums = np.zeros(3)
    for first in range(0, len(examples), _LOOKING):
        part = examples.take(slice(first, first + _LOOKING))
        done = torch.from_numpy(part.actions).to(device)
        with torch.no_grad():
            logits, values = network(torch.from_numpy(part.observations).to(device))
            chosen = LegalCategorical(logits, legal_of(part, actions, device))
            errors = values / value_scale - torch.from_numpy(part.returns).to(device)
            found = (chosen.mode() == done).sum(), -chosen.log_prob(done).sum(), errors.square().sum()
        sums += [float(each) for each in found]
    return CloneScore(*(sums / max(len(examples), 1)).tolist())
