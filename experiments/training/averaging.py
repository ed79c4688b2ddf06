"""Means of a network's weights over the steps that it learnt in: what is noise in single steps moves them less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["WeightMeans"]

#: Means are over about a tenth of the steps so far at most.
_TENTH = 10


class WeightMeans:
    """Exponential means of the weights of a network that is learning.

    Args:
        network: whose weights they are.
        kept: how much of its mean a weight keeps in a step, from 0 to 1; 0: the last weights are taken as they are.

    Attributes: `weights`, the means by name.
    """

    def __init__(self, network: nn.Module, kept: float) -> None:
        self._network, self._kept, self._steps = network, kept, 0
        self.weights: dict[str, Tensor] = {}
        self.begin()

    def begin(self) -> None:
        """Begin anew, at the weights as they are now."""
        self._steps = 0
        self.weights = {name: weight.clone() for name, weight in self._network.state_dict().items()}

    def step(self) -> None:
        """Bring the means up to date, after a step: over a tenth of the steps so far, while those are few."""
        self._steps += 1
        kept = min(self._kept, self._steps / (self._steps + _TENTH))
        with torch.no_grad():
            for name, weight in self._network.state_dict().items():
                self.weights[name].lerp_(weight, 1 - kept)

    def state(self) -> dict[str, Any]:
        """All that has to be kept to go on later."""
        return {"steps": self._steps, "weights": self.weights}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state`."""
        self._steps, self.weights = state["steps"], dict(state["weights"])
