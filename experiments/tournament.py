"""`scala40 tournament`: agents play the same deals from all seats, and a table says who is better and how surely.

Every line-up plays every deal in each of its seat rotations, so that luck with cards and seats falls on all alike.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from experiments.console import BadUsage, Exit, print_json_line, progress_bar

if TYPE_CHECKING:  # the rest is imported when a tournament runs: other commands must not wait for the kernels
    from agents import Agent
    from experiments.league.blocks import BlockPlayer
    from experiments.league.results import Tally
    from experiments.league.statistics import AgentRow
    from scala40_env import Rules

#: Seconds between two writings of the results file.
_SAVE_EVERY = 1.0


@dataclass(frozen=True)
class TournamentSettings:
    """Let agents play each other on the same deals with seats rotated, and compare them."""

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT AGENT ...")]
    """Two or more: names such as greedy, or module:factory for your own. One named twice plays against itself."""
    preset: str = "fisca"
    """Rules to start from: fisca, casa, scala_quaranta, tavolo or megajogos."""
    set: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="FIELD=VALUE")] = ()
    """Change one field of the rules, as --set opening_points=30; may be given again."""
    seats: int | None = None
    """Seats at a table: as many as there are agents if left out, within what the rules allow."""
    deals: int = 1000
    """How many deals."""
    seed: int = 0
    """Decides all deals and all that agents leave to chance."""
    episode: Literal["hand", "match"] = "hand"
    """One hand a deal, or a whole match that begins with it."""
    out: Path | None = None
    """Folder for results.json and records.jsonl.gz."""
    json: bool = False
    """Print one JSON object instead of the table."""
    resume: bool = False
    """Go on with the tournament in the folder, or begin if it holds none."""
    records: bool = True
    """Keep the records of all matches in the folder."""


def run(settings: TournamentSettings) -> int:
    """Run the tournament and print its outcome; returns the exit code."""
    from agents import AgentError
    from experiments.league.results import ResultsError
    from scala40_env import Scala40Error

    try:
        play = _prepared(settings)
    except (AgentError, ResultsError, Scala40Error, OSError) as error:
        return _complain(error, Exit.BAD_INPUT)
    try:
        return play()
    except OSError as error:
        return _complain(error, Exit.FAILED)


def _complain(error: Exception, code: Exit) -> Exit:
    print(f"scala40 tournament: error: {' '.join(str(error).split())}", file=sys.stderr)
    return code


# ---------------------------------------------------------------------------------------------------------------------
# From settings to a tournament


def rules_of(settings: TournamentSettings) -> Rules:
    """The rules that the settings ask for. Raises `BadRules`, or a `ValueError` that says what clashes."""
    from scala40_env import Rules
    from scala40_env.rules.config import PRESET_MAX_PLAYERS, parse_setting

    changes: dict[str, Any] = dict(parse_setting(text) for text in settings.set)
    preset = str(changes.pop("preset", settings.preset))
    asked = settings.seats if settings.seats is not None else changes.get("num_players")
    if settings.seats is not None and changes.get("num_players", settings.seats) != settings.seats:
        raise BadUsage(f"--seats {settings.seats} and --set num_players={changes['num_players']} exclude each other")
    if asked is None:
        asked = max(2, min(len(settings.agents), PRESET_MAX_PLAYERS.get(preset, 6)))
    if settings.episode == "match":
        return Rules.from_preset(preset, **{**changes, "num_players": asked})
    if "match" in changes or "num_hands" in changes:
        raise BadUsage("--set match and --set num_hands need --episode match: an episode is one hand otherwise")
    return Rules.from_preset(preset, **{**changes, "num_players": asked, "match": "single_hand"})


def _check_numbers(settings: TournamentSettings) -> None:
    if len(settings.agents) < 2:
        raise BadUsage(f"a tournament takes two agents or more, not {len(settings.agents)}; name one twice if need be")
    if settings.deals < 1:
        raise BadUsage(f"--deals {settings.deals}: allowed is 1 and more")
    if settings.seed < 0:
        raise BadUsage(f"--seed {settings.seed}: allowed is 0 and more")
    if settings.episode not in ("hand", "match"):
        raise BadUsage(f"--episode {settings.episode}: allowed is hand or match")
    if settings.resume and settings.out is None:
        raise BadUsage("--resume needs --out: the folder to go on with")


def names_of(agents: Sequence[Agent]) -> tuple[str, ...]:
    """The names of agents, numbered where several have the same."""
    times = Counter(agent.name for agent in agents)
    seen: Counter[str] = Counter()
    names = []
    for agent in agents:
        seen[agent.name] += 1
        names.append(f"{agent.name}#{seen[agent.name]}" if times[agent.name] > 1 else agent.name)
    return tuple(names)


def command_of(settings: TournamentSettings, rules: Rules) -> str:
    """The command that plays this tournament, without what changes nothing in its results."""
    words = ["scala40", "tournament", *settings.agents, "--preset", settings.preset]
    for change in settings.set:
        words += ["--set", change]
    words += ["--seats", str(rules.num_players), "--deals", str(settings.deals)]
    words += ["--seed", str(settings.seed), "--episode", settings.episode]
    return shlex.join(words if settings.records else [*words, "--no-records"])


def _heading(settings: TournamentSettings, rules: Rules, names: Sequence[str]) -> dict[str, Any]:
    from experiments.league.results import provenance

    played = {
        "agents": list(settings.agents),
        "preset": settings.preset,
        "set": list(settings.set),
        "seats": rules.num_players,
        "deals": settings.deals,
        "seed": settings.seed,
        "episode": settings.episode,
        "records": settings.records,
    }
    return {
        "command": command_of(settings, rules),
        "settings": played,
        "rules": rules.to_dict(),
        **provenance(),
        "agents": list(names),
    }


def _prepared(settings: TournamentSettings) -> _Tournament:
    """The tournament, ready to play; everything that can be wrong with the settings raises here."""
    _check_numbers(settings)
    rules = rules_of(settings)

    import agents
    from experiments.league.blocks import BlockPlayer
    from experiments.league.lineups import lineups
    from experiments.league.results import Tally

    players = [agents.make(spec) for spec in settings.agents]
    names = names_of(players)
    tables = lineups(len(players), rules.num_players)
    with_records = settings.records and settings.out is not None
    player = BlockPlayer(rules, players, names, tables, settings.seed, with_records)
    tally = Tally(_heading(settings, rules, names), tables, settings.out, with_records)
    tally.open(settings.resume)
    return _Tournament(settings, player, tally)


# ---------------------------------------------------------------------------------------------------------------------
# Playing it


class _Tournament:
    """A tournament that is under way."""

    def __init__(self, settings: TournamentSettings, player: BlockPlayer, tally: Tally) -> None:
        self.settings = settings
        self.player = player
        self.tally = tally

    def __call__(self) -> int:
        """Play to the end, or to an interruption, and print the table; returns the exit code."""
        from agents import AgentError

        code = Exit.OK
        try:
            self._play()
        except KeyboardInterrupt:
            code = Exit.INTERRUPTED
        except AgentError as error:
            code = _complain(error, Exit.FAILED)
        rows = self._table()
        self.tally.close(rows)
        self._print(rows)
        if code != Exit.OK:
            print(self._what_is_kept(), file=sys.stderr)
        return code

    def _play(self) -> None:
        deals, saved = self.settings.deals, monotonic()
        with self._shown_progress() as show:
            while (done := self.tally.deals) < deals:
                count = min(self.player.deals_of_block, deals - done)
                self.tally.add(self.player.play(done, count))
                show(done + count)
                if monotonic() - saved > _SAVE_EVERY:
                    self.tally.save()
                    saved = monotonic()

    @contextmanager
    def _shown_progress(self) -> Iterator[Callable[[int], None]]:
        """A progress bar, and the function that says how many deals are done; no bar beside JSON."""
        if self.settings.json:
            yield lambda done: None
            return
        with progress_bar("deals") as progress:
            bar = progress.add_task("playing", total=self.settings.deals, completed=self.tally.deals)
            yield lambda done: progress.update(bar, completed=done)

    def _table(self) -> list[AgentRow]:
        from experiments.league.statistics import table_of

        return table_of(self.tally.names, self.tally.sums, self.settings.seed)

    def _print(self, rows: list[AgentRow]) -> None:
        from experiments.league.report import print_agents
        from experiments.league.results import table_as_json

        if self.settings.json:
            heading = {key: value for key, value in self.tally.heading.items() if key != "agents"}
            whole = {"agents": table_as_json(rows), **heading, "deals_done": self.tally.deals}
            print_json_line(whole)
        elif rows:
            print(f"{self.tally.heading['command']}\n{self.tally.deals:,} deals\n")
            print_agents(rows)

    def _what_is_kept(self) -> str:
        done = f"Stopped after {self.tally.deals:,} of {self.settings.deals:,} deals"
        if self.settings.out is None:
            return f"{done}; without --out nothing is kept."
        command = f"{self.tally.heading['command']} --out {shlex.quote(str(self.settings.out))} --resume"
        return f"{done}. They are in {self.settings.out}; go on with: {command}"
