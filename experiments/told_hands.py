"""What hidden hands cost: ``python -m experiments.told_hands --against expert --deals 250``.

A search plays the same deals from all seats twice: as it does at any table, and with the others' hands told to it. It
still does not know the stock. No player can do by guessing hands what the one does that is told them, so the second
figure is what better beliefs could bring a search at most.
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict, dataclass

import numpy as np
import tyro
from numpy.typing import NDArray

from agents import AgentError, KernelAgent, make
from agents.kernels.choice import NUM_WEIGHTS
from agents.kernels.play import EXTERNAL, play_on
from agents.search import SearchAgent
from experiments.console import BadUsage, Exit, complain, new_table, print_json, print_table, progress_bar
from experiments.league.blocks import chance_of
from experiments.league.results import provenance
from experiments.league.statistics import Interval, ratio_interval
from scala40_env import Rules
from scala40_env.kernels.engine import start_match, step
from scala40_env.kernels.state import GAME
from scala40_env.kernels.view import write_view
from scala40_env.rules.errors import Scala40Error
from scala40_env.rules.reading import new_games

#: The search's row among the agents of a game, and that of all others.
_SEARCH, _OTHERS = 0, 1
#: More actions than a hand has.
_ROOM = 4096
#: Deals played at once, and by which what is done counts.
_BLOCK = 25
#: Makes other keys of the same each time that the search is asked.
_NEXT_ASKED = 0x9E3779B97F4A7C15
#: Cards in a hand, and those that all know to be there.
_HANDS = (("one", "known_one"), ("two", "known_two"), ("jokers", "known_jokers"))


@dataclass(frozen=True)
class ToldSettings:
    """Measure what a search would win if it were told the others' hands."""

    agent: str = "search:playouts=600"
    """The search, with a budget of playouts."""
    against: tuple[str, ...] = ("expert",)
    """Scripted agents; one of them at a time has all other seats."""
    preset: str = "fisca"
    """The rules."""
    seats: int = 2
    """Seats at a table."""
    deals: int = 250
    """Deals, each played from all seats, told and not told."""
    seed: int = 0
    """Decides everything."""
    json: bool = False
    """Print one JSON object instead of the table."""


@dataclass(frozen=True, slots=True)
class Told:
    """Hands of a search against one agent: its share of those won, and how many points fewer it is charged."""

    against: str
    told: bool
    hands: int
    win_share: float
    win_share_ci: Interval | None
    margin: float
    margin_ci: Interval | None


def tell_hands(games: NDArray[np.void], i: int, view: NDArray[np.void]) -> None:
    """Write the hands of game ``i`` into a view of it (Records[1]), as cards that everybody knows to be there."""
    for held, known in _HANDS:
        view[held][0] = view[known][0] = games[held][i]


class _Table:
    """Some deals, each with the search on every seat in turn."""

    def __init__(self, rules: Rules, search: SearchAgent, other: KernelAgent, seed: int, deals: range) -> None:
        seats = rules.num_players
        seeds, keys = chance_of(seed, deals, seats * seats)
        self.keys = keys.reshape(-1, seats)
        self.seats = np.tile(np.arange(seats), len(seeds))
        self.games = np.repeat(new_games(rules, 0), len(self.seats))
        self.games["seed"] = np.repeat(seeds, seats)
        for i in range(len(self.games)):
            start_match(self.games, i)
        self.sitting = np.full((len(self.games), seats), _OTHERS, np.int64)
        self.sitting[np.arange(len(self.games)), self.seats] = _SEARCH
        self.search, self.num_seats = search, seats
        self.kinds = np.array([-1, other.kernel_id], np.int64)
        self.weights = np.zeros((2, NUM_WEIGHTS), np.int64)
        self.weights[_OTHERS] = other.weights

    def play(self, told: bool) -> None:
        """Play all hands to their ends."""
        count, one = len(self.games), np.zeros(1, GAME)
        logs, lengths = np.zeros((count, _ROOM), np.int16), np.zeros(count, np.int64)
        going, stops, turn = np.arange(count, dtype=np.int64), np.zeros(count, np.int8), 0
        while True:
            how = (self.sitting, self.kinds, self.weights, self.keys, logs, lengths, one, stops)
            play_on(self.games, going, *how)
            going = going[stops[going] == EXTERNAL]
            if not len(going):
                return
            self._ask(going, told, turn)
            turn += 1

    def _ask(self, going: NDArray[np.int64], told: bool, turn: int) -> None:
        """Let the search play its candidate in these games: its draw, or its turn to the end."""
        views = np.zeros(len(going), GAME)
        for at, i in enumerate(going.tolist()):
            write_view(self.games, i, int(self.seats[i]), views, at)
            if told:
                tell_hands(self.games, i, views[at : at + 1])
        keys = self.keys[going, self.seats[going]] + np.uint64(turn * _NEXT_ASKED % 2**64)
        found = self.search.search_records(views, keys)
        for at, i in enumerate(going.tolist()):
            for action in found.plans[at, found.picks[at]]:
                if action < 0:
                    break
                step(self.games, i, int(action))

    def sums(self) -> NDArray[np.float64]:
        """By deal: hands, hands won, points that the search was charged less than the mean of the others."""
        each = np.arange(len(self.games))
        points = self.games["hand_points"][:, : self.num_seats].astype(np.float64)
        own = points[each, self.seats]
        fewer = (points.sum(axis=1) - own) / (self.num_seats - 1) - own
        found = np.stack([np.ones(len(each)), self.games["winner"] == self.seats, fewer])
        sums: NDArray[np.float64] = found.reshape(3, -1, self.num_seats).sum(axis=2)
        return sums


