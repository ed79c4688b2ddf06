"""`scala40 league ladder`: all agents against all under all presets, as one page that is committed.

Every pair of agents plays a tournament of its own, kept in a folder, so that the whole goes on where it was stopped;
what they played is merged into one file of results for each table (preset and seats).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from experiments.console import BadUsage, Exit, print_json_line
from experiments.folders import alone_in
from experiments.tournament import TournamentSettings, prepared

if TYPE_CHECKING:
    from experiments.league.results import Results

#: The tables: preset and seats.
TABLES = (("fisca", 2), ("fisca", 4), ("casa", 4), ("scala_quaranta", 4), ("tavolo", 4), ("megajogos", 4))


@dataclass(frozen=True)
class LadderSettings:
    """Let every two agents play under every preset, and write the page with their ratings."""

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT ...")] = ()
    """All that have a name if left out. Who can't play the rules of a table is left out there, which the page says."""
    hands: int = 10_000
    """Hands of each pair of scripted agents and networks, at least."""
    slow_hands: tuple[int, ...] = (1000, 400, 200)
    """Hands of each pair with an agent that thinks longer, at least, table by table; the last number holds for the
    rest, and with 0 such agents are not at the table."""
    seed: int = 0
    """Of the deals."""
    results: Path = Path("results/ladder")
    """Folder of the files that the page is made of."""
    page: Path = Path("docs/ladder.md")
    """The page."""
    work: Path = Path("runs/ladder")
    """Folder of what is under way; the same command goes on with it."""
    workers: int = 1
    """Processes that play."""
    json: bool = False
    """Print one JSON object with the ratings instead of what was written."""


def run(settings: LadderSettings) -> int:
    """Play, merge, write; returns the exit code. Raises `OSError`."""
    from agents import AgentError
    from experiments.console import complain
    from experiments.league.results import ResultsError

    try:
        with alone_in(settings.work):
            return _run(settings)
    except (AgentError, ResultsError) as error:
        return complain("league ladder", error, Exit.BAD_INPUT)


def _run(settings: LadderSettings) -> int:
    import agents

    names = settings.agents or agents.names()
    if settings.hands < 1 or not settings.slow_hands or min(settings.slow_hands) < 0:
        slow = " ".join(map(str, settings.slow_hands))
        raise BadUsage(f"--hands {settings.hands} --slow-hands {slow}: allowed is 1 and more, 0 too for the slow ones")
    players, left_out = _seated(settings, names)
    made: dict[str, Results] = {}
    for (preset, seats), able in players.items():
        for a, b in combinations(able, 2):
            tournament = prepared(_pair(settings, preset, seats, a, b))
            code = tournament.play()
            tournament.tally.save()
            if code != Exit.OK:
                return code
        made[f"{preset}-{seats}"] = _written(settings, preset, seats, able)
    settings.page.parent.mkdir(parents=True, exist_ok=True)
    settings.page.write_text("\n".join(_page(settings, made, left_out)), "utf-8")
    _tell(settings, made)
    return Exit.OK


def _seated(
    settings: LadderSettings, names: Sequence[str]
) -> tuple[dict[tuple[str, int], list[str]], dict[str, list[str]]]:
    """Who plays at which table, and who at which not, by why.

    Raises `AgentError` for an agent that there is not, `BadUsage` for a table with fewer than two.
    """
    import agents
    from scala40_env import Rules

    made = {name: agents.make(name) for name in names}
    seated: dict[tuple[str, int], list[str]] = {}
    left_out: dict[str, list[str]] = {}
    for preset, seats in TABLES:
        able = seated[preset, seats] = []
        for name, agent in made.items():
            if not (agent.mass_play or _slow_hands(settings, preset, seats)):
                left_out.setdefault(name, []).append(f"{seats} seats under {preset}: it was given no hands there")
                continue
            try:
                agent.check_rules(Rules.from_preset(preset, num_players=seats, match="single_hand"))
                able.append(name)
            except agents.AgentError as error:
                left_out.setdefault(name, []).append(f"{seats} seats under {preset}: {error}")
        if len(able) < 2:
            why = "".join(f"; {text}" for texts in left_out.values() for text in texts)
            raise BadUsage(f"a ladder takes two agents or more at every table, not {', '.join(able) or 'none'}{why}")
    return seated, left_out


