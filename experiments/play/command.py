"""``scala40 play``: starts the server of the tables, or a table in the terminal."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from experiments.commands.rules import rules_from
from experiments.console import BadUsage, Exit, print_json_line
from experiments.folders import alone_in
from scala40_env.rules.config import Rules, parse_setting

if TYPE_CHECKING:
    from experiments.play.server import Tables
    from experiments.play.store import Store
    from experiments.play.table import Setup, Table

_USUAL_SEATS = 4
_USUAL_AGENT = "expert"
_LOOPBACK = ("localhost",)


@dataclass(frozen=True)
class PlaySettings:
    """Play against agents, and with other people, at a table in the browser or, with --terminal, in the terminal.

    Every table is saved after every move and goes on where it was left; the record of its hands is written after each
    of them, for `scala40 replay`. The flags of rules and agents are what the start page proposes.
    """

    host: str = "127.0.0.1"
    """Address to listen on. Another than this machine's own lets others on the network come."""
    port: int = 8040
    """Port to listen on; 0: any that is free."""
    agents: Annotated[tuple[str, ...], tyro.conf.arg(metavar="AGENT ...")] = ()
    """Who else plays: random, greedy, expert, search, ppo, or module:factory. The last one takes all further seats."""
    preset: str = "fisca"
    """Which rules: fisca (the federation's), casa, scala_quaranta, tavolo or megajogos."""
    seats: int | None = None
    """Seats at the table; if left out, one more than there are agents, or 4."""
    set: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="FIELD=VALUE")] = ()
    """Change fields of the rules: --set limit=201 opening_points=30; see `scala40 rules`."""
    seed: int | None = None
    """Decides all cards of the match; a fresh one if left out."""
    out: Path = Path("runs/play")
    """Folder of the tables and records."""
    clock: int = 0
    """Seconds for a turn, after which one is played for you; 0: no clock."""
    language: Literal["en", "it", "es"] = "en"
    """Language of the pages."""
    name: str = "you"
    """What you are called at the table."""
    resume: Annotated[str, tyro.conf.arg(metavar="TABLE")] = ""
    """Go on at this table; last: the one that was played last."""
    no_browser: bool = False
    """Open no browser; the address is printed."""
    terminal: bool = False
    """Play in this terminal, without a browser or a server."""
    json: bool = False
    """Print one object with the address and the folder instead of words."""


def run(settings: PlaySettings) -> int:
    """Play. Raises `BadUsage` or `BadRules` for what can't be, `OSError` where the folder can't be written."""
    setup = new_table(settings)
    with alone_in(settings.out):  # two who have the same table open would each save over what the other did
        if settings.terminal:
            return _in_terminal(settings, setup)
        _check_library()
        from experiments.play.server import bound

        with bound(settings.host, settings.port) as sock:
            return _serve(settings, setup, sock)


def new_table(settings: PlaySettings) -> Setup:
    """The set-up that the flags say. Raises `BadUsage` or `BadRules`."""
    from experiments.play.making import PERSON, new_setup

    rules = _rules(settings)
    others = settings.agents or (_USUAL_AGENT,)
    if len(others) >= rules.num_players:
        raise BadUsage(f"{len(others)} agents and you are more than {rules.num_players} seats")
    others += (others[-1],) * (rules.num_players - 1 - len(others))
    return new_setup(
        rules,
        (PERSON, *others),
        name=settings.name,
        seed=settings.seed,
        clock=settings.clock,
        language=settings.language,
    )


def _rules(settings: PlaySettings) -> Rules:
    given = dict(map(parse_setting, settings.set))
    if settings.seats is not None and "num_players" in given:
        raise BadUsage("--seats and --set num_players say the same; leave one out")
    usual = len(settings.agents) + 1 if settings.agents else _USUAL_SEATS
    seats = () if "num_players" in given else (f"num_players={settings.seats or usual}",)
    return rules_from(settings.preset, (*seats, *settings.set))


def _check_library() -> None:
    try:
        import_module("aiohttp")
    except ImportError as error:
        raise BadUsage(f"a table in the browser needs aiohttp ({error}): pip install 'scala40-env[play]'") from error


def table_to_resume(store: Store, name: str) -> Table:
    """The table to go on at. Raises `BadSave`, or `BadUsage` where there is none."""
    return store.load(_last(store) if name == "last" else name)


def _last(store: Store) -> str:
    from experiments.play.store import Saved

    for saved in store.saved():
        if isinstance(saved, Saved) and not saved.over:
            return saved.setup.id
    raise BadUsage(f"--resume last: no table in {store.folder} can go on")


def _in_terminal(settings: PlaySettings, setup: Setup) -> int:
    from experiments.play.store import Store
    from experiments.play.table import Table
    from experiments.play.terminal import play_in_terminal

    store = Store(settings.out)
    table = table_to_resume(store, settings.resume) if settings.resume else Table(setup)
    return play_in_terminal(table, store, settings.language)


# ---------------------------------------------------------------------------------------------------------------------
# The server


def _serve(settings: PlaySettings, setup: Setup, sock: socket.socket) -> int:
    from experiments.play.players import Players
    from experiments.play.server import Tables
    from experiments.play.store import BadSave, Store

    store = Store(settings.out)
    for broken in store.saved():
        if isinstance(broken, BadSave):
            print(f"scala40 play: left out: {broken}", file=sys.stderr)
    page = ""
    if settings.resume:
        places = table_to_resume(store, settings.resume).setup.places
        page = f"table/{next(place.token for place in places if place.token)}"
    tables = Tables(store, Players(), _defaults(setup, settings))
    address = f"http://{shown_host(settings.host)}:{sock.getsockname()[1]}/{page}"
    asyncio.run(_until_stopped(settings, tables, sock, address))
    return Exit.OK


def _defaults(setup: Setup, settings: PlaySettings) -> dict[str, Any]:
    """What the start page has chosen at first."""
    from experiments.play.making import PERSON

    return {
        "rules": setup.rules.to_dict(),
        "seats": [place.agent or PERSON for place in setup.places],
        "clock": setup.clock,
        "language": setup.language,
        "seed": "" if settings.seed is None else str(settings.seed),
        "name": settings.name,
    }


def shown_host(host: str) -> str:
    """The host as an address has it; one that stands for all addresses is reached at this machine's own."""
    host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"[{host}]" if ":" in host else host


async def _until_stopped(settings: PlaySettings, tables: Tables, sock: socket.socket, address: str) -> None:
    """Serve until Ctrl-C."""
    from aiohttp import web

    from experiments.play.server import application

    runner = web.AppRunner(application(tables, (*_LOOPBACK, settings.host, socket.gethostname())), shutdown_timeout=1)
    await runner.setup()
    await web.SockSite(runner, sock).start()
    stopped = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stopped.set)
    _announce(settings, address)
    # The first hint would wait for the compiler otherwise.
    _start_beside(tables.players.warm_up)
    if not settings.no_browser:
        _start_beside(webbrowser.open, address)  # one in this terminal returns only when it is closed
    await stopped.wait()
    await runner.cleanup()


def _announce(settings: PlaySettings, address: str) -> None:
    if settings.json:
        print_json_line({"address": address, "folder": str(settings.out)})
    else:
        print(f"Scala 40 is at {address}; tables and records are kept in {settings.out}. Ctrl-C stops it.")
    sys.stdout.flush()


def _start_beside(work: Callable[..., object], *arguments: object) -> None:
    """Start something that nobody who stops the server waits for."""
    threading.Thread(target=work, args=arguments, daemon=True).start()