def measured(settings: ToldSettings, against: str) -> list[Told]:
    """Both ways against one agent; interrupted, of the deals that were played. Raises `AgentError`, `BadUsage`."""
    rules = Rules.from_preset(settings.preset, num_players=settings.seats, match="single_hand")
    search, other = make(settings.agent), make(against)
    if not isinstance(search, SearchAgent) or search.settings.playouts is None:
        raise BadUsage(f"--agent {settings.agent}: allowed is a search with a budget of playouts, search:playouts=600")
    if not isinstance(other, KernelAgent):
        raise BadUsage(f"--against {against}: allowed is a scripted agent, as expert")
    search.check_rules(rules)
    other.check_rules(rules)
    found: dict[bool, list[NDArray[np.float64]]] = {False: [], True: []}
    with progress_bar("deals") as progress:
        bar = progress.add_task(f"against {against}", total=settings.deals)
        try:
            for first in range(0, settings.deals, _BLOCK):
                deals = range(first, min(first + _BLOCK, settings.deals))
                both = {told: _played(rules, search, other, settings.seed, deals, told) for told in found}
                for told, sums in both.items():
                    found[told].append(sums)
                progress.update(bar, completed=deals.stop)
        except KeyboardInterrupt:
            if not found[True]:
                raise
    return [_summed(against, told, np.concatenate(sums, axis=1), settings.seed) for told, sums in found.items()]


def _played(
    rules: Rules, search: SearchAgent, other: KernelAgent, seed: int, deals: range, told: bool
) -> NDArray[np.float64]:
    table = _Table(rules, search, other, seed, deals)
    table.play(told)
    return table.sums()


def _summed(against: str, told: bool, sums: NDArray[np.float64], seed: int) -> Told:
    hands, won, fewer = sums
    total = hands.sum()
    return Told(
        against=against,
        told=told,
        hands=int(total),
        win_share=float(won.sum() / total),
        win_share_ci=ratio_interval(won, hands, seed),
        margin=float(fewer.sum() / total),
        margin_ci=ratio_interval(fewer, hands, seed),
    )


def run(settings: ToldSettings) -> int:
    """Measure and print; returns the exit code."""
    if settings.deals < 2 or settings.seed < 0:
        raise BadUsage(
            f"--deals {settings.deals} --seed {settings.seed}: allowed are 2 deals and more, a seed from 0 on"
        )
    rows = [row for against in settings.against for row in measured(settings, against)]
    command = shlex.join(["python", "-m", "experiments.told_hands", *sys.argv[1:]])
    if settings.json:
        print_json({"command": command, **provenance(), "rows": [asdict(row) for row in rows]})
        return Exit.OK
    print(f"{command}\n")
    table = new_table(("against", "hidden hands", "hands", "won", "95%", "margin", "95%"), ("hands", "won", "margin"))
    for row in rows:
        share, fewer = row.win_share_ci or (0.0, 1.0), row.margin_ci or (-np.inf, np.inf)
        table.add_row(
            row.against,
            "told" if row.told else "not told",
            f"{row.hands:,}",
            f"{row.win_share:.1%}",
            f"{share[0]:.1%} to {share[1]:.1%}",
            f"{row.margin:+.2f}",
            f"{fewer[0]:+.2f} to {fewer[1]:+.2f}",
        )
    print_table(table)
    return Exit.OK


def main() -> int:
    """Measure; returns the exit code."""
    settings = tyro.cli(ToldSettings, description=__doc__)
    try:
        return run(settings)
    except (AgentError, Scala40Error) as error:
        return complain("told_hands", error, Exit.BAD_INPUT)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
