"""`CardPolicy`: the network as a policy of MaskablePPO; `LegalMlpPolicy`: a plain one with the cheaper distribution.

::

    from sb3_contrib import MaskablePPO
    from agents.ppo.policy import CardPolicy
    from scala40_env.sb3 import Scala40VecEnv

    env = Scala40VecEnv(256, rules={"preset": "fisca", "num_players": 2}, opponents="greedy")
    MaskablePPO(CardPolicy, env, n_steps=32, batch_size=2048, policy_kwargs={"size": "small"}).learn(100_000)
"""

from __future__ import annotations

from typing import Any

import torch
from gymnasium.spaces import Discrete
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import Tensor, nn

from agents.ppo.distribution import LegalActions, LegalCategorical
from agents.ppo.layout import layout_for_size
from agents.ppo.network import CardNetwork, NetworkSize, size_of

__all__ = ["CardPolicy", "LegalCategoricalDistribution", "LegalMlpPolicy"]


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


class LegalMlpPolicy(MaskableActorCriticPolicy):
    """The plain policy of MaskablePPO with the cheaper distribution: the same to learn, and faster."""

    def _build(self, lr_schedule: Any) -> None:
        """Make the networks and their optimizer."""
        self.action_dist = LegalCategoricalDistribution(int(self.action_space.n))
        super()._build(lr_schedule)


class CardPolicy(MaskableActorCriticPolicy):
    """Actor and critic with the trunk in common.

    Args:
        observation_space, action_space, lr_schedule: as of any policy of SB3; observations are vectors of this game.
        size: a name in `agents.ppo.network.SIZES`, or a `NetworkSize`.
        arguments: as of `MaskableActorCriticPolicy`.

    Attributes: `net`, the `CardNetwork`.
    """

    net: CardNetwork

    def __init__(
        self,
        observation_space: Any,
        action_space: Any,
        lr_schedule: Any,
        *,
        size: str | NetworkSize = "small",
        **arguments: Any,
    ) -> None:
        if not isinstance(action_space, Discrete):
            raise ValueError(f"the actions of this game are a Discrete space, not {action_space}")
        self.size = size_of(size)
        super().__init__(observation_space, action_space, lr_schedule, **arguments)

    def _build(self, lr_schedule: Any) -> None:
        """Make the network and its optimizer."""
        layout = layout_for_size(int(self.observation_space.shape[0]))
        self.action_dist = LegalCategoricalDistribution(int(self.action_space.n))
        self.net = CardNetwork(layout, int(self.action_space.n), self.size)
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions int64[batch], values (batch, 1), log-probabilities (batch,)."""
        logits, values = self.net(obs)
        distribution = self._masked(logits, action_masks)
        actions = distribution.get_actions(deterministic=deterministic)
        return actions, values[:, None], distribution.log_prob(actions)

    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Any = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Values (batch, 1), log-probabilities of the actions and entropies (batch,)."""
        logits, values = self.net(obs)
        distribution = self._masked(logits, action_masks)
        return values[:, None], distribution.log_prob(actions), distribution.entropy()

    def get_distribution(self, obs: Any, action_masks: Any = None) -> MaskableDistribution:
        """The distribution over the legal actions."""
        return self._masked(self.net.logits(obs), action_masks)

    def predict_values(self, obs: Any) -> Tensor:
        """(batch, 1)."""
        return self.net.values(obs)[:, None]

    def _masked(self, logits: Tensor, masks: Any) -> MaskableDistribution:
        distribution = self.action_dist.proba_distribution(action_logits=logits)
        distribution.apply_masking(masks)
        return distribution

    def _get_constructor_parameters(self) -> dict[str, Any]:
        data = super()._get_constructor_parameters()
        data["size"] = self.size
        return data
