"""`ppo`: plays the weights that come with the package, or a checkpoint of your own.

``ppo`` takes the weights for the rules at hand, ``ppo:NAME`` those of a name in the index, ``ppo:PATH`` a file; with
``,sample`` behind it, it draws its actions by their probabilities instead of playing the likeliest.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from agents.base import Agent, AgentError
from agents.kernels.decisions import look_at_views
from agents.ppo.checkpoint import Checkpoint, CheckpointError, check_same_rules, differences_of
from agents.ppo.distribution import LegalActions, LegalCategorical
from scala40_env.kernels.state import GAME
from scala40_env.observation import schema_of
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import shown
from scala40_env.rules.moves import num_actions

if TYPE_CHECKING:
    from scala40_env.rules.view import View

__all__ = ["WEIGHTS", "PPOAgent", "Player", "make_ppo", "shipped"]

WEIGHTS = Path(__file__).parent / "weights"
"""Where the weights lie that come with the package, and ``index.json``: ``{name: {"file": ..., "rules": {...}}}``."""

_SAMPLE = ",sample"
#: Rows that go through the network at once: its numbers stay in the cache of a CPU.
_ROWS = 256


class Network(Protocol):
    """What can play: logits (n, actions) for observations (n, size)."""

    def logits(self, observations: torch.Tensor) -> torch.Tensor:
        """For every row the logits of all actions."""

    def eval(self) -> Any:
        """Get ready to play."""


class Player:
    """A network that plays: the actions for arrays of records.

    Args:
        network: whose logits decide.
        rules: of the games.
    """

    def __init__(self, network: Network, rules: Rules) -> None:
        network.eval()
        self._network = network
        self._schema, self._actions = schema_of(rules), num_actions(rules)

    def look(self, views: NDArray[np.void], seats: NDArray[np.int64]) -> tuple[NDArray[np.int8], NDArray[np.uint8]]:
        """What ``seats`` see in records, and masks of what they may do: int8[n, size], uint8[n, actions]."""
        observations = self._schema.empty(len(views))
        packed = np.zeros((len(views), -(-self._actions // 8)), np.uint8)
        look_at_views(views, seats, self._schema.layout, observations, packed)
        return observations, np.unpackbits(packed, axis=1, count=self._actions)

    def choose(
        self, observations: NDArray[np.int8], masks: NDArray[np.uint8], uniform: NDArray[np.float32] | None
    ) -> NDArray[np.int64]:
        """An action for each row: the likeliest, or the one that a number from 0 to below 1 draws.

        The network is asked only where there is a choice. Raises `ValueError` for a row without a legal action.
        """
        actions, legal = masks.argmax(axis=1), masks.sum(axis=1, dtype=np.int64)
        if not legal.all():
            raise ValueError(f"row {int(legal.argmin())} of the masks has no legal action")
        rows = np.flatnonzero(legal > 1)
        for first in range(0, len(rows), _ROWS):
            part = rows[first : first + _ROWS]
            actions[part] = self._asked(observations[part], masks[part], None if uniform is None else uniform[part])
        return actions

    def _asked(
        self, observations: NDArray[np.int8], masks: NDArray[np.uint8], uniform: NDArray[np.float32] | None
    ) -> NDArray[np.int64]:
        with torch.inference_mode():
            logits = self._network.logits(torch.from_numpy(observations))
            if uniform is None:
                return np.where(masks, logits.numpy(), -np.inf).argmax(axis=1)
            chosen = LegalCategorical(logits, LegalActions(torch.from_numpy(masks)))
            actions: NDArray[np.int64] = chosen.sample(torch.from_numpy(uniform)).numpy()
        return actions


class PPOAgent(Agent):
    """Plays by a network.

    Args:
        checkpoint: what it plays; None: the weights that come with the package for the rules at hand.
        name: what tables and records call it.
        sample: draw the actions by their probabilities instead of playing the likeliest.
    """

    batch_games = _ROWS
    mass_play = True

    def __init__(self, checkpoint: Checkpoint | None = None, name: str = "ppo", sample: bool = False) -> None:
        self.name, self.sample = name, sample
        self._checkpoint = checkpoint
        self._network: tuple[Network, Rules] | None = None
        self._players: dict[Rules, Player] = {}

    @classmethod
    def of(cls, network: Network, rules: Rules, name: str) -> PPOAgent:
        """An agent that plays a network that is no checkpoint's, by these rules."""
        agent = cls(None, name)
        agent._network = network, rules
        return agent

    def check_rules(self, rules: Rules) -> None:
        """Raise `AgentError` if there is no network for these rules; it says what differs."""
        self._player(rules)

    def act(self, view: View, rng: np.random.Generator) -> int:
        """The action in a view."""
        return int(self.act_batch([view], [rng])[0])

    def act_batch(self, views: Sequence[View], rngs: Sequence[np.random.Generator]) -> Sequence[int]:
        """The actions for views, all of the same rules; raises `AgentError` for a seat with nothing to choose."""
        if not views:
            return []
        for view in views:
            if not view.on_move:
                raise AgentError(f"seat {view.seat} is not on move", self.name)
        player = self._player(views[0].rules)
        # joined as bytes: NumPy copies records field by field
        records = np.frombuffer(b"".join(view.state.tobytes() for view in views), GAME)
        seen = player.look(records, np.array([view.seat for view in views], np.int64))
        uniform = np.array([rng.random(dtype=np.float32) for rng in rngs], np.float32) if self.sample else None
        actions: list[int] = player.choose(*seen, uniform).tolist()
        return actions

    def _player(self, rules: Rules) -> Player:
        if rules not in self._players:
            self._players[rules] = Player(self._fitting(rules), rules)
        return self._players[rules]

    def _fitting(self, rules: Rules) -> Network:
        """The network for these rules. Raises `AgentError` if there is none."""
        if self._network is not None:
            network, there = self._network
            check_same_rules(there, rules, f"agent {shown(self.name)}: its network")
            return network
        return self.checkpoint_for(rules).network()

    def checkpoint_for(self, rules: Rules) -> Checkpoint:
        """The checkpoint that it plays by these rules. Raises `AgentError` if there is none."""
        checkpoint = _shipped_for(rules) if self._checkpoint is None else self._checkpoint
        checkpoint.check_rules(rules, f"agent {shown(self.name)}: its checkpoint")
        return checkpoint


