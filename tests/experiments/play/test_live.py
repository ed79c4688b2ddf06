"""A live table: what it answers to pages, good and forged; agents, the clock, and what no page is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import agents
from agents import Agent
from experiments.play.live import LiveTable
from experiments.play.shown import state_of
from experiments.play.store import Store
from experiments.play.table import Place, Table
from experiments.play.words import LANGUAGES, words_of
from scala40_env import Game, Rules
from scala40_env.rules.errors import BadPosition
from tests.experiments.play.tables import ONE_PERSON, PEOPLE, Listener, live_table, played, setup_of, until


def run_at(table: Table, folder: Path, script: Callable[[LiveTable, Listener], Awaitable[None]]) -> None:
    """Run a script at a live table, as the page of its first seat."""

    async def go() -> None:
        live = live_table(table, folder)
        page = Listener(live)
        live.join(page.page)
        try:
            await asyncio.wait_for(script(live, page), 60)
        finally:
            live.close()
            live._players.close()

    asyncio.run(go())


def said(message: dict[str, Any], version: int | None = None) -> str:
    return json.dumps(message if version is None else {**message, "version": version})


def test_a_page_is_told_the_rules_and_the_state(tmp_path: Path) -> None:
    async def script(live: LiveTable, page: Listener) -> None:
        await page.says(said({"type": "hello", "language": "es"}))
        await until(lambda: live.table.agent_on_move is None)
        assert page.of("table")[0]["rules"] == words_of("es").rules(live.table.setup.rules)
        state = page.of("state")[-1]
        assert state["hand"] == list(live.table.game.view(0).hand)
        assert [seat["size"] for seat in state["seats"]] == list(live.table.game.view(0).hand_sizes)

    run_at(Table(setup_of(places=ONE_PERSON)), tmp_path, script)


@pytest.mark.once
def test_a_page_is_shown_nothing_before_its_hello(tmp_path: Path) -> None:
    """It could not draw a state without its table."""

    async def script(live: LiveTable, page: Listener) -> None:
        other = Listener(live, 1)
        live.join(other.page)
        page.page.seat = live.table.game.turn
        await page.says(said({"type": "hello", "language": "en"}))
        await page.says(said({"type": "move", "move": "stock"}, live.table.version))
        assert len(page.of("state")) == 2 and not other.got

    run_at(Table(setup_of()), tmp_path, script)


@pytest.mark.once
def test_what_can_not_be_saved_is_said_and_the_game_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    async def script(live: LiveTable, page: Listener) -> None:
        page.page.seat = live.table.game.turn
        await page.says(said({"type": "hello", "language": "it"}))
        monkeypatch.setattr(live._store, "save", full)
        note, state = await page.says(said({"type": "move", "move": "stock"}, live.table.version))
        assert note["text"] == "Il tavolo non si può salvare: No space left on device" and state["phase"] == "play"

    run_at(Table(setup_of()), tmp_path, script)


def test_agents_play_until_a_person_has_to_and_all_is_saved(tmp_path: Path) -> None:
    async def script(live: LiveTable, page: Listener) -> None:
        table = live.table
        await page.says(said({"type": "hello", "language": "en"}))
        for _ in range(12):
            await until(lambda: table.on_move in (0, None))
            if table.on_move is None:
                assert Store(tmp_path).record("table").check().scores == list(table.sheet[-1].scores)
                await page.says(said({"type": "next"}))
                continue
            await page.says(said({"type": "move", "move": "stock"}, table.version))
            assert Store(tmp_path).load("table").game == table.game
            discards = [move for move in table.game.view(0).legal_moves() if move.startswith("discard")]
            await page.says(said({"type": "move", "move": discards[0]}, table.version))
        assert {seat for seat, _ in table.log} >= {1, 2} or table.sheet

    run_at(Table(setup_of(places=ONE_PERSON)), tmp_path, script)


FORGED = (
    {"type": "move", "move": "discard Ks"},
    {"type": "move", "move": "nonsense"},
    {"type": "move", "move": "pozzo"},
    {"type": "move", "move": "attach 5s 99"},
    {"type": "put", "cards": ["Qh", "Qh", "Qh"], "on": "new"},
    {"type": "put", "cards": ["zz"], "on": "pozzo"},
    {"type": "put", "cards": [], "on": 30},
    {"type": "undo"},
    {"type": "hint", "agent": "os:system"},
    {"type": "next"},
    {"type": "cheat"},
)


@pytest.mark.parametrize("message", FORGED, ids=range(len(FORGED)))
def test_a_forged_move_gets_one_message_and_the_game_goes_on(tmp_path: Path, message: dict[str, Any]) -> None:
    async def script(live: LiveTable, page: Listener) -> None:
        table = live.table
        page.page.seat = page.seat = table.game.turn
        before = table.game.copy()
        await page.says(said(message, table.version))
        await until(lambda: len(page.got) > 0)
        (answer,) = page.got
        assert answer["type"] == "refused" and 0 < len(answer["why"]) < 400
        assert "legal:" not in answer["why"] and "position" not in answer["why"] and "\n" not in answer["why"]
        assert table.game == before
        await page.says(said({"type": "move", "move": "stock"}, table.version))
        assert table.game.phase == "play"

    run_at(Table(setup_of()), tmp_path, script)


def test_who_is_not_on_move_is_told_so(tmp_path: Path) -> None:
    async def script(live: LiveTable, page: Listener) -> None:
        table = live.table
        page.page.seat = (table.game.turn + 1) % 3
        name = table.setup.names[table.game.turn]
        for message in ({"type": "move", "move": "stock"}, {"type": "undo"}, {"type": "hint", "agent": "expert"}):
            (answer,) = await page.says(said(message, table.version))
            assert answer == {"type": "refused", "why": words_of("en").say("not_your_turn", name=name)}

    run_at(Table(setup_of()), tmp_path, script)


def test_what_was_meant_for_an_older_state_is_refused(tmp_path: Path) -> None:
    async def script(live: LiveTable, page: Listener) -> None:
        page.page.seat = live.table.game.turn
        assert await page.says(said({"type": "select", "cards": []}, live.table.version - 1)) == []
        state, refused = await page.says(said({"type": "move", "move": "stock"}, live.table.version - 1))
        assert refused["type"] == "refused" and state["type"] == "state" and live.table.game.phase == "draw"

    run_at(Table(setup_of()), tmp_path, script)


def laying() -> Table:
    """A table where seat 0 may lay and attach, with a joker that could stand for several cards."""
    rules = Rules.fisca(num_players=3, opening_points=0)
    table = Table(setup_of(rules))
    table.game = Game.from_position(
        {
            "rules": rules.to_dict(),
            "turn": 0,
            "phase": "play",
            "hands": ["5s 6s * Kd Kh 9c 2d", "?5", "?5"],
            "opened": [True, True, False],
            "table": ["9h Th Jh"],
            "pozzo": "2h",
        }
    )
    return table


def test_cards_chosen_light_up_their_targets_and_ask_what_a_joker_is(tmp_path: Path) -> None:
    async def script(live: LiveTable, page: Listener) -> None:
        cards = ["5s", "6s", "*"]
        (lit,) = await page.says(said({"type": "select", "cards": cards}, live.table.version))
        assert lit == {"type": "lit", "cards": cards, "new": True, "pozzo": False, "melds": []}
        (asked,) = await page.says(said({"type": "put", "cards": cards, "on": "new"}, live.table.version))
        assert [way["cards"] for way in asked["ways"]] == [["*4s", "5s", "6s"], ["5s", "6s", "*7s"]]
        await page.says(said({"type": "move", "move": asked["ways"][1]["moves"]}, live.table.version))
        assert live.table.game.view(0).table == ("9h Th Jh", "5s 6s *7s")
        await page.says(said({"type": "undo"}, live.table.version))
        assert live.table.game.view(0).table == ("9h Th Jh",)
        await page.says(said({"type": "put", "cards": ["9c"], "on": "pozzo"}, live.table.version))
        assert live.table.game.turn == 1

    run_at(laying(), tmp_path, script)


@pytest.mark.parametrize("language", LANGUAGES)
def test_refusals_are_said_in_the_language_of_the_page(tmp_path: Path, language: str) -> None:
    async def script(live: LiveTable, page: Listener) -> None:
        await page.says(said({"type": "hello", "language": language}))
        (answer,) = await page.says(said({"type": "put", "cards": ["Kd"], "on": 1}, live.table.version))
        takes = "meld 1 (9h Th Jh) takes 8h low or Qh high"
        assert answer["why"] == words_of(language).reason(takes) and (language == "en" or "takes" not in answer["why"])

    run_at(laying(), tmp_path, script)


def buying() -> Table:
    """A table where seat 1 is asked whether it buys the 4s, which it can attach."""
    rules = Rules.fisca(num_players=3, opening_points=0, buying=True)
    table = Table(setup_of(rules))
    table.game = Game.from_position(
        {
            "rules": rules.to_dict(),
            "turn": 0,
            "phase": "draw",
            "hands": ["?5", "9h 9d Kc 2d", "?5"],
            "opened": [True, True, True],
            "table": ["5s 6s 7s"],
            "pozzo": "2h 4s",
        }
    )
    table.play(0, "stock")
    return table


def test_a_card_is_bought(tmp_path: Path) -> None:
    async def script(live: LiveTable, page: Listener) -> None:
        assert live.table.on_move == 1
        page.page.seat = page.seat = 1
        await page.says(said({"type": "hello", "language": "en"}))
        asked = page.of("state")[-1]
        assert asked["draws"] == ["buy", "pass"] and asked["standing"][0].startswith("Will you buy")
        await page.says(said({"type": "move", "move": "buy"}, live.table.version))
        owing = page.of("state")[-1]
        assert owing["draws"] == [] and "4s" in owing["standing"][1] and owing["can_undo"]
        await page.says(said({"type": "put", "cards": ["4s"], "on": 1}, live.table.version))
        assert live.table.game.view(1).table == ("4s 5s 6s 7s",) and len(page.of("state")[-1]["hand"]) == 5

    run_at(buying(), tmp_path, script)


# ---------------------------------------------------------------------------------------------------------------------
# Agents that fail


class _Broken(Agent):
    name = "broken"

    def act(self, view: Any, rng: Any) -> int:
        if view.phase == "draw":
            raise ZeroDivisionError("no idea")
        return -1


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(agents.base._FACTORIES, "broken", _Broken)
    return "broken"


def test_an_agent_that_fails_is_played_for(tmp_path: Path, broken: str) -> None:
    places = [PEOPLE[0], Place("one", broken), Place("two", broken)]

    async def script(live: LiveTable, page: Listener) -> None:
        await page.says(said({"type": "hello", "language": "en"}))
        await until(lambda: live.table.on_move == 0)
        if not live.table.log:
            live.table.play_default()
            await live._changed()
            await until(lambda: live.table.on_move == 0)
        notes = [note["text"] for note in page.of("note")]
        assert notes and all("ZeroDivisionError" in note for note in notes)
        assert {seat for seat, _ in live.table.log} & {1, 2}

    run_at(Table(setup_of(places=places)), tmp_path, script)


# ---------------------------------------------------------------------------------------------------------------------
# The clock


def test_when_the_time_is_up_a_turn_is_played(tmp_path: Path) -> None:
    async def script(live: LiveTable, page: Listener) -> None:
        await page.says(said({"type": "hello", "language": "en"}))
        seat = live.table.game.turn
        live._deadline = 0
        assert live._clock is not None
        live._clock.cancel()
        await live._ring()
        assert live.table.game.turn != seat and [at for at, _ in live.table.log] == [seat, seat]
        assert page.of("note")[0]["text"].startswith("Time is up")
        assert 0 < page.of("state")[-1]["clock"] <= 30

    run_at(Table(setup_of(clock=30)), tmp_path, script)


def test_the_clock_goes_on_within_a_turn_and_stands_still_without_pages(tmp_path: Path) -> None:
    async def script(live: LiveTable, page: Listener) -> None:
        page.page.seat = live.table.game.turn
        clock = live._clock
        await page.says(said({"type": "move", "move": "stock"}, live.table.version))
        assert clock is not None and live._clock is clock
        live.leave(page.page)
        assert live._clock is None

    run_at(Table(setup_of(clock=30)), tmp_path, script)


@pytest.mark.once
def test_a_page_that_is_opened_again_brings_no_new_time(tmp_path: Path) -> None:
    async def script(live: LiveTable, page: Listener) -> None:
        live._deadline -= 20
        live.leave(page.page)
        live.join(page.page)
        assert live._clock is not None
        left = live._seconds_left()
        assert left is not None and left <= 10

    run_at(Table(setup_of(clock=30)), tmp_path, script)


def test_no_clock_without_one(tmp_path: Path) -> None:
    async def script(live: LiveTable, page: Listener) -> None:
        await page.says(said({"type": "hello", "language": "en"}))
        assert page.of("state")[-1]["clock"] is None

    run_at(Table(setup_of()), tmp_path, script)


# ---------------------------------------------------------------------------------------------------------------------
# Hidden cards


def other_deals(table: Table, seat: int) -> list[Table]:
    """The same table with the cards that a seat can't see dealt anew, in several ways."""
    others = []
    for seed in range(60):
        other = Table.__new__(Table)
        other.__dict__.update(table.__dict__)
        try:
            other.game = Game.from_position({**table.game.view(seat).position(), "seed": seed})
        except BadPosition:  # with these cards whoever is on move could not end its turn
            continue
        others.append(other)
        if len(others) == 3:
            break
    assert len(others) == 3
    return others