def _slow_hands(settings: LadderSettings, preset: str, seats: int) -> int:
    """Hands at a table of a pair with an agent that is too slow for more."""
    return settings.slow_hands[: TABLES.index((preset, seats)) + 1][-1]


def _pair(settings: LadderSettings, preset: str, seats: int, a: str, b: str) -> TournamentSettings:
    import agents

    fast = all(agents.make(spec).mass_play for spec in (a, b))
    slow_hands = _slow_hands(settings, preset, seats)
    games = 2 if seats == 2 else 2 * seats + 2 * (seats % 2 == 0)  # of a deal, in line-ups of pairs
    return TournamentSettings(
        (a, b),
        preset=preset,
        seats=seats,
        lineups="pairs",
        deals=-(-(settings.hands if fast else slow_hands) // games),
        seed=settings.seed,
        out=_folder(settings, preset, seats, a, b),
        resume=True,
        records=False,
        workers=settings.workers,
    )


def _folder(settings: LadderSettings, preset: str, seats: int, a: str, b: str) -> Path:
    return settings.work / f"{preset}-{seats}" / f"{a}-{b}".replace(":", ".").replace("/", ".")


def _written(settings: LadderSettings, preset: str, seats: int, names: Sequence[str]) -> Results:
    """The results of a table, merged and written."""
    from experiments.league.results import merge, read_results, write_results

    folders = [_folder(settings, preset, seats, a, b) for a, b in combinations(names, 2)]
    merged = merge({str(folder): read_results(folder) for folder in folders})
    settings.results.mkdir(parents=True, exist_ok=True)
    write_results(merged, settings.results / f"{preset}-{seats}.json.gz")
    return merged


def command_of(settings: LadderSettings) -> str:
    """The command that makes the page."""
    numbers = ["--hands", str(settings.hands), "--slow-hands", *map(str, settings.slow_hands)]
    return shlex.join(["scala40", "league", "ladder", *settings.agents, *numbers, "--seed", str(settings.seed)])


def _page(settings: LadderSettings, made: dict[str, Results], left_out: dict[str, list[str]]) -> Iterator[str]:
    from experiments.league.analysis import analyse
    from experiments.league.report import title_of
    from experiments.league.tables import agents_table, as_markdown, lineups_table, pairs_table

    yield f"# Ladder\n\nMade by `{command_of(settings)}`; do not edit. Every two agents play the same deals from all"
    yield "seats: with four seats each alone against three of the other, and two against two.\n"
    lines = [f"- {name} is not at {text}" for name, texts in left_out.items() for text in texts]
    yield from [*lines, ""] if lines else ()
    for results in made.values():
        analysis = analyse(results, settings.seed)
        yield f"## {title_of(results)}\n"
        for table in (agents_table, pairs_table, lineups_table):
            yield as_markdown(table(analysis))
    yield from _what_made_it(list(made.values()))


def _what_made_it(made: Sequence[Results]) -> Iterator[str]:
    """Versions and machines, none twice."""
    from experiments.league.report import made_by

    lines = dict.fromkeys(line for results in made for line in made_by(results) if not line.startswith("scala40 "))
    yield "## What made it\n"
    yield from (f"- {line}" for line in lines)
    yield ""


def _tell(settings: LadderSettings, made: dict[str, Results]) -> None:
    from experiments.league.analysis import analyse

    if settings.json:
        tables = {name: analyse(results, settings.seed).table for name, results in made.items()}
        print_json_line({"page": str(settings.page), "tables": tables})
    else:
        print(f"{settings.page} and {len(made)} files in {settings.results}")
