"""`SelfPlayPPO`: MaskablePPO whose rollouts are whole hands of several seats, against whoever sits on the others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Discrete
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from torch import Tensor, nn
from torch.nn import functional

from agents import KernelAgent
from agents.ppo.distribution import LegalActions, LegalCategorical
from agents.ppo.network import CardNetwork, HiddenCritic, NetworkSize
from agents.ppo.policy import CardPolicy
from experiments.training.cloning import check_finite
from experiments.training.games import LEARNER, Lineups, TrainingGames
from experiments.training.rollouts import Comparisons, HandRollouts, HandSamples
from scala40_env import Rules
from scala40_env.observation import schema_of
from scala40_env.rules.moves import num_actions

__all__ = ["Coefficients", "SelfPlayPPO"]

#: Moves with a smaller probability are not compared: they are hardly ever played, and move the policy as little.
_UNLIKELY = 0.01


@dataclass(frozen=True, slots=True)
class Coefficients:
    """What an update goes by, which may change from one to the next.

    Attributes: `learning_rate`, `clip`, `entropy` bonus, `value` weight, `anchor`: weight of the divergence from the
    network that training began with.
    """

    learning_rate: float
    clip: float
    entropy: float
    value: float
    anchor: float


class _NoBuffer:
    """In place of the rollout buffer that MaskablePPO would make: rollouts here have no fixed length."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        pass


