"""Examples to clone: decisions of a scripted agent, made in kernels as fast as a learner can read them.

Nothing is stored: example number ``i`` of a seed is the same whenever it is asked for, so a run that goes on needs only
the number of the hand that it has reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import Agent, AgentError, KernelAgent
from agents.kernels.decisions import NOISE_PARTS, teach
from scala40_env import Rules
from scala40_env.kernels.rewards import REWARD_NAMES
from scala40_env.kernels.state import GAME
from scala40_env.observation import schema_of
from scala40_env.rules.moves import num_actions
from scala40_env.rules.reading import new_games

__all__ = ["Examples", "TeacherStream", "kernel_rows", "unpacked"]

#: Hands asked of a kernel at once, at most: there is a number for the end of each.
_MOST_HANDS = 1 << 16
#: Decisions of the longest hand that there is room for at least.
_LONGEST_HAND = 4096


@dataclass(frozen=True, eq=False)
class Examples:
    """Decisions with more than one legal action, and what was done there.

    Attributes: `observations` int8[n, size]; `masks` uint8[n, bytes], packed; `actions` int64[n]; `returns` float32[n],
    what the hand brought to who decided. A teacher that says what every move is worth gives more: `candidates`
    int64[n, most], actions, filled up with -1, and their `worths` float32[n, most], in units of reward.
    """

    observations: NDArray[np.int8]
    masks: NDArray[np.uint8]
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]
    candidates: NDArray[np.int64] | None = None
    worths: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.actions)

    def take(self, rows: NDArray[np.int64] | slice) -> Examples:
        """Some of them."""
        values: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        taken: dict[str, Any] = {name: None if value is None else value[rows] for name, value in values.items()}
        return Examples(**taken)

    def batches(self, size: int, rng: np.random.Generator) -> Iterator[Examples]:
        """All of them in another order, in batches of this size; what is left over at the end is left out."""
        order = rng.permutation(len(self))
        for first in range(0, len(self) - size + 1, size):
            yield self.take(order[first : first + size])


def unpacked(masks: NDArray[np.uint8], actions: int) -> NDArray[np.uint8]:
    """Packed masks as uint8[n, actions] of zeros and ones."""
    return np.unpackbits(masks, axis=1, count=actions)


def kernel_rows(agents: Sequence[Agent]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of these agents' kernels, and their weights. Raises `AgentError` for one that is no kernel."""
    kernels = []
    for agent in agents:
        if not isinstance(agent, KernelAgent):
            raise AgentError("is no kernel, so it can't play inside one", agent.name)
        kernels.append(agent)
    return np.array([one.kernel_id for one in kernels], np.int64), np.array([one.weights for one in kernels])


class TeacherStream:
    """The decisions of a teacher in hands that go on for ever.

    Args:
        rules: of the hands.
        teacher: whose decisions are given; a kernel. Raises `AgentError` otherwise, or if it can't play the rules.
        players: others who play too, so that it also decides in positions that it would not get into; kernels.
        noise: in how many of all decisions (from 0 to 1) any legal move is played instead; the teacher's is given.
        seed: decides everything.
        reward: what `returns` are; a name of `scala40_env.rewards.REWARDS`.

    Attributes: `hand`, the number of the next hand; set it to go on from there.
    """

    def __init__(
        self,
        rules: Rules,
        teacher: Agent,
        players: Sequence[Agent] = (),
        noise: float = 0.0,
        seed: int = 0,
        reward: str = "zero_sum_points",
    ) -> None:
        rules = rules.replace(match="single_hand", num_hands=None)
        for agent in (teacher, *players):
            agent.check_rules(rules)
        self.rules, self.hand = rules, 0
        self._kinds, self._weights = kernel_rows([teacher, *players])
        self._noise, self._seed, self._pays = round(noise * NOISE_PARTS), np.uint64(seed), REWARD_NAMES.index(reward)
        self._schema, self._bytes = schema_of(rules), -(-num_actions(rules) // 8)
        self._games, self._views = new_games(rules, 0), np.zeros(1, GAME)

    def read(self, count: int) -> Examples:
        """The next whole hands that fit into so many decisions (4,096 at least)."""
        n = max(count, _LONGEST_HAND)
        observations, masks = np.zeros((n, self._schema.size), np.int8), np.zeros((n, self._bytes), np.uint8)
        actions, returns = np.zeros(n, np.int16), np.zeros(n, np.float32)
        ends = np.zeros(_MOST_HANDS, np.int64)
        hands = int(
            teach(
                *(self._games, self._views, self._seed, self.hand, self._kinds, self._weights, self._noise),
                *(self._pays, self._schema.layout, observations, masks, actions, returns, ends),
            )
        )
        self.hand += hands
        end = int(ends[hands - 1]) if hands else 0
        return Examples(observations[:end], masks[:end], actions[:end].astype(np.int64), returns[:end])
