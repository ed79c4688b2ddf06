"""A table with its pages: answers what they send, lets agents move, keeps the clock, and saves after every move."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from agents import AgentError
from experiments.play.offers import Way, lit, reason_of, ways, why_not
from experiments.play.players import Players, next_action
from experiments.play.protocol import BadMessage, held, read_message
from experiments.play.shown import said_hint, state_of
from experiments.play.store import Store
from experiments.play.table import NotNow, Table
from experiments.play.words import Words, words_of
from scala40_env.rules.errors import Scala40Error

__all__ = ["LiveTable", "Page"]

Message = dict[str, Any]
_GONE = (ConnectionError, RuntimeError)
"""What sending to a page that has been closed raises."""


@dataclass(eq=False)
class Page:
    """An open page of a seat, and how to send to it.

    `knows_table`: has it said hello and been told what does not change, without which it can't draw a state?
    `asked_at`: the version of the table that it has asked for a hint at, None while it waits for none.
    """

    seat: int
    send: Callable[[Message], Awaitable[None]]
    words: Words = field(default_factory=lambda: words_of("en"))
    knows_table: bool = False
    asked_at: int | None = None


class _Stale(NotNow):
    """A page has acted on a state that is no longer there."""

    def __init__(self) -> None:
        super().__init__("stale")


class LiveTable:
    """A table that pages look at.

    Args:
        table: the match.
        store: where it is saved.
        players: who plays the seats of agents.
    """

    def __init__(self, table: Table, store: Store, players: Players) -> None:
        self.table = table
        self._store, self._players = store, players
        self._pages: set[Page] = set()
        self._agents: asyncio.Task[None] | None = None
        self._clock: asyncio.Task[None] | None = None
        self._beside: set[asyncio.Task[None]] = set()
        self._deadline, self._left = 0.0, 0.0
        self._timed: object = None
        self._answers: dict[str, Callable[[Page, Message], Awaitable[None]]] = {
            "hello": self._hello,
            "select": self._select,
            "put": self._put,
            "move": self._move,
            "undo": self._undo,
            "next": self._next,
            "hint": self._hint,
        }

    # -- pages ---------------------------------------------------------------------------------------------------

    def join(self, page: Page) -> None:
        """Let a page look on; it is told nothing before its hello."""
        self._pages.add(page)
        self._set_clock()

    def leave(self, page: Page) -> None:
        """Forget a page. Without any page the clock stands still."""
        self._pages.discard(page)
        self._set_clock()

    def close(self) -> None:
        """Stop the agents and the clock; all is saved already."""
        for task in (self._agents, self._clock, *self._beside):
            if task is not None:
                task.cancel()

    async def answer(self, page: Page, text: str) -> None:
        """Answer a message of a page; what can't be is refused in words, and the game goes on."""
        try:
            await self._do(page, read_message(text))
        except NotNow as error:
            if isinstance(error, _Stale):
                await self._show_to(page)  # first: a page that shows a new state forgets what was said of the old one
            await self._refuse(page, page.words.say(error.key, name=error.name))
        except BadMessage as error:
            await self._refuse(page, page.words.say("bad_message", why=str(error)))
        except Scala40Error as error:
            await self._refuse(page, page.words.reason(reason_of(error), self.table.setup.names))

    async def _do(self, page: Page, message: Message) -> None:
        if message.get("version", self.table.version) == self.table.version:
            await self._answers[message["type"]](page, message)
        elif message["type"] != "select":  # where cards may go the page asks again when it has the new state
            raise _Stale

    async def _refuse(self, page: Page, why: str) -> None:
        await self._send(page, {"type": "refused", "why": why})

    async def _send(self, page: Page, message: Message) -> None:
        try:
            await page.send(message)
        except _GONE:
            self.leave(page)

    async def _show_to(self, page: Page) -> None:
        state = state_of(self.table, page.seat, page.words)
        await self._send(page, {**state, "clock": self._seconds_left()})

    def _shown_pages(self) -> list[Page]:
        return [page for page in self._pages if page.knows_table]

    async def _show(self) -> None:
        for page in self._shown_pages():
            await self._show_to(page)

    async def _tell(self, key: str, **values: object) -> None:
        """Say something to all pages, each in its words."""
        for page in self._shown_pages():
            await self._send(page, {"type": "note", "text": page.words.say(key, **values)})

    # -- what pages send -----------------------------------------------------------------------------------------

    async def _hello(self, page: Page, message: Message) -> None:
        page.words = words_of(message["language"])
        rules = self.table.setup.rules
        known = {"type": "table", "rules": page.words.rules(rules), "preset": rules.preset, "id": self.table.setup.id}
        await self._send(page, {**known, "record": str(self._store.record_file(self.table.setup.id))})
        page.knows_table = True
        await self._show_to(page)
        self._let_agents_play()
        self._start(self._tell_advisers(page))

    async def _tell_advisers(self, page: Page) -> None:
        advisers = await self._in_thread(self._players.advisers, self.table.setup.rules)
        await self._send(page, {"type": "advisers", "agents": advisers})

    async def _select(self, page: Page, message: Message) -> None:
        answer: Message = {"type": "lit", "cards": message["cards"], "new": False, "pozzo": False, "melds": []}
        if message["cards"] and self.table.on_move == page.seat and self.table.game.phase != "draw":
            cards = self._held(page, message)
            found = lit(self.table.game, cards)
            answer |= {"new": found.new, "pozzo": found.pozzo, "melds": found.melds}
        await self._send(page, answer)

    async def _put(self, page: Page, message: Message) -> None:
        self.table.check_turn(page.seat)
        cards, target = self._held(page, message), message["on"]
        if isinstance(target, int) and target > len(self.table.game.view(page.seat).table):
            raise BadMessage(f"there is no meld {target}")
        found = ways(self.table.game, cards, target)
        if len(found) == 1:
            await self._played(page, found[0].moves)
        elif found:
            await self._send(page, {"type": "choose", "ways": [_choice(way) for way in found]})
        else:
            await self._refuse(page, page.words.reason(why_not(self.table.game, cards, target), self.table.setup.names))

    async def _move(self, page: Page, message: Message) -> None:
        await self._played(page, message["move"])

    async def _undo(self, page: Page, message: Message) -> None:
        self.table.undo(page.seat)
        await self._changed()

    async def _next(self, page: Page, message: Message) -> None:
        self.table.next_hand()
        await self._changed()

    async def _hint(self, page: Page, message: Message) -> None:
        """Let an agent think about it; who asks again meanwhile gets one answer, or no thread would be left to play."""
        self.table.check_turn(page.seat)
        if page.asked_at != self.table.version:
            page.asked_at = self.table.version
            self._start(self._advise(page, message["agent"]))

    async def _advise(self, page: Page, agent: str) -> None:
        """Say what an agent would do, unless the table has changed meanwhile."""
        version = self.table.version
        try:
            answer = await self._hint_of(agent, page)
        except AgentError as error:
            why = page.words.say("agent_failed", name=agent, why=error.reason)
            answer = {"type": "refused", "why": why}
        if page.asked_at == version:
            page.asked_at = None
        if self.table.version == version:
            await self._send(page, answer)

    async def _hint_of(self, agent: str, page: Page) -> Message:
        table = self.table
        ask = (self._players.hint, agent, table.game.copy(), page.seat, table.generator(page.seat))
        if agent not in await self._in_thread(self._players.advisers, table.setup.rules):
            raise AgentError("it gives no hints here")
        return {"type": "hint", "text": said_hint(await self._in_thread(*ask), page.words)}

    def _held(self, page: Page, message: Message) -> list[str]:
        return held(message["cards"], self.table.game.view(page.seat).hand)

    # -- moves ---------------------------------------------------------------------------------------------------

    async def _played(self, page: Page, moves: str) -> None:
        """Play moves of a page; those before one that is refused stay, and are shown."""
        version = self.table.version
        try:
            self.table.play(page.seat, moves)
        finally:
            if self.table.version != version:
                await self._changed()

    async def _changed(self) -> None:
        """Save and show what has changed, and see who goes on."""
        self._set_clock()  # before anything is waited for: that of the last decision must not ring in this one
        await self._save()
        await self._show()
        self._let_agents_play()

    async def _save(self) -> None:
        try:
            self._store.save(self.table)
            if self.table.on_move is None:
                self._store.save_record(self.table)
        except OSError as error:  # a full disk is no reason to stop the game
            await self._tell("not_saved", why=error.strerror or str(error))

    def _let_agents_play(self) -> None:
        if self.table.agent_on_move is not None and (self._agents is None or self._agents.done()):
            self._agents = asyncio.create_task(self._play_agents())

    async def _play_agents(self) -> None:
        """Let agents play until a person has to; pages are shown every turn of theirs."""
        while self.table.agent_on_move is not None:
            decision = self.table.decision
            while self.table.agent_on_move is not None and self.table.decision == decision:
                await self._play_agent()
            await self._changed()

    async def _play_agent(self) -> None:
        """One move of the agent on move; one that fails is played for."""
        try:
            self.table.play_action(await self._in_thread(next_action, self._players, self.table))
        except AgentError as error:
            names = self.table.setup.names
            name = names[self.table.game.turn]
            self.table.play_default()
            await self._tell("agent_failed", name=name, why=error.reason)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Let something go on beside the messages of its page, which would wait for it otherwise."""
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    async def _in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._players.pool, work, *arguments)

    # -- the clock -----------------------------------------------------------------------------------------------

    def _runs(self) -> bool:
        """Does a clock run: for a person on move, while any page is open?"""
        table = self.table
        return bool(table.setup.clock and self._pages) and table.on_move is not None and table.agent_on_move is None

    def _set_clock(self) -> None:
        """Start the clock of a decision that begins, let it run where one goes on, stop it where none runs."""
        if self._clock is not None and self._runs() and self._timed == self.table.decision:
            return
        if self._clock is not None:
            self._clock.cancel()
            self._clock, self._left = None, self._deadline - _now()
        if self._runs():
            self._start_clock()

    def _start_clock(self) -> None:
        """Start it with what the decision has left: a page that is opened again brings no new time."""
        if self._timed != self.table.decision:
            self._timed, self._left = self.table.decision, self.table.setup.clock
        self._deadline = _now() + self._left
        self._clock = asyncio.create_task(self._ring())

    async def _ring(self) -> None:
        """When the time is up, play for whoever has let it pass."""
        await asyncio.sleep(self._deadline - _now())
        self._clock = None
        name = self.table.setup.names[self.table.game.turn]
        self.table.play_default()
        await self._tell("time_is_up", name=name)
        await self._changed()

    def _seconds_left(self) -> float | None:
        return None if self._clock is None else round(max(self._deadline - _now(), 0), 1)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _choice(way: Way) -> Message:
    return {"moves": way.moves, "cards": way.shows.split()}
