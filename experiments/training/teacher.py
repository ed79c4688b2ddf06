"""Examples to clone: decisions of a scripted agent, made in kernels as fast as a learner can read them, or a search's.

Nothing is stored: example number ``i`` of a seed is the same whenever it is asked for, so a run that goes on needs only
the number of the hand that it has reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from agents import Agent, AgentError, KernelAgent, make
from agents.kernels.choice import EXPERT
from agents.kernels.comparisons import compare
from agents.kernels.decisions import NOISE_PARTS, teach
from agents.search import SearchAgent, Searched
from scala40_env import Rules
from scala40_env.kernels.rewards import REWARD_NAMES
from scala40_env.kernels.state import GAME, NONE
from scala40_env.observation import schema_of
from scala40_env.rules.moves import num_actions
from scala40_env.rules.reading import new_games

__all__ = [
    "LEARNT",
    "ComparisonStream",
    "Examples",
    "SearchStream",
    "Stream",
    "TeacherStream",
    "kernel_rows",
    "stream_of",
    "unpacked",
]

#: What may be learnt from a kernel: what it does, what it forecasts for candidates, how hands go on from them.
LEARNT = ("choices", "forecasts", "outcomes")

#: Hands asked of a kernel at once, at most: there is a number for the end of each.
_MOST_HANDS = 1 << 16
#: Decisions of the longest hand that there is room for at least.
_LONGEST_HAND = 4096
#: Candidates of a decision at most: whose hands are played on, and that are only forecast.
_PLAYED_ON, _FORECAST = 5, 16


@dataclass(frozen=True, eq=False)
class Examples:
    """Decisions with more than one legal action, and what was done there.

    Attributes: `observations` int8[n, size]; `masks` uint8[n, bytes], packed; `actions` int64[n]; `returns` float32[n],
    what the hand brought to who decided. A teacher that says what every move is worth gives more: `candidates`
    int64[n, most], actions, filled up with -1, and their `worths` float32[n, most], in units of reward. Where worths
    are single outcomes, `forecasts` float32[n, most] say what they were thought to be worth before.
    """

    observations: NDArray[np.int8]
    masks: NDArray[np.uint8]
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]
    candidates: NDArray[np.int64] | None = None
    worths: NDArray[np.float32] | None = None
    forecasts: NDArray[np.float32] | None = None

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

    Attributes: `hand`, the number of the next hand; set it to go on from there. `chunk`: decisions that suit a reading.
    """

    chunk: ClassVar[int] = 1 << 15

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
        self._games = new_games(rules, 0)

    def read(self, count: int) -> Examples:
        """The next whole hands that fit into so many decisions (4,096 at least)."""
        return self._read(max(count, _LONGEST_HAND), np.zeros(1, GAME))

    def read_with_views(self, count: int) -> tuple[Examples, NDArray[np.void]]:
        """The same, and the views of who decided, as records: shape (n,), dtype `GAME`."""
        views = np.zeros(max(count, _LONGEST_HAND), GAME)
        examples = self._read(len(views), views)
        return examples, views[: len(examples)]

    def _read(self, n: int, views: NDArray[np.void]) -> Examples:
        observations, masks = np.zeros((n, self._schema.size), np.int8), np.zeros((n, self._bytes), np.uint8)
        actions, returns = np.zeros(n, np.int16), np.zeros(n, np.float32)
        ends = np.zeros(_MOST_HANDS, np.int64)
        hands = int(
            teach(
                *(self._games, views, self._seed, self.hand, self._kinds, self._weights, self._noise),
                *(self._pays, self._schema.layout, observations, masks, actions, returns, ends),
            )
        )
        self.hand += hands
        end = int(ends[hands - 1]) if hands else 0
        return Examples(observations[:end], masks[:end], actions[:end].astype(np.int64), returns[:end])