# ---------------------------------------------------------------------------------------------------------------------
# By name


def make_ppo(text: str | None = None) -> PPOAgent:
    """The agent of ``ppo:text``. Raises `AgentError`."""
    name = "ppo" if text is None else f"ppo:{text}"
    given = text or ""
    sample = f",{given}".endswith(_SAMPLE)
    given = given[: max(len(given) - len(_SAMPLE), 0)] if sample else given
    if not given:
        return PPOAgent(None, name, sample)
    return PPOAgent(_named(given), name, sample)


def _named(given: str) -> Checkpoint:
    index = shipped()
    if given in index:
        return _loaded(given)
    path = Path(given)
    if path.suffix != ".npz" and not path.exists():
        raise CheckpointError(f"{shown(given)} is neither a file nor one of the weights: {_listed()}")
    return Checkpoint.load(path)


@lru_cache
def shipped() -> dict[str, Rules]:
    """The weights that come with the package: their rules, by name."""
    index = WEIGHTS / "index.json"
    if not index.exists():
        return {}
    found: dict[str, Rules] = {
        name: Rules.from_dict(entry["rules"]) for name, entry in json.loads(index.read_text()).items()
    }
    return found


@lru_cache
def _loaded(name: str) -> Checkpoint:
    files = json.loads((WEIGHTS / "index.json").read_text())
    return Checkpoint.load(WEIGHTS / files[name]["file"])


def _listed() -> str:
    return ", ".join(f"{name} (for {rules!r})" for name, rules in shipped().items()) or "none come with this version"


def _shipped_for(rules: Rules) -> Checkpoint:
    for name, those in shipped().items():
        if not differences_of(those, rules):
            return _loaded(name)
    raise AgentError(f"ppo has no weights for {rules!r}; there are: {_listed()}; ppo:PATH plays a checkpoint")
