"""``scala40 bench engine``: decisions a second of random legal play, beside the same source in plain Python.

How it measures is told in `experiments.measuring`. On several cores each thread plays games of its own: the kernels
hold no lock. The baseline runs the very same kernels without the compiler, in a process of its own, and has to end at
the same bytes.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from experiments.console import BadUsage, Exit, new_table, print_json, print_table, progress_bar
from experiments.measuring import RunSettings, checked_runs, figure, made_on, own_process, spread
from scala40_env.cores import cores_there
from scala40_env.rules.config import PRESET_MAX_PLAYERS, PRESETS, Rules

MASK = "mask and step"
COPY = "mask, step and a copy of the record"
REFERENCE = "fisca"
"""The preset that the others are compared with."""
REFERENCE_PLAYERS = 2
PLAIN_DECISIONS = 500
"""Decisions of one run in plain Python: some hands, a fraction of a second."""
SLOW = "!"
"""Marks a case in which single positions took so long that its median run is no fair picture."""
BATCH_GAMES = 50_000
"""So many that no memory that was used before can hold them: the figure would miss what is taken from there."""
BATCH_DECISIONS = 20
"""Decisions in every game of the batch whose memory is measured."""
AGENT_HANDS = {"greedy": 1_000, "expert": 300}
"""The agents of mass play, and the hands of one run between players of that kind."""


@dataclass(frozen=True)
class ThroughputSettings(RunSettings):
    """Measure how many decisions of random legal play the engine makes in a second.

    For every preset and number of players, on one core and on all: the mask of legal moves and the step, and the same
    with a copy of the game's record at every decision, which is what an observation of that size costs at least. Beside
    it the same source in plain Python, and hands between greedy players and between experts. Takes about two minutes.
    """

    preset: tuple[str, ...] = tuple(PRESETS)
    """Presets of the rules."""
    players: tuple[int, ...] = (2, 4, 6)
    """Numbers of players; a preset for fewer is measured with as many as it takes."""
    cores: tuple[int, ...] = ()
    """Numbers of cores; if none is given, one and all that there are."""


class Case(NamedTuple):
    """What is measured."""

    preset: str
    players: int
    what: str
    cores: int


class Run(NamedTuple):
    """What one run gave."""

    decisions_per_s: float
    hands_per_s: float


@dataclass
class Measured:
    """All that was measured so far."""

    runs: dict[Case, list[Run]] = field(default_factory=lambda: defaultdict(list))
    plain: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Decisions a second in plain Python, by the number of players."""
    agents: dict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    """Hands a second between players of one kind, by its name and their number."""
    first_call_s: float = 0.0
    batch: dict[str, Any] = field(default_factory=dict)


class PlainDiffers(Exception):
    """Compiled and plain kernels did not end at the same bytes."""


def run(settings: ThroughputSettings) -> int:
    """Measure and print. Raises `BadUsage` or `BadRules`; interrupted, it prints what is complete."""
    settings = _completed(settings)
    cases = cases_of(settings)
    measured = Measured()
    code = Exit.OK
    try:
        _measure(settings, cases, measured)
    except KeyboardInterrupt:
        if not measured.runs:
            raise
        code = Exit.INTERRUPTED
    except PlainDiffers as error:
        print(f"scala40 bench engine: check failed: {error}", file=sys.stderr)
        code = Exit.FAILED
    report = _report(settings, measured)
    if settings.json:
        print_json(report)
    else:
        _print_report(report)
    return code


# ---------------------------------------------------------------------------------------------------------------------
# What to measure


def _completed(settings: ThroughputSettings) -> ThroughputSettings:
    """The settings with what was left open filled in. Raises `BadUsage`."""
    there = len(cores_there())
    for cores in settings.cores:
        if not 1 <= cores <= there:
            raise BadUsage(f"--cores {cores}: this machine lends this program 1 to {there}")
    for name in ("preset", "players"):
        if not getattr(settings, name):
            raise BadUsage(f"--{name} needs one value or more")
    return replace(checked_runs(settings), cores=settings.cores or tuple(dict.fromkeys((1, there))))


def cases_of(settings: ThroughputSettings) -> list[Case]:
    """Everything that the settings ask for, each once. Raises `BadRules` for rules that there are not."""
    cases: dict[Case, None] = {}
    for preset in settings.preset:
        for asked in settings.players:
            players = min(asked, PRESET_MAX_PLAYERS.get(preset, asked))
            Rules.from_preset(preset, num_players=players)  # refuses what is none
            cases |= dict.fromkeys(Case(preset, players, what, n) for n in settings.cores for what in (MASK, COPY))
    return list(cases)