class SelfPlayPPO(MaskablePPO):
    """PPO on whole hands.

    Args:
        rules: of the hands.
        size: of the network.
        games: how many are played at once.
        batch_size, n_epochs, target_kl, max_grad_norm: as of `MaskablePPO`.
        discount, decay: gamma and lambda.
        reward: a name of `scala40_env.rewards.REWARDS`.
        reward_scale: rewards are multiplied by it.
        central_critic: whether the advantages come from a critic that sees all cards.
        compared: so many of the likeliest moves of each decision are played on to the end of the hand by ``guide``,
            with the cards that lie hidden, and the policy learns from the differences instead of advantages; 0: none.
        guide: who plays on; wanted where moves are compared.
        seed: decides everything, on a CPU to the last bit.
        device: as PyTorch names it, or ``"auto"``.

    Attributes: `policy`, a `CardPolicy`; `games`; `rollouts`.

    Raises `ValueError` if moves are to be compared and nobody plays on.
    """

    def __init__(
        self,
        rules: Rules,
        size: NetworkSize,
        games: int,
        *,
        batch_size: int,
        n_epochs: int,
        target_kl: float | None = None,
        max_grad_norm: float = 0.5,
        discount: float = 1.0,
        decay: float = 0.95,
        reward: str = "zero_sum_points",
        reward_scale: float = 1.0,
        central_critic: bool = False,
        compared: int = 0,
        guide: KernelAgent | None = None,
        seed: int = 0,
        device: str = "auto",
    ) -> None:
        if compared and guide is None:
            raise ValueError(f"compared = {compared} without a guide: somebody has to play on from the moves compared")
        super().__init__(
            CardPolicy,
            None,
            n_steps=1,
            batch_size=batch_size,
            n_epochs=n_epochs,
            gamma=discount,
            gae_lambda=decay,
            target_kl=target_kl,
            max_grad_norm=max_grad_norm,
            policy_kwargs={"size": size},
            rollout_buffer_class=_NoBuffer,
            seed=seed,
            device=device,
            _init_setup_model=False,
        )
        self.observation_space, self.n_envs = schema_of(rules).space(), games
        self.action_space: Any = Discrete(num_actions(rules))
        self._setup_model()
        self.rng = np.random.default_rng(seed)
        self.rules, self.reward_scale, self.compared, self.guide = rules, reward_scale, compared, guide
        self.games = TrainingGames(rules, games, seed, reward, with_hidden=central_critic)
        self.rollouts = HandRollouts(self.games, discount, decay, compared)
        self.anchor: CardNetwork | None = None
        self.critic: HiddenCritic | None = None
        if central_critic:
            self.critic = HiddenCritic(self.network.layout, size).to(self.device)
            self.policy.optimizer.add_param_group({"params": list(self.critic.parameters())})

    @property
    def network(self) -> CardNetwork:
        """The network that learns."""
        network: CardNetwork = self.policy.net
        return network

    # -- playing ---------------------------------------------------------------------------------------------------

    def begin(self, lineups: Lineups) -> None:
        """Deal the first hands."""
        self.games.begin(lineups)

    def collect(self, decisions: int, lineups: Lineups, frozen: Mapping[int, CardNetwork]) -> list[tuple[int, float]]:
        """Play until hands with so many decisions of the learner are over.

        Args:
            decisions: how many, at least.
            lineups: of the hands that begin from now on.
            frozen: the networks of the players that are asked outside, by their row.

        Returns for every hand that ended its line-up and the mean reward of the learner's seats.
        """
        ended: list[tuple[int, float]] = []
        while self.rollouts.num_whole < decisions:
            actions = self._actions(lineups, frozen)
            self.games.step(actions, lineups)
            self.games.tables["paid"][self.games.tables["ended"] != 0] *= self.reward_scale
            ended += self._outcomes()
            self.rollouts.end_hands(self.games)
        self.rollouts.finish()
        return ended

    def _actions(self, lineups: Lineups, frozen: Mapping[int, CardNetwork]) -> NDArray[np.int64]:
        """An action for every game: the learner's are noted down."""
        asked, masks = self.games.asked, self.games.unpacked_masks()
        uniform = self.rng.random(self.games.num, dtype=np.float32)
        actions = np.zeros(self.games.num, np.int64)
        for player in np.unique(asked).tolist():
            which = np.flatnonzero(asked == player)
            network = self.network if player == LEARNER else frozen[player]
            noted = lineups if player == LEARNER else None
            actions[which] = self._ask(network, which, masks[which], uniform[which], noted)
        return actions

    def _ask(
        self,
        network: CardNetwork,
        which: NDArray[np.int64],
        masks: NDArray[np.uint8],
        uniform: NDArray[np.float32],
        noted: Lineups | None,
    ) -> NDArray[np.int64]:
        """What a network does in these games; noted down for who sits there, if they are the learner's decisions."""
        with torch.no_grad():
            seen = self._tensor(self.games.observations[which])
            logits, values = network(seen)
            chosen = LegalCategorical(logits, LegalActions(self._tensor(masks)))
            drawn = chosen.sample(self._tensor(uniform))
            if noted is not None and self.critic is not None:
                values = self.critic(seen, self._tensor(self.games.hidden[which]))
            log_probs = chosen.log_prob(drawn)
        actions: NDArray[np.int64] = drawn.cpu().numpy()
        if noted is not None:
            compared = self._compare(chosen, which, noted) if self.compared else None
            self.rollouts.add(self.games, which, actions, values.cpu().numpy(), log_probs.cpu().numpy(), compared)
            self.num_timesteps += len(which)
        return actions

    def _compare(self, chosen: LegalCategorical, which: NDArray[np.int64], lineups: Lineups) -> Comparisons:
        """Let the guide play on from the likely moves of these decisions; where there is one there is nothing to do."""
        assert self.guide is not None
        moves, places = chosen.likeliest(self.compared, _UNLIKELY)
        there, log_probs = moves >= 0, chosen.log_probs.gather(1, places)
        candidates = torch.where(there & (there.sum(1, keepdim=True) > 1), moves, -1).cpu().numpy()
        outcomes = self.reward_scale * self.games.foresee(which, candidates, lineups, self.guide)
        weights = (log_probs.exp() * there).cpu().numpy()
        shares = weights / weights.sum(axis=1, keepdims=True)
        gains = (outcomes - (shares * outcomes).sum(axis=1, keepdims=True)) * (shares > 0)
        found, room = (places.cpu().numpy(), log_probs.cpu().numpy(), shares, gains), self.compared - places.shape[1]
        return Comparisons(*(np.pad(array, ((0, 0), (0, room))) for array in found))

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self.device)

    def _outcomes(self) -> list[tuple[int, float]]:
        """The line-ups of the hands that have just ended, and what they brought to the learner, in the mean."""
        tables = self.games.tables[self.games.tables["ended"] != 0]
        if not len(tables):
            return []
        seats = self.rules.num_players
        own = tables["ended_seating"][:, :seats] == LEARNER
        means = (tables["paid"][:, :seats] * own).sum(axis=1) / own.sum(axis=1)
        return list(zip(tables["ended_lineup"].tolist(), means.tolist(), strict=True))

    # -- learning --------------------------------------------------------------------------------------------------

    def update(self, coefficients: Coefficients) -> dict[str, float]:
        """Learn from the hands that are over, and forget them; returns what the curves show."""
        self.policy.set_training_mode(True)
        for group in self.policy.optimizer.param_groups:
            group["lr"] = coefficients.learning_rate
        steps: list[dict[str, float]] = []
        done = self.rollouts.column("whole")
        returns = (self.rollouts.column("advantages") + self.rollouts.column("values"))[done]
        unexplained = self.rollouts.column("advantages")[done]
        for _ in range(self.n_epochs):
            if not self._epoch(coefficients, steps):
                break
        self.rollouts.drop_whole()
        self._n_updates += 1
        curves = {name: float(np.mean([step[name] for step in steps])) for name in steps[0]}
        curves["explained_variance"] = 1 - float(unexplained.var() / max(returns.var(), 1e-9))
        return curves | {"steps": float(len(steps)), "decisions": float(done.sum())}

    def _epoch(self, coefficients: Coefficients, steps: list[dict[str, float]]) -> bool:
        """One pass; whether to go on: not when the policy has moved too far already."""
        for samples in self.rollouts.get(self.batch_size, self.rng, self.device):
            loss, curves = self._loss(samples, coefficients)
            steps.append(curves)
            if self.target_kl is not None and curves["kl"] > 1.5 * self.target_kl:
                return False
            check_finite(loss, f"update {self._n_updates}")
            self.policy.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self._parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
        return True

    def _parameters(self) -> Sequence[Tensor]:
        return [weight for group in self.policy.optimizer.param_groups for weight in group["params"]]

    def _loss(self, samples: HandSamples, coefficients: Coefficients) -> tuple[Tensor, dict[str, float]]:
        """The loss of PPO (Schulman et al. 2017) with a bonus for entropy and a tie to the first network."""
        logits, values = self.network(samples.observations)
        chosen = LegalCategorical(logits, LegalActions(samples.action_masks))
        ratio_log = chosen.log_prob(samples.actions) - samples.old_log_prob
        ratio, entropy = ratio_log.exp(), chosen.entropy().mean()
        if self.compared:
            policy_loss = _compared_loss(samples.compared, chosen, coefficients.clip)
        else:
            advantages = samples.advantages
            advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
            policy_loss = -_clipped(ratio, advantages, coefficients.clip).mean()
        value_loss = functional.mse_loss(values, samples.returns)
        if self.critic is not None:
            central = self.critic(samples.observations, samples.hidden)
            value_loss = value_loss + functional.mse_loss(central, samples.returns)
        anchor = self._divergence(samples, chosen) if coefficients.anchor else torch.zeros(())
        loss = policy_loss + coefficients.value * value_loss - coefficients.entropy * entropy
        loss = loss + coefficients.anchor * anchor.to(loss.device)
        with torch.no_grad():
            curves = {
                "policy_loss": policy_loss.item(),
                "value_loss": value_loss.item(),
                "entropy": entropy.item(),
                "anchor": anchor.item(),
                "kl": (ratio - 1 - ratio_log).mean().item(),
                "clipped": ((ratio - 1).abs() > coefficients.clip).float().mean().item(),
            }
        return loss, curves

    def _divergence(self, samples: HandSamples, chosen: LegalCategorical) -> Tensor:
        """The mean divergence of the first network's choices from those now."""
        assert self.anchor is not None
        with torch.no_grad():
            first = LegalCategorical(self.anchor.logits(samples.observations), chosen.legal)
        return (first.probs * (first.log_probs - chosen.log_probs)).sum(1).mean()

    # -- going on later --------------------------------------------------------------------------------------------

    def training_state(self) -> dict[str, Any]:
        """All that has to be kept to go on to the last bit: tensors, numbers and texts."""
        modules = {"policy": self.network, "critic": self.critic, "anchor": self.anchor}
        return {
            "weights": {name: None if each is None else each.state_dict() for name, each in modules.items()},
            "optimizer": self.policy.optimizer.state_dict(),
            "games": _tensors(self.games.state()),
            "rollouts": _tensors(self.rollouts.state()),
            "rng": json.dumps(self.rng.bit_generator.state),
            "timesteps": self.num_timesteps,
            "updates": self._n_updates,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a `training_state`."""
        weights = state["weights"]
        self.network.load_state_dict(weights["policy"])
        if self.critic is not None:
            self.critic.load_state_dict(weights["critic"])
        if weights["anchor"] is not None:
            self.set_anchor(weights["anchor"])
        self.policy.optimizer.load_state_dict(state["optimizer"])
        self.games.restore({name: each.numpy() for name, each in state["games"].items()})
        self.rollouts.restore({name: each.numpy() for name, each in state["rollouts"].items()})
        self.rng.bit_generator.state = json.loads(state["rng"])
        self.num_timesteps, self._n_updates = state["timesteps"], state["updates"]

    def set_anchor(self, weights: Mapping[str, Tensor]) -> None:
        """Say which network the policy is tied to."""
        self.anchor = CardNetwork(self.network.layout, self.network.num_actions, self.network.size).to(self.device)
        self.anchor.load_state_dict(weights)
        self.anchor.eval()


def _clipped(ratio: Tensor, advantages: Tensor, clip: float) -> Tensor:
    """What PPO makes larger: advantages, by how much likelier moves are than when they were drawn, up to a limit."""
    return torch.minimum(advantages * ratio, advantages * ratio.clamp(1 - clip, 1 + clip))


def _compared_loss(compared: Comparisons, chosen: LegalCategorical, clip: float) -> Tensor:
    """The same where moves were compared: for each decision the mean over its likely moves instead of the one drawn."""
    ratio = (chosen.log_probs.gather(1, compared.places) - compared.log_probs).exp()
    spread = (compared.shares * compared.gains.square()).sum(1).mean().sqrt()
    return -(compared.shares * _clipped(ratio, compared.gains / (spread + 1e-8), clip)).sum(1).mean()


def _tensors(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
