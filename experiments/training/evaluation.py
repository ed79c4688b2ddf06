"""How strong a player is: the same deals from all seats against one agent at a time; and how it plays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agents import Agent
from agents.arena import Arena, HandsEnded
from experiments.league.blocks import chance_of
from experiments.league.lineups import rotations
from experiments.league.statistics import Interval, ratio_interval
from scala40_env import Rules
from scala40_env.kernels.state import CLOSED_IN_HAND, NONE

if TYPE_CHECKING:
    from scala40_env.rules.view import View

__all__ = ["Strength", "Watched", "measure"]

#: Games played at once: a batch for the network.
_GAMES = 512
_PER_DEAL = ("hands", "won", "points", "others_points")
_OUTCOMES = ("won", "lost after opening", "lost unopened", "abandoned")


class Watched(Agent):
    """An agent and how it does its work: it plays on with a legal move where that of the agent is none.

    Attributes: `decisions`, `seconds`, `illegal`.
    """

    def __init__(self, agent: Agent) -> None:
        self.name, self._agent = agent.name, agent
        self.decisions, self.seconds, self.illegal = 0, 0.0, 0

    def check_rules(self, rules: Rules) -> None:
        """Ask the agent."""
        self._agent.check_rules(rules)

    def act(self, view: View, rng: np.random.Generator) -> int:
        """The agent's action, or a legal one."""
        return int(self.act_batch([view], [rng])[0])

    def act_batch(self, views: Sequence[View], rngs: Sequence[np.random.Generator]) -> Sequence[int]:
        """The agent's actions, each of them legal."""
        began = perf_counter()
        given = [int(action) for action in self._agent.act_batch(views, rngs)]
        self.seconds += perf_counter() - began
        self.decisions += len(views)
        return [self._legal(action, view) for action, view in zip(given, views, strict=True)]

    def _legal(self, action: int, view: View) -> int:
        legal = view.legal_actions()
        if action in legal:
            return action
        self.illegal += 1
        return legal[0]


@dataclass(frozen=True, slots=True)
class Strength:
    """A player against one agent on every other seat.

    Attributes: of hands: `hands`, `win_share`, `points` charged to it and `others_points`, in the mean of a seat;
    intervals (95%, by deals) of the share, the points, and the `margin`, how many fewer it is charged. How it plays:
    `opened`, share of the hands, and `opening_lap`, mean of those; `closed_in_hand`, share of the hands that it won;
    `jokers_left` in hand, mean of hands not won; `points_by_outcome`. How it works: `illegal` moves, `ms` a decision.
    """

    against: str
    deals: int
    hands: int
    win_share: float
    win_share_ci: Interval | None
    points: float
    points_ci: Interval | None
    others_points: float
    margin: float
    margin_ci: Interval | None
    opened: float
    opening_lap: float
    closed_in_hand: float
    jokers_left: float
    points_by_outcome: dict[str, float]
    illegal: int
    ms: float

    def as_json(self) -> dict[str, Any]:
        """As JSON takes it."""
        return asdict(self)


class _Sums:
    """What is added up over the hands, by deal and altogether."""

    def __init__(self, deals: int) -> None:
        self.by_deal: dict[str, NDArray[np.float64]] = {name: np.zeros(deals) for name in _PER_DEAL}
        self.opened, self.laps, self.in_hand, self.lost, self.jokers = 0, 0, 0, 0, 0
        self.outcomes: dict[str, list[int]] = {outcome: [] for outcome in _OUTCOMES}

    def add(self, ended: HandsEnded, deals: NDArray[np.int64], seats: NDArray[np.int64]) -> None:
        """Add hands, each of a deal, with the player on one of the seats."""
        each, n = np.arange(len(deals)), ended.points.shape[1]
        points, opened, won = ended.points[each, seats], ended.opened[each, seats], ended.winner == seats
        others = (ended.points.sum(axis=1) - points) / (n - 1)
        for name, values in zip(_PER_DEAL, (1, won, points, others), strict=True):
            np.add.at(self.by_deal[name], deals, values)
        self.opened += int(opened.sum())
        self.laps += int(ended.opening_lap[each, seats].sum())
        self.in_hand += int((won & (ended.closing == CLOSED_IN_HAND)).sum())
        self.lost += int((~won).sum())
        self.jokers += int(ended.jokers[each, seats][~won].sum())
        lost = ~won & (ended.winner != NONE)
        for what, which in zip(_OUTCOMES, (won, lost & opened, lost & ~opened, ended.winner == NONE), strict=True):
            self.outcomes[what] += points[which].tolist()


def measure(
    player: Agent, against: Agent, rules: Rules, deals: int, seed: int, show: Callable[[int], None] | None = None
) -> Strength:
    """Play ``deals`` deals, one hand each, the player from every seat.

    Args:
        player: who is measured; it may draw by chance.
        against: who sits on all other seats.
        rules: of the hands; every seat for itself.
        deals: how many; the same seed gives the same ones, whoever plays.
        seed: of the deals and of all chance.
        show: is told how many deals are done.

    Raises `AgentError` for an agent that can't play by the rules, or that fails.
    """
    rules = rules.replace(match="single_hand", num_hands=None)
    watched, sums, n = Watched(player), _Sums(deals), rules.num_players
    arena = Arena(rules, [watched, against])
    seatings = np.array(rotations((0,) + (1,) * (n - 1)), np.int64)
    own_seats = (seatings == 0).argmax(axis=1)
    per_block = max(1, _GAMES // n)
    for first in range(0, deals, per_block):
        numbers = range(first, min(first + per_block, deals))
        seeds, keys = chance_of(seed, numbers, n * n)
        seating = np.tile(seatings, (len(numbers), 1))
        for ended in arena.play(seating, np.repeat(seeds, n), keys.reshape(-1, n), max_hands=1):
            sums.add(ended, first + ended.games // n, own_seats[ended.games % n])
        if show is not None:
            show(numbers[-1] + 1)
    return _strength(against.name, watched, sums, deals, seed)


def _strength(name: str, watched: Watched, sums: _Sums, deals: int, seed: int) -> Strength:
    each: dict[str, Any] = sums.by_deal
    hands, won = float(each["hands"].sum()), float(each["won"].sum())
    margin = each["others_points"] - each["points"]
    return Strength(
        against=name,
        deals=deals,
        hands=int(hands),
        win_share=won / hands,
        win_share_ci=ratio_interval(each["won"], each["hands"], seed),
        points=float(each["points"].sum() / hands),
        points_ci=ratio_interval(each["points"], each["hands"], seed),
        others_points=float(each["others_points"].sum() / hands),
        margin=float(margin.sum() / hands),
        margin_ci=ratio_interval(margin, each["hands"], seed),
        opened=sums.opened / hands,
        opening_lap=sums.laps / max(sums.opened, 1),
        closed_in_hand=sums.in_hand / max(won, 1),
        jokers_left=sums.jokers / max(sums.lost, 1),
        points_by_outcome={what: float(np.mean(points)) for what, points in sums.outcomes.items() if points},
        illegal=watched.illegal,
        ms=1000 * watched.seconds / max(watched.decisions, 1),
    )
