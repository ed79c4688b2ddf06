"""A server of tables in a thread, for a browser to play at."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from experiments.play.live import LiveTable
from experiments.play.players import Players
from experiments.play.server import Tables, application, bound
from experiments.play.store import Store
from experiments.play.table import Setup
from scala40_env import Rules

DEFAULTS: dict[str, Any] = {"rules": Rules(num_players=3).to_dict(), "seats": ["person", "greedy"], "clock": 0}
DEFAULTS |= {"language": "en", "seed": "11", "name": "Anna"}


class Served:
    """A server that can be stopped and started again at the same address."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, 0
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)))
        self._thread.start()
        assert ready.wait(60)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        assert self._thread is not None
        self._thread.join(60)
        assert not self._thread.is_alive()

    def add(self, setup: Setup) -> LiveTable:
        """A new table, in the server's own thread."""
        done: Any = asyncio.run_coroutine_threadsafe(self._add(setup), self._loop)
        found: LiveTable = done.result(30)
        return found

    async def _add(self, setup: Setup) -> LiveTable:
        self.tables.add(setup)
        return await self._find(setup)

    async def _find(self, setup: Setup) -> LiveTable:
        live, _ = await self.tables.find(next(place.token for place in setup.places if place.token))
        return live

    def live(self, setup: Setup) -> LiveTable:
        found: LiveTable = asyncio.run_coroutine_threadsafe(self._find(setup), self._loop).result(30)
        return found

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        self.tables = Tables(Store(self.folder), Players(), DEFAULTS)
        runner = web.AppRunner(application(self.tables, ("localhost",)), shutdown_timeout=1)
        await runner.setup()
        with bound("127.0.0.1", self.port) as sock:
            self.port = sock.getsockname()[1]
            await web.SockSite(runner, sock).start()
            ready.set()
            await self._stopped.wait()
            await runner.cleanup()


@contextmanager
def serving(folder: Path) -> Iterator[Served]:
    served = Served(folder)
    served.start()
    try:
        yield served
    finally:
        served.stop()
