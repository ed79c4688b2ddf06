"""A categorical distribution over the legal actions that never looks at the others.

The usual way sets the logits of illegal actions to -1e8 and exponentiates all of them: on a CPU those underflow, many
times slower than ordinary numbers, and so does drawing from hundreds of probabilities of zero. Here the few legal
logits of each row are gathered side by side, and everything happens on those. The mathematics are the same.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["LegalActions", "LegalCategorical"]


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

    def likeliest(self, most: int, least: float = 0.0) -> tuple[Tensor, Tensor]:
        """The likeliest actions of each row, the likeliest first.

        Args:
            most: how many at most.
            least: those with a smaller probability are left out, except for the likeliest.

        Returns actions, -1 where there is none, and their places in `log_probs`, 0 there; int64[batch, most] each.
        """
        most = min(most, self.legal.ids.shape[1])
        probs, places = self.probs.masked_fill(~self.legal.there, -1.0).topk(most, dim=1)
        there = (probs >= least) & (probs >= 0)
        there[:, 0] = True
        places = torch.where(there, places, 0)
        return torch.where(there, self.legal.ids.gather(1, places), -1), places

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