class ComparisonStream:
    """What `expert` forecasts for the moves of its decisions, or how hands go on from them, in hands that it plays.

    Args:
        teacher: an `expert`. Raises `AgentError` for another agent: others forecast nothing.
        outcomes: whether hands are played on from the candidates; else their forecasts are what they are worth.
        players: others who play too; kernels. Only the teacher's decisions are given.
        bonus: points that closing the hand is worth beside what it charges, in outcomes.
        rules, noise, seed, reward, hand: as of `TeacherStream`.

    Attributes: `chunk`: decisions that suit a reading.
    """

    def __init__(
        self,
        rules: Rules,
        teacher: Agent,
        outcomes: bool,
        players: Sequence[Agent] = (),
        bonus: int = 100,
        noise: float = 0.0,
        seed: int = 0,
        reward: str = "zero_sum_points",
    ) -> None:
        if not isinstance(teacher, KernelAgent) or teacher.kernel_id != EXPERT:
            raise AgentError("forecasts nothing: forecasts and outcomes are learnt from expert alone", teacher.name)
        rules = rules.replace(match="single_hand", num_hands=None)
        for agent in (teacher, *players):
            agent.check_rules(rules)
        self.hand, self.chunk = 0, _LONGEST_HAND * (4 if outcomes else 8)
        self._kinds, self._weights = kernel_rows([teacher, *players])
        self._bonus = bonus if outcomes else NONE
        self._noise, self._seed, self._pays = round(noise * NOISE_PARTS), np.uint64(seed), REWARD_NAMES.index(reward)
        self._schema, self._bytes = schema_of(rules), -(-num_actions(rules) // 8)
        self._games, self._most = new_games(rules, 0), _PLAYED_ON if outcomes else _FORECAST

    def read(self, count: int) -> Examples:
        """The next whole hands that fit into so many decisions (4,096 at least)."""
        n = max(count, _LONGEST_HAND)
        observations, masks = np.zeros((n, self._schema.size), np.int8), np.zeros((n, self._bytes), np.uint8)
        actions, returns = np.zeros(n, np.int16), np.zeros(n, np.float32)
        candidates = np.full((n, self._most), -1, np.int64)
        forecasts, outcomes = np.zeros((2, n, self._most), np.float32)
        ends = np.zeros(_MOST_HANDS, np.int64)
        hands = int(
            compare(
                *(self._games, self._seed, self.hand, self._kinds, self._weights, self._noise, self._pays, self._bonus),
                *(self._schema.layout, observations, masks, actions, returns, candidates, forecasts, outcomes, ends),
            )
        )
        self.hand += hands
        end = int(ends[hands - 1]) if hands else 0
        noted = Examples(observations, masks, actions.astype(np.int64), returns, candidates, forecasts)
        if self._bonus != NONE:
            noted = replace(noted, worths=outcomes, forecasts=forecasts)
        return noted.take(slice(0, end))


class SearchStream:
    """What a search would do in hands that its guide plays, and what it finds all its candidates worth.

    Args:
        teacher: the search; with a budget of playouts, so that the same seed is the same examples. Raises `AgentError`
            otherwise.
        rules, noise, seed, reward, hand, chunk: as of `TeacherStream`.
    """

    chunk: ClassVar[int] = _LONGEST_HAND

    def __init__(
        self, rules: Rules, teacher: SearchAgent, noise: float = 0.0, seed: int = 0, reward: str = "zero_sum_points"
    ) -> None:
        if teacher.settings.playouts is None:
            raise AgentError("a teacher needs a budget of playouts: search:playouts=200", teacher.name)
        self._teacher, self._salt = teacher, seed.to_bytes(8, "little")
        self._stream = TeacherStream(rules, make(teacher.settings.guide), (), noise, seed, reward)

    @property
    def hand(self) -> int:
        """The number of the next hand."""
        return self._stream.hand

    @hand.setter
    def hand(self, number: int) -> None:
        self._stream.hand = number

    def read(self, count: int) -> Examples:
        """The next whole hands that fit into so many decisions (4,096 at least)."""
        examples, views = self._stream.read_with_views(count)
        found = self._teacher.search_records(views, np.array([self._key(view) for view in views], np.uint64))
        candidates, worths = _padded(found, len(examples))
        return replace(examples, actions=found.actions(), candidates=candidates, worths=worths)

    def _key(self, view: Any) -> int:
        """What the deals of a search depend on: the view alone, so that it is the same however much is read at once."""
        return int.from_bytes(blake2b(view.tobytes() + self._salt, digest_size=8).digest(), "little")


def _padded(found: Searched, n: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The actions of all candidates, filled up with -1, and what they are worth: int64[n, most], float32[n, most]."""
    values = [found.values(k) for k in range(n)]
    most = max((len(one.actions) for one in values), default=1)
    candidates, worths = np.full((n, most), -1, np.int64), np.zeros((n, most), np.float32)
    for row, one in enumerate(values):
        candidates[row, : len(one.actions)], worths[row, : len(one.actions)] = one.actions, one.means
    return candidates, worths


Stream = TeacherStream | SearchStream | ComparisonStream
"""What gives examples."""


def stream_of(
    rules: Rules,
    teacher: Agent,
    noise: float,
    seed: int,
    reward: str,
    learnt: str = "choices",
    players: Sequence[Agent] = (),
    bonus: int = 100,
) -> Stream:
    """The decisions of any teacher that there are streams for: kernels, and searches.

    ``learnt`` of a kernel is one of `LEARNT`; ``players`` and ``bonus`` are of `ComparisonStream`, and the others know
    none. Raises `AgentError` for a teacher that has none of that.
    """
    if learnt != "choices":
        return ComparisonStream(rules, teacher, learnt == "outcomes", players, bonus, noise, seed, reward)
    if isinstance(teacher, SearchAgent):
        return SearchStream(rules, teacher, noise, seed, reward)
    return TeacherStream(rules, teacher, (), noise, seed, reward)
