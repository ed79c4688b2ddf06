"""What a run leaves for people: curves, evaluations on fixed deals, the best network, and a line now and then."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from agents import Agent
from agents.ppo.agent import PPOAgent
from agents.ppo.checkpoint import Checkpoint
from agents.ppo.network import CardNetwork
from experiments.training.evaluation import Strength, measure
from experiments.training.run_folder import RunFolder
from scala40_env import Rules

__all__ = ["Journal"]

#: Deals of evaluations have a seed of their own, the same in every run.
EVALUATION_SEED = 4040


class Journal:
    """The journal of a run.

    Args:
        folder: of the run.
        rules: of the hands.
        judges: whom the network is measured against; the best one has the best points against the last of them.
        deals: of an evaluation, each from all seats.
        notes: what every checkpoint tells of how it was made.
        quiet: lines go to stderr.

    Attributes: `evaluations`, as JSON takes them; `best`, by how many points a hand the best network was ahead.
    """

    def __init__(
        self,
        folder: RunFolder,
        rules: Rules,
        judges: Sequence[Agent],
        deals: int,
        notes: Mapping[str, Any],
        quiet: bool,
    ) -> None:
        self.folder, self._rules, self._judges, self._deals = folder, rules, judges, deals
        self._notes, self._quiet = notes, quiet
        self.evaluations: list[dict[str, Any]] = []
        self.best = float("-inf")
        self._curves: Any = None

    def begin(self, place: int) -> None:
        """Begin to draw curves; what is there of them behind this place is drawn anew."""
        self._curves = SummaryWriter(str(self.folder.path / "curves"), purge_step=place)

    def draw(self, place: int, group: str, values: Mapping[str, float]) -> None:
        """Go on with a group of curves."""
        for name, value in values.items():
            self._curves.add_scalar(f"{group}/{name}", float(value), place)

    def say(self, text: str) -> None:
        """Print a line."""
        print(text, file=sys.stderr if self._quiet else sys.stdout, flush=True)

    def evaluate(self, network: CardNetwork, place: int, decisions: int) -> None:
        """Measure the network on the fixed deals, and keep it if it is the best so far."""
        checkpoint = Checkpoint.of(network, self._rules)
        player = PPOAgent(checkpoint)
        found = [measure(player, judge, self._rules, self._deals, EVALUATION_SEED) for judge in self._judges]
        # how long a move takes differs from run to run, and the same run is the same file
        told = [{key: value for key, value in one.as_json().items() if key != "ms"} for one in found]
        self.evaluations.append({"place": place, "decisions": decisions, "results": told})
        better = found[-1].margin > self.best
        self.best = max(self.best, found[-1].margin)
        notes = {**self._notes, "decisions": decisions, "evaluation": told}
        self.folder.save_checkpoint(replace(checkpoint, notes=notes), better, place)
        for one in found:
            self._tell(place, one)

    def _tell(self, place: int, one: Strength) -> None:
        self.draw(place, f"evaluation against {one.against}", {"win share": one.win_share, "margin": one.margin})
        self.say(
            f"{place:>12,} decisions: {one.win_share:.1%} against {one.against}, "
            f"{one.points:.1f} points to {one.others_points:.1f}"
        )

    def told_last(self) -> str:
        """The result against the last of the judges, in a few words; empty before the first evaluation."""
        if not self.evaluations:
            return ""
        last = self.evaluations[-1]["results"][-1]
        return f"{last['win_share']:.1%} against {last['against']}"

    def save(self, state: Mapping[str, Any]) -> None:
        """Save the run's state, and this journal with it."""
        self._curves.flush()
        self.folder.save({**state, "journal": [self.evaluations, self.best]}, self.evaluations)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `save` has saved."""
        self.evaluations, self.best = state["journal"]

    def close(self) -> None:
        """Draw no more."""
        self._curves.close()
