"""The web server of the tables: start page, table pages, their sockets, and replays. One loop serves all of them.

It answers only to names of this machine (`_check_host`), and only to pages of its own: a page of elsewhere that a
browser has open beside a table can neither read nor move.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import json
import socket
import weakref
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from pathlib import Path
from string import Template
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from experiments.console import BadUsage
from experiments.play.live import LiveTable, Page
from experiments.play.making import choices, setup_from_page
from experiments.play.players import Players
from experiments.play.store import BadSave, Saved, Store
from experiments.play.table import Setup, Table
from experiments.play.words import LANGUAGES, Words, text_of_file, words_of
from scala40_env.render.cards import BACK, JOKER_FACE, symbols
from scala40_env.render.html import CARDS_SCRIPT, PAGE_PALETTE, replay_page
from scala40_env.render.html import template as render_template
from scala40_env.render.words import language_names
from scala40_env.rules.cards import NUM_NATURALS, format_card
from scala40_env.rules.errors import Scala40Error

__all__ = ["Tables", "application", "bound"]

_LONGEST_MESSAGE = 1 << 16
_LAST_PORT = 65535
_STATIC = Path(__file__).parent / "static"
_POLICY = "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_TABLES: web.AppKey[Tables] = web.AppKey("tables")
_NAMES: web.AppKey[tuple[str, ...]] = web.AppKey("names")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Tables:
    """All tables of a folder: they come to life when a page of theirs opens.

    Args:
        store: where they are kept.
        players: who plays the seats of agents.
        defaults: what the start page has chosen at first, as it sends it back.
    """

    def __init__(self, store: Store, players: Players, defaults: dict[str, Any]) -> None:
        self.store, self.players, self.defaults = store, players, defaults
        self.sockets: weakref.WeakSet[web.WebSocketResponse] = weakref.WeakSet()
        self._live: dict[str, LiveTable] = {}
        self._seats: dict[str, tuple[str, int]] = {}
        for saved in store.saved():
            if isinstance(saved, Saved):
                self._note(saved.setup)

    def _note(self, setup: Setup) -> None:
        """Remember which seat a token opens."""
        for seat, place in enumerate(setup.places):
            if place.token:
                self._seats[place.token] = setup.id, seat

    def add(self, setup: Setup) -> None:
        """A new table, saved before its first move."""
        table = Table(setup)
        self.store.save(table)
        self._note(setup)
        self._live[setup.id] = LiveTable(table, self.store, self.players)

    def check(self, table_id: str) -> None:
        """Raise `web.HTTPNotFound` unless there is such a table."""
        if all(table_id != known for known, _ in self._seats.values()):
            raise _no_table()

    async def find(self, token: str) -> tuple[LiveTable, int]:
        """The table and the seat that a token opens. Raises `web.HTTPNotFound`, or `BadSave` for a broken file."""
        if token not in self._seats:
            raise _no_table()
        table_id, seat = self._seats[token]
        if table_id not in self._live:  # beside the loop, for the moves of a long match are played again
            table = await asyncio.to_thread(self.store.load, table_id)
            self._live.setdefault(table_id, LiveTable(table, self.store, self.players))
        return self._live[table_id], seat

    def close(self) -> None:
        """Stop all that runs at the tables."""
        for live in self._live.values():
            live.close()
        self.players.close()


def _no_table() -> web.HTTPNotFound:
    return web.HTTPNotFound(text="There is no such table here.")


def application(tables: Tables, names: tuple[str, ...]) -> web.Application:
    """The server's application; `names` are the host names that it answers to, addresses aside."""
    app = web.Application(middlewares=[_guarded], client_max_size=_LONGEST_MESSAGE)
    app[_TABLES], app[_NAMES] = tables, names
    app.add_routes(
        [
            web.get("/", _start_page),
            web.get("/choices/{language}", _choices),
            web.post("/tables", _make_table),
            web.get("/table/{token}", _table_page),
            web.get("/socket/{token}", _socket),
            web.get("/words/{language}.json", _words),
            web.get(f"/static/{CARDS_SCRIPT}", _cards_script),
            web.get("/replay/{language}/{table}", _replay),
            web.static("/static", _STATIC),
        ]
    )
    app.on_shutdown.append(_close)
    return app


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises `BadUsage` where it can't."""
    if not 0 <= port <= _LAST_PORT:
        raise BadUsage(f"--port {port}: allowed is 0 to {_LAST_PORT}")
    try:
        return socket.create_server((host, port), family=_family(host))
    except OSError as error:
        hint = "; choose another port, or 0 for any that is free" if error.errno == errno.EADDRINUSE else ""
        raise BadUsage(f"--host {host} --port {port}: {error.strerror or error}{hint}") from None


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


async def _close(app: web.Application) -> None:
    tables = app[_TABLES]
    tables.close()
    await asyncio.gather(*(peer.close(code=WSCloseCode.GOING_AWAY) for peer in [*tables.sockets]))


# ---------------------------------------------------------------------------------------------------------------------
# Who may ask


