"""The command line ``scala40``: finds the command, reads its flags, turns errors into one line and an exit code.

A command is a module with a settings dataclass, which tyro turns into flags, and ``run(settings)``, which returns the
exit code; it may have ``defaults(words)`` too, the settings that hold beneath these flags. The module is imported only
when its command is called, so that looking at the rules waits for no compiler. A new command is one more line in
`COMMANDS`.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr
from importlib import import_module
from itertools import groupby
from typing import Any, NamedTuple

from experiments.console import BadUsage, Exit
from scala40_env import __version__
from scala40_env.rules.errors import Scala40Error, shown, suggestion

PROGRAM = "scala40"


class Command(NamedTuple):
    """A command: its words, one line of help, the module that has its `run`, and the name of its settings there."""

    name: str
    summary: str
    module: str
    settings: str


COMMANDS = (
    Command("tournament", "agents playing each other, measured", "experiments.tournament", "TournamentSettings"),
    Command("train", "a network that learns by cloning and self-play", "experiments.train_ppo", "TrainSettings"),
    Command("evaluate", "a checkpoint against agents, measured", "experiments.evaluate", "EvaluateSettings"),
    Command("tune", "weights of the expert, tuned by play against a pool", "experiments.tuning", "TuneSettings"),
    Command("league report", "tables and a page of results", "experiments.commands.report", "ReportSettings"),
    Command("league merge", "results of several runs as one", "experiments.commands.merge", "MergeSettings"),
    Command("league ladder", "all agents against all, as a page", "experiments.ladder", "LadderSettings"),
    Command(
        "play", "a table against agents, in the browser or the terminal", "experiments.play.command", "PlaySettings"
    ),
    Command("replay", "step through a record, or check all of a file", "experiments.commands.replay", "ReplaySettings"),
    Command("legal", "the legal moves of a position", "experiments.commands.legal", "LegalSettings"),
    Command("rules", "the fields of the rules, with their values", "experiments.commands.rules", "RulesSettings"),
    Command("actions", "the table of actions", "experiments.commands.actions", "ActionsSettings"),
    Command("bench engine", "decisions a second of the engine", "experiments.throughput", "ThroughputSettings"),
    Command(
        "bench learning", "steps a second of learners, side by side", "experiments.bench_learning", "LearningSettings"
    ),
    Command("bench peers", "environments of this kind beside each other", "experiments.peers.bench", "PeersSettings"),
)

_HELP_FLAGS = ("-h", "--help")
_VERSION_FLAGS = ("-V", "--version")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (`experiments.console.Exit`)."""
    words = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A player may be called anything; where the terminal has no such letter an escape is better than a traceback.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _answer(words)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _let_go_of_stdout()
        return Exit.BROKEN_PIPE
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return Exit.INTERRUPTED


