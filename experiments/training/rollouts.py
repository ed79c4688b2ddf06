"""Rollouts: the learner's decisions, seat by seat, in hands played to their ends.

A trajectory is what one seat decides in one hand; its only reward is what the hand brings to that seat, whoever closes
it. Decisions of hands that still go on are kept for the next rollout, so every return is one that was really paid.
Decisions with one legal action are played in the kernel and appear nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.kernels.selfplay import compact_rollout, estimate_advantages
from experiments.training.games import TrainingGames
from experiments.training.teacher import unpacked
from scala40_env.kernels.state import MAX_SEATS, NONE

__all__ = ["Comparisons", "HandRollouts", "HandSamples"]

_GOES_ON = -2


class Comparisons(NamedTuple):
    """What the likely moves of decisions come to, beside each other: rows of (n, most).

    `places`: which of the legal actions, in ascending order; `log_probs` when they were drawn; `shares`, by their
    probabilities, which add up to 1 in each row, 0 where there is no move; `gains`: how much better the hand then ended
    than in the mean of the row.
    """

    places: Any
    log_probs: Any
    shares: Any
    gains: Any


class HandSamples(NamedTuple):
    """A batch as the update takes it.

    The fields of sb3-contrib's `MaskableRolloutBufferSamples`, `hidden`, and `compared`, whose width is 0 where no
    moves are compared.
    """

    observations: Tensor
    actions: Tensor
    old_values: Tensor
    old_log_prob: Tensor
    advantages: Tensor
    returns: Tensor
    action_masks: Tensor
    hidden: Tensor
    compared: Comparisons


class HandRollouts:
    """Rows of decisions in order of time, and which of them belong to one trajectory.

    Args:
        games: whose decisions they are.
        discount, decay: gamma and lambda of the advantages.
        compared: how many moves of a decision are compared at most.
    """

    _COLUMNS = (
        *("observations", "masks", "hidden", "actions", "values", "log_probs"),
        *("rewards", "following", "advantages", "whole"),
        *("places", "place_log_probs", "shares", "gains"),
    )
    _COMPARED = _COLUMNS[-4:]

    def __init__(self, games: TrainingGames, discount: float, decay: float, compared: int = 0) -> None:
        self.discount, self.decay = discount, decay
        self.num_actions = games.actions
        self.size, self.num_whole = 0, 0
        self.last = np.full((games.num, MAX_SEATS), NONE, np.int64)
        self.lengths = np.zeros((games.num, MAX_SEATS), np.int64)
        self._columns: dict[str, NDArray[Any]] = {
            "observations": games.observations[:0].copy(),
            "masks": games.masks[:0].copy(),
            "hidden": games.hidden[:0].copy(),
            "actions": np.zeros(0, np.int64),
            "values": np.zeros(0, np.float32),
            "log_probs": np.zeros(0, np.float32),
            "rewards": np.zeros(0, np.float32),
            "following": np.zeros(0, np.int64),
            "advantages": np.zeros(0, np.float32),
            "whole": np.zeros(0, np.bool_),
            "places": np.zeros((0, compared), np.int64),
            "place_log_probs": np.zeros((0, compared), np.float32),
            "shares": np.zeros((0, compared), np.float32),
            "gains": np.zeros((0, compared), np.float32),
        }

    def column(self, name: str) -> NDArray[Any]:
        """A column of all rows: a view."""
        return self._columns[name][: self.size]

    def add(
        self,
        games: TrainingGames,
        which: NDArray[np.int64],
        actions: NDArray[np.int64],
        values: NDArray[np.float32],
        log_probs: NDArray[np.float32],
        compared: Comparisons | None = None,
    ) -> None:
        """Add the learner's decisions in these games, before they are played."""
        rows = np.arange(self.size, self.size + len(which))
        self._make_room(len(which))
        self.size += len(which)
        for name in ("observations", "masks", "hidden"):
            self.column(name)[rows] = getattr(games, name)[which]
        for name, values_of in (("actions", actions), ("values", values), ("log_probs", log_probs)):
            self.column(name)[rows] = values_of
        if compared is not None:
            for name, values_of in zip(self._COMPARED, compared, strict=True):
                self.column(name)[rows] = values_of
        self.column("rewards")[rows] = 0
        following, seats = self.column("following"), games.seats[which]
        before = self.last[which, seats]
        following[before[before >= 0]] = rows[before >= 0]
        following[rows] = _GOES_ON
        self.last[which, seats] = rows
        self.lengths[which, seats] += 1

    def end_hands(self, games: TrainingGames) -> None:
        """Pay the seats of the hands that the last step has ended."""
        which = np.flatnonzero(games.tables["ended"])
        at, seats = np.nonzero(self.last[which] >= 0)
        ended = which[at]
        rows = self.last[ended, seats]
        self.column("rewards")[rows] = games.tables["paid"][ended, seats]
        self.column("following")[rows] = NONE
        self.num_whole += int(self.lengths[ended, seats].sum())
        self.last[ended, seats] = NONE
        self.lengths[ended, seats] = 0

    def finish(self) -> None:
        """Estimate the advantages of all hands that are over."""
        estimate_advantages(
            self.column("following"),
            self.column("rewards"),
            self.column("values"),
            self.discount,
            self.decay,
            self.column("advantages"),
            self.column("whole"),
        )

    def drop_whole(self) -> None:
        """Forget the hands that are over: they have been learnt from."""
        kept = ~self.column("whole")
        for name in self._COLUMNS:
            if name != "following":
                self._columns[name] = self.column(name)[kept]
        following = self.column("following").copy()
        self.size = int(compact_rollout(kept, following, self.last))
        self._columns["following"] = following[: self.size]
        self.num_whole = 0

    def get(self, batch_size: int, rng: np.random.Generator, device: torch.device) -> Iterator[HandSamples]:
        """All whole hands' decisions in random order, in batches; a last one of less than half the size is left out."""
        rows = rng.permutation(np.flatnonzero(self.column("whole")))
        for first in range(0, len(rows), batch_size):
            part = rows[first : first + batch_size]
            if len(part) * 2 >= batch_size or first == 0:
                yield self._samples(part, device)

    def _samples(self, rows: NDArray[np.int64], device: torch.device) -> HandSamples:
        values, advantages = self.column("values")[rows], self.column("advantages")[rows]
        arrays = (
            *(self.column("observations")[rows], self.column("actions")[rows], values),
            *(self.column("log_probs")[rows], advantages, advantages + values),
            *(unpacked(self.column("masks")[rows], self.num_actions), self.column("hidden")[rows]),
        )
        compared = Comparisons(*(torch.from_numpy(self.column(name)[rows]).to(device) for name in self._COMPARED))
        return HandSamples._make([*(torch.from_numpy(array).to(device) for array in arrays), compared])

    def _make_room(self, count: int) -> None:
        room = len(self._columns["actions"])
        if self.size + count <= room:
            return
        more = max(self.size + count - room, room, 1024)
        for name, array in self._columns.items():
            self._columns[name] = np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])

    def state(self) -> dict[str, NDArray[Any]]:
        """All that has to be kept to go on later."""
        kept = {name: self.column(name).copy() for name in self._COLUMNS}
        return kept | {"last": self.last.copy(), "lengths": self.lengths.copy()}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from a `state` that was taken between two rollouts."""
        self._columns = {name: np.array(state[name]) for name in self._COLUMNS}
        self.size, self.num_whole = len(self._columns["actions"]), 0
        self.last, self.lengths = np.array(state["last"]), np.array(state["lengths"])