# ---------------------------------------------------------------------------------------------------------------------
# Measuring


def _measure(settings: ThroughputSettings, cases: Sequence[Case], measured: Measured) -> None:
    """Fill `measured`, round by round. Raises `PlainDiffers`."""
    measured.first_call_s = _first_call()
    numbers = list(dict.fromkeys(settings.players))
    with ThreadPoolExecutor(max(settings.cores)) as pool, progress_bar("runs") as progress:
        task = progress.add_task("measuring", total=settings.rounds * (len(cases) + 1) + 1)
        measured.batch = _measure_batch(BATCH_GAMES)
        progress.advance(task)
        tables = {case: _Tables(case, settings.seconds) for case in cases}
        for number in range(settings.rounds):
            for case in cases:
                measured.runs[case].append(tables[case].run(pool, number))
                progress.advance(task)
            for players, rate in _plain_run(numbers, number):
                measured.plain[players].append(rate)
            for name, players in product(AGENT_HANDS, numbers):
                measured.agents[name, players].append(_agent_run(name, players, number, AGENT_HANDS[name]))
            progress.advance(task)


def _first_call() -> float:
    """Seconds until the kernels are there: compiled, or loaded from the cache on disk."""
    began = time.perf_counter()
    RandomTable(Rules(), True, 0).play(1, 0)
    for name in AGENT_HANDS:
        _agent_run(name, 2, 0, 1)
    return time.perf_counter() - began


class RandomTable:
    """One game of random play with its mask and the place for its copies, for one thread."""

    def __init__(self, rules: Rules, with_copy: bool, seed: int) -> None:
        # Here and not above: the help of this command shall not wait for Numba.
        import numpy as np

        from scala40_env.kernels.engine import start_match
        from scala40_env.kernels.playout import play_random
        from scala40_env.kernels.state import GAME
        from scala40_env.rules.moves import num_actions
        from scala40_env.rules.reading import new_games

        self._play = play_random
        self.games = new_games(rules, seed)
        self._mask = np.zeros(num_actions(rules), np.int8)
        self._copies = np.zeros(int(with_copy), GAME)
        start_match(self.games, 0)

    def play(self, decisions: int, seed: int) -> int:
        """Make random decisions; returns how many hands ended."""
        return int(self._play(self.games, 0, decisions, seed, self._mask, self._copies))


class _Tables:
    """The tables of a case, one for each core, and how many decisions a run of the wanted length takes."""

    def __init__(self, case: Case, seconds: float) -> None:
        rules = Rules.from_preset(case.preset, num_players=case.players)
        # Matches follow each other with the next seed: threads far apart never play the same one.
        self._tables = [RandomTable(rules, case.what == COPY, core << 32) for core in range(case.cores)]
        self._decisions = self._calibrated(seconds)

    def _calibrated(self, seconds: float) -> int:
        decisions, took = 100, 0.0
        while took < seconds / 10:
            decisions *= 2
            began = time.perf_counter()
            self._tables[0].play(decisions, 0)
            took = time.perf_counter() - began
        return max(1, round(decisions * seconds / took))

    def run(self, pool: ThreadPoolExecutor, seed: int) -> Run:
        """One timed run on all of its cores."""
        began = time.perf_counter()
        if len(self._tables) == 1:
            hands = self._tables[0].play(self._decisions, seed)
        else:
            hands = sum(pool.map(lambda table: table.play(self._decisions, seed), self._tables))
        took = time.perf_counter() - began
        return Run(len(self._tables) * self._decisions / took, hands / took)


# The same in plain Python


def _plain_run(numbers: Sequence[int], seed: int) -> Iterator[tuple[int, float]]:
    """Decisions a second without the compiler, for each number of players. Raises `PlainDiffers`."""
    code = "import sys; from experiments.throughput import answer_plain; answer_plain(*map(int, sys.argv[1:]))"
    python, environment = own_process(NUMBA_DISABLE_JIT="1")
    words = [*python, "-c", code, *map(str, (seed, PLAIN_DECISIONS, *numbers))]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise PlainDiffers(f"the kernels in plain Python ended with exit code {done.returncode}: {last}")
    for players, answer in zip(numbers, json.loads(done.stdout), strict=True):
        if answer["state"] != plain_part(players, seed, PLAIN_DECISIONS)[1]:
            raise PlainDiffers(f"with {players} players, seed {seed}, compiled and plain kernels end at other bytes")
        yield players, answer["decisions_per_s"]