def _let_go_of_stdout() -> None:
    """Point stdout at nothing, so that Python's own last flush does not fail once more."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())


def _answer(words: list[str]) -> int:
    """The exit code of the command that `words` name; errors end up on stderr, one line each."""
    name = ""
    try:
        if words and words[0] in _VERSION_FLAGS:
            print(f"{PROGRAM} {__version__}")
            return Exit.OK
        if _asks_for_list(words):
            print(_list_of_commands(words[:-1]))
            return Exit.OK
        command, flags = _found(words)
        name = f" {command.name}"
        return _run(command, flags)
    except BrokenPipeError:
        raise
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        return _refused(name, f"{where}{error.strerror or error}")
    except Scala40Error as error:
        return _refused(name, str(error))


def _refused(name: str, message: str) -> int:
    """Print an error as one line; returns its exit code."""
    print(f"{PROGRAM}{name}: error: {' '.join(message.split())}", file=sys.stderr)
    return Exit.BAD_INPUT


# ---------------------------------------------------------------------------------------------------------------------
# Finding the command


def _found(words: Sequence[str]) -> tuple[Command, list[str]]:
    """The command that the first words name, and the words after it. Raises `BadUsage`."""
    for command in COMMANDS:
        length = len(command.name.split())
        if list(words[:length]) == command.name.split():
            return command, list(words[length:])
    raise BadUsage(_which_command(words))


def _which_command(words: Sequence[str]) -> str:
    """What is wrong with words that name no command."""
    help_line = f"see {PROGRAM} --help"
    if not words:
        return f"which command? There are {', '.join(c.name for c in COMMANDS)}; {help_line}"
    group = [command.name for command in COMMANDS if command.name.split()[0] == words[0]]
    if group:
        return f"{words[0]} goes on with one of {', '.join(name.split()[1] for name in group)}; {help_line}"
    names = tuple(command.name for command in COMMANDS)
    kind = "flag" if words[0].startswith("-") else "command"
    return f"there is no {kind} {shown(words[0])}{suggestion(words[0], names)}; {help_line}"


def _asks_for_list(words: Sequence[str]) -> bool:
    """Do the words ask for help on no command yet, or on a group of them?"""
    if not words or words[-1] not in _HELP_FLAGS:
        return False
    return len(words) == 1 or any(command.name.startswith(f"{' '.join(words[:-1])} ") for command in COMMANDS)


def _list_of_commands(group: Sequence[str]) -> str:
    """The help that lists the commands, or those of a group."""
    listed = [command for command in COMMANDS if command.name.split()[: len(group)] == list(group)]
    width = max(len(command.name) for command in listed)
    lines = "\n".join(f"  {command.name:<{width}}  {command.summary}" for command in listed)
    return (
        f"usage: {' '.join((PROGRAM, *group))} COMMAND [FLAGS]\n\n"
        f"Scala 40, the Italian rummy, as an environment for reinforcement learning.\n\n"
        f"commands:\n{lines}\n\n"
        f"{PROGRAM} COMMAND --help tells more; {PROGRAM} --version prints the version."
    )


# ---------------------------------------------------------------------------------------------------------------------
# Flags


def _run(command: Command, words: Sequence[str]) -> int:
    module = import_module(command.module)
    defaults = getattr(module, "defaults", None)
    try:
        default = None if defaults is None else defaults(words)
        settings = _settings(getattr(module, command.settings), command.name, _spread_settings(words), default)
    except SystemExit:  # the help has been printed
        return Exit.OK
    return int(module.run(settings))


def _settings(kind: type, name: str, words: Sequence[str], default: Any = None) -> Any:
    """The settings that the flags say, over those of ``default`` if it is given.

    Raises `BadUsage`, or `SystemExit` when help was asked for.
    """
    import tyro

    caught = io.StringIO()
    try:
        with redirect_stderr(caught):
            config = (tyro.conf.FlagCreatePairsOff,)
            return tyro.cli(kind, prog=f"{PROGRAM} {name}", args=words, config=config, default=default)
    except SystemExit as stop:
        if not stop.code:
            raise
        raise BadUsage(f"{_shortened(caught.getvalue())}; see {PROGRAM} {name} --help") from None


def _spread_settings(words: Sequence[str]) -> list[str]:
    """The words with ``--set a=1 b=2`` written as ``--set a=1 --set b=2``.

    So a ``--set`` takes several settings without swallowing what follows them.
    """
    spread: list[str] = []
    in_settings = False
    for word in words:
        if word.startswith("-"):
            in_settings = word == "--set"
        elif in_settings and "=" in word and spread[-1] != "--set":
            spread.append("--set")
        spread.append(word)
    return spread


_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_RULE = re.compile(r"[\s─╰╯-]*")
_HELPTEXT = re.compile(r"[│ ]\s{9}")


def _shortened(message: str) -> str:
    """What a message of tyro says, without its frame and everything after the first paragraph."""
    lines = _COLOURS.sub("", message).strip().splitlines()
    framed = lines[1:] or lines  # the first one is a title, which says less
    rows = [line.strip(" │") for line in framed if not _HELPTEXT.match(line)]
    parts = [list(part) for is_rule, part in groupby(rows, lambda row: bool(_RULE.fullmatch(row))) if not is_rule]
    said, *others = parts or [[message]]
    guesses = [row.split()[0] for part in others if "Perhaps you meant:" in part for row in part if row[:1] == "-"]
    return " ".join(said).rstrip(".") + (f" (did you mean {guesses[0]}?)" if guesses else "")


if __name__ == "__main__":
    sys.exit(main())
