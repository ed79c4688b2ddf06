"""Rewards: what a hand that has just ended is worth to each seat.

A reward is a function of the outcome of a hand, and nothing else: no shaping, nothing inside a hand. The environments
take one by name or as any callable::

    def reward(outcome: HandOutcome) -> "float64, shape (num_players,)": ...

=================  ====================================================================================================
`zero_sum_points`  the mean charge of the other sides minus one's own, over 100 (default)
`negative_points`  minus one's own charge, over 100
`win_loss`         1 for the side that closed the hand, the others share -1; nobody gets anything if nobody closed
`placement`        1 for the lowest charge of the hand down to -1 for the highest, evenly spaced; equals share
`points_and_win`   `zero_sum_points`, and half of `win_loss`: of two, closing counts 100 points more than not closing
`match_win_loss`   only at the end: 1 to the side that wins the match, the others share -1, each when it goes out
=================  ====================================================================================================

A *side* is a team, or a seat where everybody plays alone; every member gets its side's reward. Seats that did not play
the hand get 0. All but `negative_points` sum to zero over a hand (`match_win_loss`: over a match that is played out).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scala40_env.kernels.state import CLOSINGS, MATCH_OVER, NONE
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import Scala40Error, shown, suggestion

__all__ = [
    "REWARDS",
    "ZERO_SUM",
    "BadReward",
    "HandOutcome",
    "RewardFunction",
    "match_win_loss",
    "negative_points",
    "outcome_of",
    "pay",
    "placement",
    "points_and_win",
    "reward_function",
    "win_loss",
    "zero_sum_points",
]

SCALE = 100.0
"""Points are divided by this: a hand's charges are of the order of a hundred, and learners want numbers near one."""


class BadReward(Scala40Error):
    """A reward that does not exist, or a function that does not give a finite number for each seat."""


@dataclass(frozen=True, slots=True, eq=False)
class HandOutcome:
    """How a hand ended. Arrays are by seat, of length `rules.num_players`.

    Attributes:
        rules: the rules of the match.
        hand_points: int64, what the hand charged each seat itself; the closer's are 0 less any bonus.
        scores: int64, the totals with it; every member of a team shows the team's.
        played: bool, who played this hand; the others had been eliminated before.
        eliminated: bool, who went out of the match with this hand.
        winner: the seat that closed, None if the hand was abandoned.
        closing: ``"normal"``, ``"in_hand"``, or ``"none"`` (abandoned).
        match_over: is the match over too?
        champions: bool, who has won the match, if it is over.
    """

    rules: Rules
    hand_points: NDArray[np.int64]
    scores: NDArray[np.int64]
    played: NDArray[np.bool_]
    eliminated: NDArray[np.bool_]
    winner: int | None
    closing: str
    match_over: bool
    champions: NDArray[np.bool_]

    @property
    def num_sides(self) -> int:
        """How many sides sit at the table: teams, or seats where everybody plays alone."""
        return self.rules.num_players // self.rules.team_size

    def by_side(self, seats: NDArray[Any]) -> NDArray[Any]:
        """An array by seat as rows of sides: (num_players,) -> (num_sides, team_size); seats alternate."""
        return seats.reshape(self.rules.team_size, self.num_sides).T

    def by_seat(self, sides: NDArray[Any]) -> NDArray[Any]:
        """An array by side as one by seat: (num_sides,) -> (num_players,)."""
        return np.tile(sides, self.rules.team_size)

    @property
    def sides_played(self) -> NDArray[np.bool_]:
        """Which sides played this hand: bool, shape (num_sides,). Teams go out as one."""
        return self.played[: self.num_sides]

    @property
    def side_points(self) -> NDArray[np.int64]:
        """What the hand charged each side: int64, shape (num_sides,), as `team_score` says."""
        members = self.by_side(self.hand_points)
        if self.rules.team_score == "sum":
            return np.asarray(members.sum(axis=1), np.int64)
        # The closer's entry is its bonus: that is taken off the side's charge, and the closer itself is charged 0.
        return np.asarray(members.clip(min=0).max(axis=1) + members.clip(max=0).sum(axis=1), np.int64)


RewardFunction = Callable[[HandOutcome], ArrayLike]


def zero_sum_points(outcome: HandOutcome) -> NDArray[np.float64]:
    """The mean charge of the other sides that played minus one's own, over 100: float64, shape (num_players,)."""
    played, points = outcome.sides_played, outcome.side_points
    n = int(played.sum())
    total = int(points[played].sum())
    # (total - own) / (n - 1) - own, over one denominator: integers, so that the sum is zero but for rounding
    sides = np.where(played, total - n * points, 0) / (max(n - 1, 1) * SCALE)
    return outcome.by_seat(sides)


def negative_points(outcome: HandOutcome) -> NDArray[np.float64]:
    """Minus one's side's charge, over 100: float64, shape (num_players,)."""
    return outcome.by_seat(np.where(outcome.sides_played, -outcome.side_points, 0) / SCALE)