@pytest.mark.parametrize("moves", [0, 1, 25, 47])
def test_the_state_of_a_seat_does_not_depend_on_hidden_cards(moves: int) -> None:
    table = played(Table(setup_of(Rules.casa(num_players=3, hand_size=9, opening_points=10))), moves, moves)
    words = words_of("en")
    for seat in range(3):
        state = state_of(table, seat, words)
        others = other_deals(table, seat)
        assert all(state_of(other, seat, words) == state for other in others)
        assert any(other.game.view((seat + 1) % 3).hand != table.game.view((seat + 1) % 3).hand for other in others)


def test_the_check_bites() -> None:
    table = played(Table(setup_of()), 3)
    seat = table.game.turn
    table.fresh[seat] = table.game.view((seat + 1) % 3).hand
    other = other_deals(table, seat)[0]
    other.fresh = {seat: other.game.view((seat + 1) % 3).hand}
    words = words_of("en")
    assert state_of(other, seat, words) != state_of(table, seat, words)


def test_nothing_that_is_sent_names_the_seed(tmp_path: Path) -> None:
    seed = 1234567890123456789

    async def script(live: LiveTable, page: Listener) -> None:
        await page.says(said({"type": "hello", "language": "en"}))
        page.page.seat = live.table.game.turn
        for message in (*FORGED, {"type": "move", "move": "stock"}):
            await page.says(said(message, live.table.version))
        assert page.got and str(seed) not in json.dumps(page.got)

    run_at(Table(setup_of(seed=seed)), tmp_path, script)
