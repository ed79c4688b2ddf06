"""A categorical distribution over the legal actions that never looks at the others.

The usual way sets the logits of illegal actions to -1e8 and exponentiates all of them: on a CPU those underflow, many
times slower than ordinary numbers, and so does drawing from hundreds of probabilities of zero. Here the few legal
logits of each row are gathered side by side, and everything happens on those. The mathematics are the same.
"""

from __future__ import annotations

from typing import Any

import torch
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from torch import Tensor, nn

__all__ = ["LegalActions", "LegalCategorical", "LegalCategoricalDistribution"]


class LegalActions:
    """The legal actions of a batch, row by row side by side.

    Attributes: `ids` int64[batch, most], in ascending order, filled up with 0; `there` bool[batch, most], where one is.

    Args:
        masks: (batch, actions), anything but zero is legal; every row has one.
    """

    def __init__(self, masks: Tensor) -> None:
        rows, columns = masks.nonzero(as_tuple=True)
        counts = torch.bincount(rows, minlength=len(masks))
        most = int(counts.max()) if len(counts) else 0
        if bool((counts == 0).any()):
            raise ValueError(f"row {int(counts.argmin())} of the masks has no legal action")
        starts = counts.cumsum(0) - counts
        places = torch.arange(len(rows), device=masks.device) - starts[rows]
        self.num_actions = masks.shape[1]
        self.ids = torch.zeros((len(masks), most), dtype=torch.int64, device=masks.device)
        self.ids[rows, places] = columns
        self.there = torch.arange(most, device=masks.device) < counts[:, None]


class LegalCategorical:
    """Probabilities proportional to the exponentials of the legal logits.

    Args:
        logits: (batch, actions); only those of legal actions are read.
        legal: of the same batch.

    Attributes: `log_probs` (batch, most) of `legal.ids`, 0 where there is none.
    """

    def __init__(self, logits: Tensor, legal: LegalActions) -> None:
        self.legal = legal
        given = logits.gather(1, legal.ids)
        highest = given.detach().masked_fill(~legal.there, -torch.inf).amax(1, keepdim=True)
        shifted = torch.where(legal.there, given - highest, 0.0)  # guarded: exp sees nothing but legal logits
        weights = shifted.exp() * legal.there
        self.log_probs = (shifted - weights.sum(1, keepdim=True).log()) * legal.there

    @property
    def probs(self) -> Tensor:
        """Probabilities of `legal.ids`: (batch, most), 0 where there is none."""
        return self.log_probs.exp() * self.legal.there

    def log_prob(self, actions: Tensor) -> Tensor:
        """Logarithms of the probabilities of these actions: (batch,); -inf for an illegal one."""
        same = (self.legal.ids == actions[:, None]) & self.legal.there
        found = (self.log_probs * same).sum(1)
        return torch.where(same.any(1), found, -torch.inf)

    def entropy(self) -> Tensor:
        """(batch,)."""
        return -(self.probs * self.log_probs).sum(1)

    def mode(self) -> Tensor:
        """The likeliest action, of equals the lowest number: int64[batch]."""
        best = self.log_probs.masked_fill(~self.legal.there, -torch.inf).argmax(1, keepdim=True)
        return self.legal.ids.gather(1, best)[:, 0]

    def sample(self, uniform: Tensor | None = None) -> Tensor:
        """Draw an action for each row: int64[batch]. ``uniform`` (batch,), from 0 to below 1, is drawn if not given."""
        if uniform is None:
            uniform = torch.rand(len(self.log_probs), device=self.log_probs.device)
        up_to = self.probs.cumsum(1)
        chosen = (up_to <= uniform[:, None] * up_to[:, -1:]).sum(1, keepdim=True)
        last = self.legal.there.sum(1, keepdim=True) - 1
        return self.legal.ids.gather(1, torch.minimum(chosen, last))[:, 0]

    def dense_log_probs(self) -> Tensor:
        """(batch, actions), -inf for illegal actions."""
        dense = self.log_probs.new_full((len(self.log_probs), self.legal.num_actions), -torch.inf)
        filled = torch.where(self.legal.there, self.log_probs, -torch.inf)
        return dense.scatter_reduce(1, self.legal.ids, filled, "amax")


class LegalCategoricalDistribution(MaskableDistribution):
    """`LegalCategorical` as MaskablePPO's policies take it.

    Args:
        action_dim: how many actions there are.
    """

    distribution: LegalCategorical

    def __init__(self, action_dim: int) -> None:
        super().__init__()
        self.action_dim = action_dim
        self._logits: Tensor | None = None

    def proba_distribution_net(self, latent_dim: int) -> nn.Module:
        """A layer that gives the logits."""
        return nn.Linear(latent_dim, self.action_dim)

    def proba_distribution(self, action_logits: Tensor) -> LegalCategoricalDistribution:
        """Take the logits (batch, actions); `apply_masking` has to follow."""
        self._logits = action_logits.view(-1, self.action_dim)
        return self

    def apply_masking(self, masks: Any) -> None:
        """Take the masks (batch, actions); None: everything is legal."""
        assert self._logits is not None
        if masks is None:
            masks = torch.ones_like(self._logits, dtype=torch.bool)
        given = torch.as_tensor(masks, device=self._logits.device).reshape(self._logits.shape)
        self.distribution = LegalCategorical(self._logits, LegalActions(given))

    def log_prob(self, actions: Tensor) -> Tensor:
        """(batch,)."""
        return self.distribution.log_prob(actions)

    def entropy(self) -> Tensor:
        """(batch,)."""
        return self.distribution.entropy()

    def sample(self) -> Tensor:
        """int64[batch]."""
        return self.distribution.sample()

    def mode(self) -> Tensor:
        """int64[batch]."""
        return self.distribution.mode()

    def actions_from_params(self, action_logits: Tensor, deterministic: bool = False) -> Tensor:
        """Actions where everything is legal."""
        self.proba_distribution(action_logits).apply_masking(None)
        return self.get_actions(deterministic=deterministic)

    def log_prob_from_params(self, action_logits: Tensor) -> tuple[Tensor, Tensor]:
        """The same with their log-probabilities."""
        actions = self.actions_from_params(action_logits)
        return actions, self.log_prob(actions)