@web.middleware
async def _guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse who may not ask, and say what went wrong in one line."""
    _check_host(request)
    try:
        response = await handler(request)
    except BadSave as error:
        raise web.HTTPConflict(text=str(error)) from None
    if not response.prepared:
        response.headers.setdefault("Content-Security-Policy", _POLICY)
        response.headers.setdefault("Cache-Control", "no-cache")  # after an upgrade the page and its scripts fit
    return response


def _check_host(request: web.Request) -> None:
    """Refuse names of elsewhere that were made to point here, and pages of elsewhere that ask."""
    name = request.url.host or ""
    if not _is_address(name) and name not in request.app[_NAMES]:
        raise web.HTTPForbidden(text=f"This server does not answer to the name {name}.")
    origin = request.headers.get("Origin")
    if origin is not None and origin != str(request.url.origin()):
        raise web.HTTPForbidden(text="Only pages of this server may ask it.")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_local(request: web.Request) -> bool:
    return (
        request.remote is not None and _is_address(request.remote) and ipaddress.ip_address(request.remote).is_loopback
    )


# ---------------------------------------------------------------------------------------------------------------------
# Pages


def _html(text: str) -> web.Response:
    return web.Response(text=text, content_type="text/html", headers={"Cache-Control": "no-store"})


async def _start_page(request: web.Request) -> web.Response:
    return _html(_page_of("start.html", request.app[_TABLES].defaults["language"]))


def _page_of(name: str, language: str, **more: str) -> str:
    options = "".join(f'<option value="{code}">{own}</option>' for code, own in language_names().items())
    return Template(text_of_file("templates", name)).substitute(language=language, languages=options, **more)


async def _table_page(request: web.Request) -> web.Response:
    live, _ = await request.app[_TABLES].find(request.match_info["token"])
    return _html(_table_html(live.table.setup.language))


@lru_cache
def _table_html(language: str) -> str:
    """The page of any table in a language: what is on it comes by its socket."""
    naturals = [format_card(card) for card in range(NUM_NATURALS)]
    faces = [BACK, JOKER_FACE, *naturals, *(f"*{card}" for card in naturals)]
    return _page_of("table.html", language, symbols=symbols(faces, PAGE_PALETTE))


async def _cards_script(request: web.Request) -> web.Response:
    return web.Response(text=render_template(CARDS_SCRIPT), content_type="text/javascript")


async def _words(request: web.Request) -> web.Response:
    return web.json_response(words_of(_language(request)).content)


def _language(request: web.Request) -> str:
    language = request.match_info["language"]
    if language not in LANGUAGES:
        raise web.HTTPNotFound(text=f"There are no words for {language}.")
    return language


async def _choices(request: web.Request) -> web.Response:
    tables = request.app[_TABLES]
    saved = await asyncio.to_thread(lambda: list(tables.store.saved()))
    return web.json_response(
        {
            **choices(words_of(_language(request))),
            "defaults": tables.defaults,
            "tables": [_listed(each, _is_local(request)) for each in saved if isinstance(each, Saved)],
            "broken": [str(each) for each in saved if isinstance(each, BadSave)],
        }
    )


def _listed(saved: Saved, with_links: bool) -> dict[str, Any]:
    """A table on the start page; who comes from another machine gets no links to other people's seats."""
    setup = saved.setup
    people = [place for place in setup.places if place.token]
    return {
        "id": setup.id,
        "names": setup.names,
        "rules": setup.rules.preset,
        "made": setup.made,
        "hand": len(saved.hands),
        "over": saved.over,
        "replay": len(saved.hands) > 1 or saved.over,
        "seats": [[place.name, f"/table/{place.token}"] for place in people] if with_links else [],
    }


async def _make_table(request: web.Request) -> web.Response:
    given: Any = None
    try:
        given = json.loads(await request.read())
        # Beside the loop, for an agent that is made to see whether it plays these rules may load for seconds.
        setup = await asyncio.to_thread(setup_from_page, given, trusted=_is_local(request))
        request.app[_TABLES].add(setup)
    except (ValueError, RecursionError, OSError) as error:  # what can't be, no JSON, or a folder that can't be written
        said = _words_for(given).reason(str(error))
        return web.json_response({"error": said})  # as a success: browsers log others as errors of the page
    links = [[place.name, f"/table/{place.token}"] for place in setup.places if place.token]
    return web.json_response({"id": setup.id, "seats": links})


def _words_for(given: Any) -> Words:
    """The words of a page that asks for a table; English ones where what it sends names no language."""
    language = given.get("language") if isinstance(given, Mapping) else None
    return words_of(language if language in LANGUAGES else "en")


async def _replay(request: web.Request) -> web.Response:
    """The hands of a table that are over, with all cards."""
    language, table_id, tables = _language(request), request.match_info["table"], request.app[_TABLES]
    tables.check(table_id)
    store = tables.store
    over = store.read(table_id).over  # before that its seed would tell the cards to come
    try:
        page = await asyncio.to_thread(lambda: replay_page(store.record(table_id), with_seed=over, language=language))
    except OSError:
        raise web.HTTPNotFound(text="No hand of this table is over yet.") from None
    except Scala40Error as error:
        raise web.HTTPConflict(text=f"{store.record_file(table_id)}: {error}") from None
    response = _html(page)
    response.headers["Content-Security-Policy"] = "frame-ancestors 'none'"  # beside the page's own
    return response


# ---------------------------------------------------------------------------------------------------------------------
# Sockets


async def _socket(request: web.Request) -> web.WebSocketResponse:
    """What a page and its table say to each other."""
    live, seat = await request.app[_TABLES].find(request.match_info["token"])
    peer = web.WebSocketResponse(max_msg_size=_LONGEST_MESSAGE, heartbeat=30, timeout=1)
    await peer.prepare(request)
    request.app[_TABLES].sockets.add(peer)
    page = Page(seat, lambda message: peer.send_str(json.dumps(message)))
    live.join(page)
    try:
        async for message in peer:
            await live.answer(page, message.data if message.type == WSMsgType.TEXT else "")
    finally:
        live.leave(page)
    return peer
