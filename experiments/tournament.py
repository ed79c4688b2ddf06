"""`scala40 tournament`: agents play the same deals from all seats, and tables say who is better and how surely.

Every line-up plays every deal in each of its seat rotations, so that luck with cards and seats falls on all alike.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from experiments.console import BadUsage, Exit, complain, print_json_line, progress_bar
from experiments.folders import alone_in

if TYPE_CHECKING:  # the rest is imported when a tournament runs: other commands must not wait for the kernels
    from agents import Agent
    from experiments.league.analysis import Analysis
    from experiments.league.blocks import Block, BlockPlayer, DealError, Job
    from experiments.league.folder import Tally
    from experiments.league.results import Results
    from scala40_env import Rules

#: Seconds between two writings of the results file, and how many times as long as a writing took they are at least.
_SAVE_EVERY, _SAVE_SHARE = 1.0, 20


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
    lineups: Literal["balanced", "pairs", "all"] = "balanced"
    """Who sits together: all as often as they fit, with every combination on the seats left over; two at a table, each
    alone against the other and half against half; or every combination of two and more."""
    deals: int = 1000
    """How many deals."""
    first_deal: int = 0
    """Number of the first one: other deals of the same seed can be played elsewhere, and merged."""
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
    workers: int = 1
    """Processes that play; the results are the same for any number."""
    ray: Annotated[str | None, tyro.conf.arg(metavar="ADDRESS")] = None
    """Play on a Ray cluster instead: HOST:PORT of its head, auto for the one that runs here, or local."""
    max_ms_per_move: Annotated[float | None, tyro.conf.arg(metavar="MS")] = None
    """Stop with an error if an agent of Python takes longer for a move; for its first one it has a minute more."""


def run(settings: TournamentSettings) -> int:
    """Run the tournament and print its outcome; returns the exit code."""
    from agents import AgentError
    from experiments.league.lineups import TooManyLineups
    from experiments.league.results import ResultsError
    from scala40_env import Scala40Error

    try:
        with alone_in(settings.out):
            play = prepared(settings)
            return play()
    except (AgentError, ResultsError, TooManyLineups, Scala40Error) as error:
        return complain("tournament", error, Exit.BAD_INPUT)
    except OSError as error:
        return complain("tournament", error, Exit.BAD_INPUT if error.filename else Exit.FAILED)


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
    if settings.first_deal < 0:
        raise BadUsage(f"--first-deal {settings.first_deal}: allowed is 0 and more")
    if settings.workers < 1:
        raise BadUsage(f"--workers {settings.workers}: allowed is 1 and more")
    if settings.ray is not None and settings.workers > 1:
        raise BadUsage("--workers and --ray exclude each other: a cluster says itself how many it has")
    if settings.max_ms_per_move is not None and not settings.max_ms_per_move > 0:
        raise BadUsage(f"--max-ms-per-move {settings.max_ms_per_move:g}: allowed is more than 0")
    if settings.lineups not in ("balanced", "pairs", "all"):
        raise BadUsage(f"--lineups {settings.lineups}: allowed is balanced, pairs or all")
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
    words += ["--seats", str(rules.num_players), "--lineups", settings.lineups, "--deals", str(settings.deals)]
    if settings.first_deal:
        words += ["--first-deal", str(settings.first_deal)]
    words += ["--seed", str(settings.seed), "--episode", settings.episode]
    return shlex.join(words if settings.records else [*words, "--no-records"])


def _made_by(settings: TournamentSettings, rules: Rules) -> dict[str, Any]:
    from experiments.league.results import provenance

    played = {
        "agents": list(settings.agents),
        "preset": settings.preset,
        "set": list(settings.set),
        "seats": rules.num_players,
        "lineups": settings.lineups,
        "deals": settings.deals,
        "first_deal": settings.first_deal,
        "seed": settings.seed,
        "episode": settings.episode,
        "records": settings.records,
    }
    return {"command": command_of(settings, rules), "settings": played, **provenance()}


def _empty(settings: TournamentSettings, job: Job) -> Results:
    """The results before the first deal."""
    from experiments.league.blocks import Block
    from experiments.league.results import Part, Results

    block = Block.empty(len(job.lineups), len(job.names), job.rules.num_players)
    seats = tuple(lineup.seats for lineup in job.lineups)
    part = Part(_made_by(settings, job.rules), job.names, seats, job.seed, settings.first_deal, block)
    return Results(job.rules.to_dict(), settings.episode, dict(zip(job.names, job.specs, strict=True)), (part,))


def prepared(settings: TournamentSettings) -> Tournament:
    """The tournament, ready to play; what can be wrong with the settings raises here, as `run` catches it."""
    _check_numbers(settings)
    rules = rules_of(settings)

    import agents
    from experiments.league.blocks import BlockPlayer, Job
    from experiments.league.folder import Tally
    from experiments.league.lineups import lineups

    players = [agents.make(spec) for spec in settings.agents]
    job = Job(
        rules,
        settings.agents,
        names_of(players),
        lineups(len(players), rules.num_players, settings.lineups, rules.team_size),
        settings.seed,
        settings.records and settings.out is not None,
        settings.max_ms_per_move,
    )
    tally = Tally(_empty(settings, job), settings.out, job.with_records)
    tally.open(settings.resume)
    return Tournament(settings, job, BlockPlayer(job, players), tally)


# ---------------------------------------------------------------------------------------------------------------------
# Playing it


class Tournament:
    """A tournament that is under way."""

    def __init__(self, settings: TournamentSettings, job: Job, player: BlockPlayer, tally: Tally) -> None:
        self.settings = settings
        self.job = job
        self.player = player
        self.tally = tally

    def __call__(self) -> int:
        """Play to the end, or to an interruption, and print the tables; returns the exit code."""
        from experiments.league.analysis import analyse

        code = self.play()
        analysis = analyse(self.tally.results, self.settings.seed)
        self.tally.close(analysis.table)
        self._print(analysis)
        if code != Exit.OK:
            print(self._what_is_kept(), file=sys.stderr)
        return code

    def play(self) -> Exit:
        """Play to the end, or to an interruption or error, which is told; what was played is in the tally."""
        from agents import AgentError
        from experiments.league.blocks import DealError

        try:
            self._play()
        except KeyboardInterrupt:
            return Exit.INTERRUPTED
        except DealError as error:
            return complain("tournament", f"{error}; once more: {self._command_again(error)}", Exit.FAILED)
        except AgentError as error:
            return complain("tournament", error, Exit.FAILED)
        return Exit.OK

    def _play(self) -> None:
        saved, pause = monotonic(), _SAVE_EVERY
        with self._shown_progress() as show, closing(self._blocks()) as blocks:
            for block in blocks:
                self.tally.add(block)
                show(self.tally.deals)
                if monotonic() - saved > pause:
                    begun = monotonic()
                    self.tally.save()
                    saved = monotonic()
                    pause = max(_SAVE_EVERY, _SAVE_SHARE * (saved - begun))

    def _blocks(self) -> Generator[Block, None, None]:
        """The blocks that are still to be played, played."""
        from experiments.league.crew import played_by_processes, played_here, spans

        first, settings = self.settings.first_deal, self.settings
        todo = spans(first + self.tally.deals, first + settings.deals, self.player.deals_of_block)
        if settings.ray is not None:
            from experiments.league.cluster import played_by_ray

            yield from played_by_ray(self.job, todo, settings.ray)
        elif settings.workers > 1:
            yield from played_by_processes(self.job, self.player, todo, settings.workers)
        else:
            yield from played_here(self.player, todo)

    @contextmanager
    def _shown_progress(self) -> Iterator[Callable[[int], None]]:
        """A progress bar, and the function that says how many deals are done; no bar beside JSON."""
        if self.settings.json:
            yield lambda done: None
            return
        with progress_bar("deals") as progress:
            bar = progress.add_task("playing", total=self.settings.deals, completed=self.tally.deals)
            yield lambda done: progress.update(bar, completed=done)

    def _print(self, analysis: Analysis) -> None:
        from experiments.league.tables import agents_table, pairs_table, print_tables

        results = self.tally.results
        made_by = results.parts[0].made_by
        if self.settings.json:
            print_json_line({**analysis.as_json(), **made_by, "rules": results.rules, "deals_done": self.tally.deals})
        elif analysis.agents:
            print(f"{made_by['command']}\n{self.tally.deals:,} deals\n")
            print_tables([agents_table(analysis), pairs_table(analysis)])

    def _command_again(self, error: DealError) -> str:
        """The command that plays the deals of an error alone."""
        alone = replace(self.settings, first_deal=error.deal, deals=error.count, records=True)
        limit = self.settings.max_ms_per_move
        return command_of(alone, self.job.rules) + ("" if limit is None else f" --max-ms-per-move {limit:g}")

    def _what_is_kept(self) -> str:
        done = f"Stopped after {self.tally.deals:,} of {self.settings.deals:,} deals"
        if self.settings.out is None:
            return f"{done}; without --out nothing is kept."
        command = command_of(self.settings, self.job.rules)
        return (
            f"{done}. They are in {self.settings.out}; go on with:"
            f" {command} --out {shlex.quote(str(self.settings.out))} --resume"
        )