def answer_plain(seed: int, decisions: int, *numbers: int) -> None:
    """What the process of the baseline does: measure each number of players, print the answers as JSON."""
    answers = [plain_part(players, seed, decisions) for players in numbers]
    print(json.dumps([{"decisions_per_s": rate, "state": state} for rate, state in answers]))


def plain_part(players: int, seed: int, decisions: int) -> tuple[float, str]:
    """Decisions a second of the run that is made compiled and plain, and a digest of the game at its end."""
    table = RandomTable(Rules.from_preset(REFERENCE, num_players=players), False, seed)
    began = time.perf_counter()
    table.play(decisions, seed)
    took = time.perf_counter() - began
    return decisions / took, hashlib.sha256(table.games.tobytes()).hexdigest()


# Agents


def _agent_run(name: str, players: int, seed: int, hands: int) -> float:
    """Hands a second between players of one kind, as a tournament plays them, on one core."""
    import numpy as np

    import agents
    from agents.arena import Arena

    rules = Rules.from_preset(REFERENCE, num_players=players, match="single_hand")
    arena = Arena(rules, [agents.make(name)])
    seating = np.zeros((hands, players), np.int64)
    keys = np.arange(hands * players, dtype=np.uint64).reshape(hands, players)
    seeds = np.arange(hands, dtype=np.uint64) + np.uint64(seed * hands)
    began = time.perf_counter()
    ended = sum(len(some.games) for some in arena.play(seating, seeds, keys))
    return ended / (time.perf_counter() - began)


# Memory


def _measure_batch(games: int) -> dict[str, Any]:
    """How much the process grows by a batch of games in the middle of play; None where the system does not say."""
    _play_batch(10)  # whatever the first call of each kernel takes is no part of it
    gc.collect()
    before = _resident_bytes()
    batch = _play_batch(games)
    after = _resident_bytes()
    measured = None if before is None or after is None else round((after - before) / games, 1)
    return {"games": games, "record_bytes": int(batch.itemsize), "measured_bytes_per_game": measured}


def _play_batch(games: int) -> Any:
    """A batch of four-player games, each some decisions old."""
    import numpy as np

    from scala40_env.kernels.engine import start_match
    from scala40_env.kernels.playout import play_random
    from scala40_env.kernels.state import GAME
    from scala40_env.rules.reading import new_games

    batch = np.zeros(games, GAME)
    batch[:] = new_games(Rules(), 0)
    batch["seed"] = np.arange(games)
    nothing = np.zeros(0, np.int8), np.zeros(0, GAME)
    for at in range(games):
        start_match(batch, at)
        play_random(batch, at, BATCH_DECISIONS, 0, *nothing)
    return batch


