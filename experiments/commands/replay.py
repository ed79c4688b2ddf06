"""``scala40 replay``: steps through a record as text, checks all of a file, or makes a page of it."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import tyro

from experiments.console import BadUsage, Exit, print_json, print_json_line, progress_bar
from scala40_env.rules.errors import BadRecord
from scala40_env.rules.moves import split_turn

if TYPE_CHECKING:
    from scala40_env import Game, Record


@dataclass(frozen=True)
class ReplaySettings:
    """Step through the matches of a record file as text: the table before each turn, what was played, how hands ended.

    At a terminal it waits after each turn: Enter goes on, q stops. With --check nothing is shown, and everything is
    played again move by move: every move has to be legal, and every score has to come out as written.
    With --html nothing is shown either: the matches become one page to step through in a browser, without a network.
    """

    file: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="FILE")]
    """Records: .jsonl or .jsonl.gz, one match a line."""
    check: bool = False
    """Replay all of the file and say how much it held."""
    match: Annotated[int, tyro.conf.arg(metavar="N")] = 0
    """Only match number N, from 1 (0: all)."""
    hand: Annotated[int, tyro.conf.arg(metavar="N")] = 0
    """Only hand number N of each match, from 1 (0: all)."""
    json: bool = False
    """With --check or --html one object of counts; otherwise one object a line for every turn and end of a hand."""
    html: Annotated[str, tyro.conf.arg(metavar="OUT")] = ""
    """Write the replay of the matches to this file, .html, in place of one that is there."""
    language: Literal["en", "it", "es"] | None = None
    """Language of that page; English if left out."""


def run(settings: ReplaySettings) -> int:
    """Replay the file. Raises `BadRecord` where it does not replay, `BadUsage`, or `OSError` for no file."""
    for name in ("match", "hand"):
        if getattr(settings, name) < 0:
            raise BadUsage(f"--{name} {getattr(settings, name)}: they are numbered from 1")
    if settings.check and settings.hand:
        raise BadUsage("--check replays whole matches; leave out --hand")
    if settings.html:
        _check_html_flags(settings)
    elif settings.language:
        raise BadUsage("--language is of the page that --html writes")
    try:
        return _way(settings)(settings)
    except BadRecord as error:
        raise BadRecord(f"{settings.file}: {error}") from None


def _way(settings: ReplaySettings) -> Callable[[ReplaySettings], int]:
    """What was asked for."""
    if settings.html:
        return _make_page
    return _check if settings.check else _show


def _chosen(settings: ReplaySettings) -> Iterator[tuple[int, Record]]:
    """Number and record of the matches asked for. Raises `BadUsage` where there is none."""
    Path(settings.file).open("rb").close()  # a file that is not there is told before kernels are loaded

    from scala40_env import Record

    number = 0
    for number, record in enumerate(Record.iterate(settings.file), 1):
        if settings.match in (0, number):
            yield number, record
        if settings.match == number:
            return
    if not number:
        raise BadUsage(f"{settings.file}: there is no record in this file")
    if settings.match:
        raise BadUsage(f"--match {settings.match}: {settings.file} has matches 1 to {number}")


# ---------------------------------------------------------------------------------------------------------------------
# Checking


@dataclass
class Tally:
    """How much was replayed."""

    matches: int = 0
    hands: int = 0
    turns: int = 0
    moves: int = 0

    def add(self, record: Record) -> None:
        """Count a match."""
        self.matches += 1
        self.hands += len(record.hands)
        self.turns += sum(len(hand.moves) for hand in record.hands)
        self.moves += sum(len(split_turn(turn)) for hand in record.hands for turn in hand.moves)

    def __str__(self) -> str:
        matches = _counted(self.matches, "match", "matches")
        return ", ".join([matches, *(_counted(getattr(self, f"{what}s"), what) for what in ("hand", "turn", "move"))])


def _check(settings: ReplaySettings) -> int:
    tally = Tally()
    with progress_bar("matches") as progress:
        total = None if progress.disable else _count_lines(Path(settings.file))
        task = progress.add_task("replaying", total=1 if settings.match else total)
        for _, record in _chosen(settings):
            record.check()
            tally.add(record)
            progress.advance(task)
    if settings.json:
        print_json({"file": settings.file, **asdict(tally)})
    else:
        print(f"{settings.file}: replayed {tally}; all of it fits")
    return Exit.OK


# ---------------------------------------------------------------------------------------------------------------------
# A page for a browser

MAX_MATCHES_OF_A_PAGE = 50
"""Each is a few hundred kilobytes, and whoever opens a page wants to see one of them."""


def _check_html_flags(settings: ReplaySettings) -> None:
    """Raise `BadUsage` where --html can't be answered, before anything is replayed."""
    for flag in ("check", "hand"):
        if getattr(settings, flag):
            raise BadUsage(f"--html makes a page of whole matches; leave out --{flag}")
    if Path(settings.html).suffix.lower() not in (".html", ".htm"):  # so that no record is ever written over
        raise BadUsage(f"--html {settings.html}: the page is a file whose name ends in .html")