def win_loss(outcome: HandOutcome) -> NDArray[np.float64]:
    """1 for the side that closed, the others share -1: float64, shape (num_players,); zeros if nobody closed."""
    if outcome.winner is None:
        return np.zeros(outcome.rules.num_players)
    won = np.arange(outcome.num_sides) == outcome.winner % outcome.num_sides
    others = outcome.sides_played & ~won
    return outcome.by_seat(won - others / max(int(others.sum()), 1))


def points_and_win(outcome: HandOutcome) -> NDArray[np.float64]:
    """`zero_sum_points` and half of `win_loss`, where hands won matter as much as points: float64, (num_players,)."""
    return zero_sum_points(outcome) + 0.5 * win_loss(outcome)


def placement(outcome: HandOutcome) -> NDArray[np.float64]:
    """The place by this hand's charge, from 1 (lowest) to -1 (highest): float64, shape (num_players,); equals share."""
    played, points = outcome.sides_played, outcome.side_points
    ranked = points[played]
    below = (ranked[:, None] < ranked[None, :]).sum(axis=1)
    above = (ranked[:, None] > ranked[None, :]).sum(axis=1)
    sides = np.zeros(outcome.num_sides)
    sides[played] = (below - above) / max(len(ranked) - 1, 1)
    return outcome.by_seat(sides)


def match_win_loss(outcome: HandOutcome) -> NDArray[np.float64]:
    """1 for the side that wins the match, the others share -1 as they go out: float64, shape (num_players,).

    For a hand inside the match it is -1 / (sides - 1) for who goes out with it and 0 for the others. Winners of a
    tied match share the 1.
    """
    n = outcome.num_sides
    champions, out = outcome.champions[:n], outcome.eliminated[:n]
    if outcome.match_over:
        out = outcome.sides_played & ~champions
    won = champions / max(int(champions.sum()), 1)
    # Where everybody shares the win there is nothing to lose, and nothing to win either.
    return outcome.by_seat(np.zeros(n) if champions.all() else won - out / _losers(outcome))


def _losers(outcome: HandOutcome) -> int:
    """How many sides lose the match in the end; one wins where it is still open."""
    champions = int(outcome.champions[: outcome.num_sides].sum())
    return outcome.num_sides - max(champions, 1)


REWARDS: dict[str, Callable[[HandOutcome], NDArray[np.float64]]] = {
    each.__name__: each
    for each in (zero_sum_points, negative_points, win_loss, placement, match_win_loss, points_and_win)
}
"""The rewards by name; add your own to have it by name too."""

ZERO_SUM = frozenset({"zero_sum_points", "win_loss", "placement", "points_and_win"})
"""Those that sum to zero over the seats of every single hand."""


def reward_function(reward: str | RewardFunction) -> RewardFunction:
    """The reward of a name in `REWARDS`, or the function itself. Raises `BadReward` for anything else."""
    if callable(reward):
        return reward
    if isinstance(reward, str) and reward in REWARDS:
        return REWARDS[reward]
    names = tuple(REWARDS)
    raise BadReward(
        f"reward = {shown(reward)}: allowed are {', '.join(names)}, or a function of a HandOutcome"
        f"{suggestion(str(reward), names)}"
    )


def pay(reward: RewardFunction, outcome: HandOutcome) -> list[float]:
    """The rewards of a hand, checked: one plain float for each seat. Raises `BadReward`."""
    given = reward(outcome)
    try:
        values = np.asarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise BadReward(_not_numbers(reward, given, outcome)) from error
    if values.shape != (outcome.rules.num_players,) or not np.isfinite(values).all():
        raise BadReward(_not_numbers(reward, given, outcome))
    paid: list[float] = values.tolist()
    return paid


def _not_numbers(reward: RewardFunction, given: object, outcome: HandOutcome) -> str:
    name = getattr(reward, "__name__", shown(reward))
    return f"reward {name} gave {shown(given)}: it has to give {outcome.rules.num_players} finite numbers, one a seat"


def outcome_of(games: NDArray[Any], i: int, rules: Rules) -> HandOutcome:
    """The outcome of the hand that is over in game ``i`` of an array of records (dtype `kernels.state.GAME`)."""
    game, n = games[i], rules.num_players
    winner = int(game["winner"])
    # Who played holds cards still, or closed: the seats that were out before were dealt none.
    played = (game["hand_n"][:n] > 0) | (np.arange(n) == winner)
    return HandOutcome(
        rules=rules,
        hand_points=game["hand_points"][:n].astype(np.int64),
        scores=game["scores"][:n].astype(np.int64),
        played=played,
        eliminated=played & (game["out"][:n] != 0),
        winner=None if winner == NONE else winner,
        closing=CLOSINGS[int(game["closing"])],
        match_over=int(game["phase"]) == MATCH_OVER,
        champions=game["champion"][:n] != 0,
    )