def _resident_bytes() -> int | None:
    """Memory that the process holds, where the system tells (Linux)."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


# ---------------------------------------------------------------------------------------------------------------------
# Reporting


def _report(settings: ThroughputSettings, measured: Measured) -> dict[str, Any]:
    """All figures as one object."""
    from experiments.league.results import provenance

    medians = {case: statistics.median(run.decisions_per_s for run in runs) for case, runs in measured.runs.items()}
    return {
        "results": [_result(case, runs, medians) for case, runs in measured.runs.items()],
        "baseline": [_baseline(players, rates, medians) for players, rates in measured.plain.items()],
        "agents": [_agent(*kind, rates) for kind, rates in measured.agents.items()],
        "first_call_s": round(measured.first_call_s, 2),
        "record_bytes": measured.batch.get("record_bytes"),
        "batch": measured.batch,
        **provenance(),
        "settings": asdict(settings),
    }


def _result(case: Case, runs: Sequence[Run], medians: dict[Case, float]) -> dict[str, Any]:
    rates = [run.decisions_per_s for run in runs]
    return {
        **case._asdict(),
        "decisions_per_s": round(medians[case]),
        "spread": spread(rates),
        "overall_decisions_per_s": round(statistics.harmonic_mean(rates)),
        "hands_per_s": round(statistics.median(run.hands_per_s for run in runs), 1),
        "ratio_to_fisca": _ratio(case, case._replace(preset=REFERENCE), medians),
        "ratio_to_fisca_2_players": _ratio(case, case._replace(preset=REFERENCE, players=REFERENCE_PLAYERS), medians),
        "runs": len(runs),
    }


def _baseline(players: int, rates: Sequence[float], medians: dict[Case, float]) -> dict[str, Any]:
    plain = statistics.median(rates)
    compiled = medians.get(Case(REFERENCE, players, MASK, 1))
    return {
        "preset": REFERENCE,
        "players": players,
        "what": f"{MASK}, plain Python: the same source without the compiler",
        "cores": 1,
        "decisions_per_s": round(plain),
        "spread": spread(rates),
        "compiled_is_faster": None if compiled is None else round(compiled / plain, 1),
        "runs": len(rates),
    }


def _agent(name: str, players: int, rates: Sequence[float]) -> dict[str, Any]:
    return {
        "agent": name,
        "preset": REFERENCE,
        "players": players,
        "cores": 1,
        "hands_per_s": round(statistics.median(rates), 1),
        "spread": spread(rates),
    }


def _ratio(case: Case, other: Case, medians: dict[Case, float]) -> float | None:
    return round(medians[case] / medians[other], 2) if other in medians else None


def _print_report(report: dict[str, Any]) -> None:
    print(f"random legal play on {made_on(report)}")
    print("decisions a second: mask and step; +copy: and a copy of the record at every decision")
    print("median of the runs (in brackets how far they lie apart); hands/s and shares are those of the first column\n")
    _print_results(report["results"])
    print()
    _print_baseline(report["baseline"])
    _print_agents(report["agents"])
    batch, measured = report["batch"], report["batch"].get("measured_bytes_per_game")
    if batch:
        more = "" if measured is None else f"; a batch of {batch['games']:,} takes {measured:,.0f} bytes a game"
        print(f"\na game is a record of {batch['record_bytes']:,} bytes{more}")
    print(f"first call of the kernels: {report['first_call_s']:.1f} s")


_SHORT = {MASK: "", COPY: " +copy"}


def _print_results(results: Sequence[dict[str, Any]]) -> None:
    """A row for each preset and number of players, a column for what is measured on how many cores."""
    kinds = list(dict.fromkeys((result["cores"], result["what"]) for result in results))
    names = [f"{cores} core{'s' if cores > 1 else ''}{_SHORT[what]}" for cores, what in kinds]
    last = ["hands/s", "of fisca", "of fisca 2"]
    table = new_table(("preset", "players", *names, *last), right=("players", *names, *last))
    rows: dict[tuple[str, int], dict[Any, dict[str, Any]]] = defaultdict(dict)
    for result in results:
        rows[result["preset"], result["players"]][result["cores"], result["what"]] = result
    for (preset, players), row in rows.items():
        first = row[kinds[0]] if kinds[0] in row else next(iter(row.values()))
        ratios = [_percent(first["ratio_to_fisca"]), _percent(first["ratio_to_fisca_2_players"])]
        cells = [_cell(row.get(kind)) for kind in kinds]
        table.add_row(preset, str(players), *cells, f"{first['hands_per_s']:,.0f}", *ratios)
    print_table(table)
    for held_up in filter(_is_held_up, results):
        case = f"{held_up['preset']}, {held_up['players']} players, {held_up['what']}, {held_up['cores']} cores"
        print(f"{SLOW} {case}: {held_up['overall_decisions_per_s']:,} over all runs; single positions took very long")


def _cell(result: dict[str, Any] | None) -> str:
    if result is None:
        return ""
    mark = SLOW if _is_held_up(result) else ""
    return mark + figure(result)


def _is_held_up(result: dict[str, Any]) -> bool:
    """Do all runs together make far fewer decisions a second than the median run?"""
    return bool(result["overall_decisions_per_s"] < result["decisions_per_s"] / 2)


def _percent(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.0%}"


def _print_baseline(baseline: Sequence[dict[str, Any]]) -> None:
    if not baseline:
        return
    print("plain Python (the same source without the compiler), mask and step, one core:")
    for row in baseline:
        factor = row["compiled_is_faster"]
        times = "" if factor is None else f", of which compiled is {factor:,.0f} times"
        print(f"  {row['preset']}, {row['players']} players: {figure(row)} decisions a second{times}")


def _print_agents(rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        return
    print("\nhands a second between players of one kind, one core:")
    for row in rows:
        where = f"{row['agent']}, {row['preset']}, {row['players']} players"
        print(f"  {where}: {row['hands_per_s']:,.0f} ({row['spread']:.0%})")