def _make_page(settings: ReplaySettings) -> int:
    from scala40_env.render.html import replay_html

    tally = Tally()
    size = replay_html(_for_a_page(settings, tally), settings.html, language=settings.language or "en")
    if settings.json:
        print_json({"file": settings.file, "html": settings.html, "bytes": size, **asdict(tally)})
    else:
        print(f"{settings.html}: {tally}; {size:,} bytes, to be opened in a browser")
    return Exit.OK


def _for_a_page(settings: ReplaySettings, tally: Tally) -> Iterator[Record]:
    """The matches asked for, counted. Raises `BadUsage` for too many."""
    with progress_bar("matches") as progress:
        task = progress.add_task("drawing", total=None)
        for _, record in _chosen(settings):
            if tally.matches == MAX_MATCHES_OF_A_PAGE:
                many = f"{settings.file} has more than {MAX_MATCHES_OF_A_PAGE} matches, too many for a page"
                raise BadUsage(f"{many}; choose one with --match N")
            tally.add(record)
            yield record
            progress.advance(task)


# ---------------------------------------------------------------------------------------------------------------------
# Words


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def _count_lines(path: Path) -> int | None:
    """How many lines a file has, for the progress bar; None where it can't be read: replaying will say why."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return sum(1 for _ in file)
    except (OSError, EOFError, zlib.error):
        return None


# ---------------------------------------------------------------------------------------------------------------------
# Showing


class Turn(NamedTuple):
    """A turn of a record, with the game before and after it; `hand` and `number` count from 1."""

    hand: int
    number: int
    text: str
    before: Game
    after: Game


class _Quit(Exception):
    """The reader has seen enough."""


def _turns(record: Record) -> Iterator[Turn]:
    """The turns of a match. Raises `BadRecord` at the first thing that does not fit."""
    before: Game | None = None
    for (hand, number), steps in groupby(record.replay(), key=lambda step: (step.hand, step.turn)):
        *_, last = steps
        if before is not None and number:
            yield Turn(hand, number, record.hands[hand - 1].moves[number - 1], before, last.game)
        before = last.game


def _show(settings: ReplaySettings) -> int:
    shown = 0
    try:
        for number, record in _chosen(settings):
            shown += _show_match(settings, number, record)
    except _Quit:
        return Exit.OK
    if settings.hand and not shown:
        raise BadUsage(f"--hand {settings.hand}: no match that was asked for has so many hands")
    return Exit.OK


def _show_match(settings: ReplaySettings, match: int, record: Record) -> int:
    """Show a match, or one hand of it; returns how many turns were shown."""
    if settings.hand > len(record.hands):
        return 0
    if not settings.json:
        print(f"{_title(match, record)}\n")
    show = _print_turn_as_json if settings.json else _print_turn
    shown = 0
    for turn in _turns(record):
        if settings.hand in (0, turn.hand):
            show(match, record, turn)
            shown += 1
        elif turn.hand > settings.hand:
            break
    return shown


def _title(match: int, record: Record) -> str:
    players = ", ".join(f"seat {seat} {name}" for seat, name in enumerate(record.players))
    settings = record.rules.to_dict()
    del settings["num_players"]
    rules = " ".join(str(value) if key == "preset" else f"{key}={value}" for key, value in settings.items())
    hands = _counted(len(record.hands), "hand")
    return f"== match {match}: {players}; rules {rules}; seed {record.seed}; {hands}"


def _print_turn(match: int, record: Record, turn: Turn) -> None:
    seat = turn.before.turn
    where = f"hand {turn.hand}, turn {turn.number}, seat {seat} ({record.players[seat]})"
    print(f"{turn.before}\n\n  {where}: {turn.text}\n")
    if _is_last(record, turn):
        print(f"{turn.after}\n")
    _wait()


def _is_last(record: Record, turn: Turn) -> bool:
    """Is it the last turn of its hand?"""
    return turn.number == len(record.hands[turn.hand - 1].moves)


def _wait() -> None:
    """At a terminal, wait for the reader. Raises `_Quit`."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    try:
        answer = input("Enter goes on, q stops: ")
    except EOFError:
        raise _Quit from None
    if answer.strip().lower().startswith("q"):
        raise _Quit
    print()


def _print_turn_as_json(match: int, record: Record, turn: Turn) -> None:
    where = {"match": match, "hand": turn.hand}
    seat = turn.before.turn
    played = {"turn": turn.number, "seat": seat, "player": record.players[seat], "moves": turn.text}
    print_json_line({**where, **played, "before": turn.before.position()})
    outcome = turn.after.outcome
    if outcome is not None:
        ending = {"closing": outcome.closing, "winner": outcome.winner, "points": list(outcome.hand_points)}
        print_json_line({**where, **ending, "scores": list(outcome.scores), "match_over": outcome.match_over})
