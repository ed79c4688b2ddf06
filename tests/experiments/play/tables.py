"""Tables to test with: small hands, and agents that are quick without a compiler too."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.play.live import LiveTable, Page
from experiments.play.players import Players
from experiments.play.store import Store
from experiments.play.table import Place, Setup, Table
from scala40_env import Rules

SMALL = Rules.fisca(num_players=3, hand_size=5, opening_points=0, limit=60)
PEOPLE = (Place("Anna", None, "token-a"), Place("Bruno", None, "token-b"), Place("Carla", None, "token-c"))
ONE_PERSON = (Place("Anna", None, "token-a"), Place("greedy 1", "greedy"), Place("greedy 2", "greedy"))


def setup_of(rules: Rules = SMALL, places: Sequence[Place] = PEOPLE, seed: int = 5, **more: Any) -> Setup:
    return Setup("table", rules, seed, tuple(places), **more)


def played(table: Table, moves: int, seed: int = 1) -> Table:
    """The table after so many moves at random, with a liking for melds; hands are dealt as they end."""
    rng = random.Random(seed)
    for _ in range(moves):
        if table.over:
            break
        if table.on_move is None:
            table.next_hand()
            continue
        keen = [move for move in table.game.legal_moves() if move.split()[0] in ("meld", "attach", "swap", "pozzo")]
        table.play(table.game.turn, rng.choice(keen or table.game.legal_moves()))
    return table


@dataclass
class Listener:
    """A page without a browser: keeps what it is sent."""

    live: LiveTable
    seat: int = 0
    got: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page = Page(self.seat, self._keep)

    async def _keep(self, message: dict[str, Any]) -> None:
        self.got.append(message)

    async def says(self, text: str) -> list[dict[str, Any]]:
        """What the page is sent in answer to a text."""
        before = len(self.got)
        await self.live.answer(self.page, text)
        return self.got[before:]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.got if message["type"] == kind]


def live_table(table: Table, folder: Any) -> LiveTable:
    return LiveTable(table, Store(folder), Players())


async def until(condition: Callable[[], Any]) -> None:
    for _ in range(3000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it has not come to that in 30 s")
