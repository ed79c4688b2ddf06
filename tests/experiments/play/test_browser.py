"""The table in a real browser: hands played by clicks, drags and keys, and what comes over the wire meanwhile."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from experiments.play.live import LiveTable
from experiments.play.store import Store
from experiments.play.table import Place, Setup
from scala40_env import Game, Record, Rules
from tests.experiments.play.tables import PEOPLE
from tests.optional import library, program
from tests.render.browser import SIZES, launched

library("aiohttp")
library("playwright.sync_api")
program("chromium")
pytestmark = pytest.mark.once

served_by = library("tests.experiments.play.served")
Served, serving = served_by.Served, served_by.serving
QUICK = Rules.fisca(num_players=3, hand_size=6, opening_points=0, match="hands", num_hands=2)
CARD = re.compile(r"(?<![*\w])(?:[A2-9TJQK][shdc]\b|\*(?![A2-9TJQK][shdc]))")
Page = Any


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as served:
        yield served


def setup_of(name: str, rules: Rules = QUICK, seed: int = 11) -> Setup:
    agents = [Place(f"greedy {n}", "greedy") for n in range(1, rules.num_players)]
    return Setup(name, rules, seed, (Place("Anna", None, f"token-{name}"), *agents))


@contextmanager
def opened(browser: Any, address: str, size: str = "desktop", **script: str) -> Iterator[Page]:
    """A page of its own browser profile; what it logs or throws fails the test."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height})
    settings = {"pace": "0", **script}
    context.add_init_script("".join(f"localStorage.{key} ??= '{value}';" for key, value in settings.items()))
    page, wrong = context.new_page(), list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    page.goto(address)
    try:
        yield page
    finally:
        context.close()
    assert not [text for text in wrong if "WebSocket" not in text]  # it says so itself when the server is away


def at_table(browser: Any, served: Served, setup: Setup, size: str = "desktop", **script: str) -> Any:
    return opened(browser, f"{served.address}/table/{setup.places[0].token}", size, **script)


def wait(page: Page, what: Callable[[], Any]) -> None:
    """Wait until it is so; Playwright's own waiting evaluates code, which the page's policy forbids."""
    for _ in range(1200):
        if what():
            return
        page.wait_for_timeout(25)
    pytest.fail(f"after 30 s the page says: {page.inner_text('footer')}")


def version(page: Page) -> int:
    return int(page.evaluate("state === null ? -1 : state.version"))


def settle(page: Page, live: LiveTable) -> None:
    """Wait until a person is on move, or nobody, and the page shows it."""
    wait(page, lambda: live.table.agent_on_move is None and version(page) == live.table.version)


@contextmanager
def moving(page: Page, live: LiveTable) -> Iterator[None]:
    """Wait for what is done inside to change the table, and for the table to settle."""
    before = live.table.version
    yield
    wait(page, lambda: live.table.version != before)
    settle(page, live)


def choose(page: Page, cards: list[str]) -> None:
    """Click these cards of the hand."""
    shown = page.evaluate("order()")
    for card in cards:
        at = shown.index(card)
        shown[at] = None
        page.click(f"#hand > :nth-child({at + 1})")


def click_move(page: Page, live: LiveTable, move: str) -> None:
    """Do by clicks what a move in notation says."""
    words = move.split()
    if words[0] in ("stock", "pozzo"):
        with moving(page, live):
            page.click(f"#{words[0]}")
        return
    with moving(page, live):
        named = words[1:] if words[0] == "meld" else words[1:2]
        choose(page, ["*" if card.startswith("*") else card for card in named])
        target = {"meld": "#new", "discard": "#pozzo"}.get(words[0]) or f"[data-target='{words[2]}']"
        wait(page, lambda: "lit" in page.get_attribute(target, "class"))
        page.click(target)
        if page.is_visible("#choice"):
            page.click("#ways button")


def play_by_clicks(page: Page, live: LiveTable, turns: int = 1000) -> None:
    """Play until the hand is over, or so many turns: lays and attaches where it can, throws otherwise."""
    for _ in range(turns):
        if live.table.on_move is None:
            return
        turn = live.table.decision
        while live.table.on_move is not None and live.table.decision == turn:
            legal = live.table.game.view(0).legal_moves()
            whole = [move for move in legal if move.startswith("meld") and "*" not in move]
            click_move(page, live, (whole or [move for move in legal if move.startswith("discard")] or legal[::-1])[0])


# ---------------------------------------------------------------------------------------------------------------------
# A whole hand


Sent = tuple[dict[str, Any], Game, int]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Sent]:
    """All that the server sends, with the game as it was then and the seat of the page."""
    traffic: list[Sent] = []
    send = LiveTable._send

    async def noted(live: LiveTable, page: Any, message: dict[str, Any]) -> None:
        traffic.append((message, live.table.game.copy(), page.seat))
        await send(live, page, message)

    monkeypatch.setattr(LiveTable, "_send", noted)
    return traffic


def seen_by(game: Game, seat: int, log: list[Any]) -> set[str]:
    """The cards that a seat may know of: its own, those on the table and in the pozzo, and those that moves named."""
    view = game.view(seat)
    cards = [*view.hand, *view.pozzo, *(card for known in view.known for card in known)]
    return {
        *cards,
        *" ".join(view.table).replace("*", "").split(),
        *CARD.findall(str(log)),
        *("*" * ("*" in str(view))),
    }


def test_a_hand_by_clicks_with_no_hidden_card_in_the_traffic(
    browser: Any, served: Served, sent: list[Sent], tmp_path: Path
) -> None:
    setup = setup_of("one")
    live = served.add(setup)
    frames, bodies = list[str](), list[Any]()
    with opened(browser, served.address) as page:
        wait(page, lambda: page.query_selector("#seats input"))  # nothing of this page comes later
        page.on("websocket", lambda socket: socket.on("framereceived", lambda text: frames.append(str(text))))
        page.on("response", lambda answer: bodies.append(answer))
        page.goto(f"{served.address}/table/{setup.places[0].token}")
        settle(page, live)
        play_by_clicks(page, live)
        wait(page, lambda: page.is_visible("#ending"))
        texts = [answer.text() for answer in bodies if answer.status != 304]  # what the start page has loaded already
        assert "closes" in page.inner_text("#ending-text") and page.query_selector("#sheet td.closer")
        with moving(page, live):
            page.click("#next")
        assert "hand 2" in page.inner_text("#where")
        page.goto(f"{served.address}/replay/es/one")
        page.keyboard.press("ArrowRight")
        assert "Mano 1, jugada 1 de" in page.inner_text("#move") and "roba del mazo" in page.inner_text("#move")
    assert len(frames) > 8 and {message["type"] for message, _, _ in sent} >= {"table", "state", "lit"}
    for message, game, seat in sent:
        named = set(CARD.findall(str(message)))
        assert named <= seen_by(game, seat, message.get("log", [])), message
    assert not any(len(re.findall(r'"(?:[A2-9TJQK][shdc])"', text)) for text in texts)
    (record,) = Record.load(Store(tmp_path).record_file("one"))
    assert record.check().scores == list(live.table.sheet[0].scores)


def test_the_traffic_check_bites(sent: list[Sent]) -> None:
    game = Game(QUICK, seed=3)
    hidden = Counter(game.view(1).hand) - Counter(game.view(0).hand)
    assert not set(hidden) <= seen_by(game, 0, [])


# ---------------------------------------------------------------------------------------------------------------------
# Doing the wrong thing, and taking the right thing back


def laying(live: LiveTable) -> None:
    """Put cards on the table: seat 0 may lay a meld with a joker, attach, and do much that is wrong."""
    rules = {**QUICK.to_dict(), "hand_size": 13, "opening_points": 40}
    live.table.game = Game.from_position(
        {
            "rules": rules,
            "turn": 0,
            "phase": "play",
            "hands": ["5s 6s * Kd Kh 9c 2d Qh", "?5", "?5"],
            "opened": [True, True, False],
            "table": ["9h Th Jh", "3s 3h 3c"],
            "pozzo": "2h",
        }
    )
    live.table.version += 1


@pytest.fixture
def laid(browser: Any, served: Served) -> Iterator[tuple[Page, LiveTable]]:
    setup = setup_of("laid")
    live = served.add(setup)
    laying(live)
    with at_table(browser, served, setup) as page:
        settle(page, live)
        yield page, live


def refusal(page: Page) -> str:
    wait(page, lambda: page.get_attribute("#said", "class") == "refused")
    return str(page.inner_text("#said"))


def test_illegal_tries_say_why_and_change_nothing(laid: tuple[Page, LiveTable]) -> None:
    page, live = laid
    before = live.table.game.copy()
    for cards, target, said in (
        (["Kd"], "[data-target='1']", "takes 8♥ low or Q♥ high"),
        (["Kd", "9c"], "#new", "three cards"),
        (["Kd", "Kh", "9c"], "#new", "fits neither"),
        (["Qh"], "#pozzo", "attaches to meld 1"),
        ([], "#stock", "drawn already"),
    ):
        choose(page, cards)
        page.click(target)
        assert said in refusal(page)
        page.keyboard.press("Escape")
        page.evaluate("tell('')")
    assert live.table.game == before
    # An answer that comes while states wait to be shown is about the last of them, and is not forgotten with it.
    page.evaluate("arrive({ ...state, version: -1 }); arrive({ ...state, version: -2 })")
    page.evaluate("arrive({ ...state, version: -3 }); receive({ type: 'refused', why: 'not so' })")
    page.wait_for_timeout(100)
    assert version(page) == -3 and refusal(page) == "not so"


def test_a_joker_says_what_it_stands_for_and_undo_takes_it_back(laid: tuple[Page, LiveTable]) -> None:
    page, live = laid
    choose(page, ["5s", "6s", "*"])
    wait(page, lambda: "lit" in page.get_attribute("#new", "class"))
    page.click("#new")
    wait(page, lambda: page.is_visible("#choice"))
    assert len(page.query_selector_all("#ways button")) == 2
    with moving(page, live):
        page.click("#ways button:nth-child(2)")
    assert live.table.game.view(0).table[-1] == "5s 6s *7s"
    with moving(page, live):
        page.click("#undo")
    assert len(live.table.game.view(0).table) == 2 and page.is_disabled("#undo")


def test_cards_are_dragged(laid: tuple[Page, LiveTable]) -> None:
    page, live = laid
    at = page.evaluate("order()").index("Qh")
    start, end = (
        page.query_selector(where).bounding_box() for where in (f"#hand > :nth-child({at + 1})", "#melds .meld")
    )
    page.mouse.move(start["x"] + 20, start["y"] + 20)
    page.mouse.down()
    page.mouse.move(end["x"] + 20, end["y"] + 40, steps=5)
    wait(page, lambda: "lit" in page.get_attribute("#melds .meld", "class"))
    with moving(page, live):
        page.mouse.up()
    assert live.table.game.view(0).table[0] == "9h Th Jh Qh" and page.query_selector(".ghost") is None


def test_keys_play_too(laid: tuple[Page, LiveTable]) -> None:
    page, live = laid
    page.keyboard.press("O")
    order = page.evaluate("order()")
    assert order == ["2d", "5s", "6s", "9c", "Qh", "Kh", "Kd", "*"]
    for _ in range(order.index("Qh") + 1):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    with moving(page, live):
        page.keyboard.press("1")
    assert live.table.game.view(0).table[0] == "9h Th Jh Qh"
    with moving(page, live):
        page.keyboard.press("u")
    assert live.table.game.view(0).table[0] == "9h Th Jh"
    assert page.evaluate("document.activeElement.dataset.at") == str(order.index("Qh"))  # drawn anew, and still there
    page.evaluate("document.activeElement.click()")  # as assistive tools do
    assert page.get_attribute("#hand > :nth-child(5)", "aria-pressed") == "true"
    page.keyboard.press("?")
    assert page.is_visible("#keys-dialog")


def test_rules_languages_and_sorting(laid: tuple[Page, LiveTable]) -> None:
    page, _ = laid
    assert page.is_hidden("#adviser") or page.input_value("#adviser")
    page.click("#show-rules")
    assert "3 players." in page.inner_text("#rules-list")
    page.click("#rules-dialog button")
    for language, word in (("it", "Annulla"), ("es", "Deshacer"), ("en", "Undo")):
        page.select_option("#language", language)
        wait(page, lambda word=word: page.inner_text("#undo") == word)
        wait(page, lambda at=f"/replay/{language}/laid": page.get_attribute("#replay", "href") == at)
    page.click("#sort")
    assert page.evaluate("localStorage.sort") == "rank"


# ---------------------------------------------------------------------------------------------------------------------
# Several tables, pages that come back, a server that comes back


def test_two_tables_at_once(browser: Any, served: Served) -> None:
    setups = [setup_of("one", seed=1), setup_of("two", Rules.casa(num_players=2), seed=2)]
    lives = [served.add(setup) for setup in setups]
    with at_table(browser, served, setups[0]) as one, at_table(browser, served, setups[1]) as two:
        for _ in range(2):
            for page, live in zip((one, two), lives, strict=True):
                settle(page, live)
                play_by_clicks(page, live, 1)
        assert len(one.query_selector_all(".seat")) == 2 and len(two.query_selector_all(".seat")) == 1
        for page, live in zip((one, two), lives, strict=True):
            settle(page, live)
            assert sorted(page.evaluate("state.hand")) == sorted(live.table.game.view(0).hand)


def test_two_people_at_one_table(browser: Any, served: Served) -> None:
    setup = Setup("both", Rules.fisca(num_players=2, hand_size=6), 5, PEOPLE[:2])
    live = served.add(setup)
    pages = [f"{served.address}/table/{place.token}" for place in setup.places]
    with opened(browser, pages[0]) as one, opened(browser, pages[1]) as two:
        on_move, other = (one, two) if live.table.game.turn == 0 else (two, one)
        settle(on_move, live)
        with moving(other, live):
            on_move.click("#draw-stock")
        assert other.is_hidden("#draw-stock") and other.evaluate("state.hand.length") == 6
        assert other.evaluate("state.seats[1 - state.seat].size") == 7


def test_a_page_comes_back_in_mid_hand_and_so_does_the_server(browser: Any, served: Served) -> None:
    setup = setup_of("back")
    live = served.add(setup)
    with at_table(browser, served, setup) as page:
        settle(page, live)
        play_by_clicks(page, live, 1)
        with moving(page, live):
            page.click("#draw-stock")
        held, game = page.evaluate("state.hand"), live.table.game.copy()
        page.reload()
        settle(page, live)
        assert page.evaluate("state.hand") == held
        served.stop()
        wait(page, lambda: "No connection" in page.inner_text("#said"))
        served.start()
        wait(page, lambda: served.live(setup).table.game == game and page.inner_text("#said") == "")
        settle(page, served.live(setup))
        assert page.evaluate("state.hand") == held
        play_by_clicks(page, served.live(setup), 1)
        assert served.live(setup).table.game != game


# ---------------------------------------------------------------------------------------------------------------------
# The start page, and how it all looks


def test_a_table_is_made_on_the_start_page(browser: Any, served: Served) -> None:
    with opened(browser, served.address) as page:
        wait(page, lambda: page.query_selector("#seats input"))
        page.fill("#seats label:nth-child(2) input", "gredy")
        page.click("#new .main")
        wait(page, lambda: "did you mean 'greedy'" in page.inner_text("#wrong"))
        page.evaluate("inputOf('hand_size').value = 99")  # among all rules, which are closed
        page.click("#new .main")
        wait(page, lambda: page.is_visible("#rule-hand_size"))
        assert "End of the stock" in page.inner_text("#all-rules")
        page.select_option("#preset", "casa")
        page.fill("#rule-num_players", "2")
        page.keyboard.press("Tab")
        page.fill("#seats label:nth-child(2) input", "greedy")
        page.click("#new .main")
        wait(page, lambda: "/table/" in page.url and page.query_selector(".in-hand"))
        wait(page, lambda: version(page) >= 0)
        page.go_back()
        wait(page, lambda: page.query_selector("#unfinished .button"))
        assert "casa" in page.inner_text("#unfinished")
    (saved,) = Store(served.folder).saved()
    assert saved.setup.rules == Rules.casa(num_players=2) and saved.setup.seed == 11


@pytest.mark.parametrize("size", SIZES)
def test_it_fits_the_screen(browser: Any, served: Served, size: str) -> None:
    setup = setup_of("fit")
    live = served.add(setup)
    laying(live)
    with at_table(browser, served, setup, size) as page:
        settle(page, live)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for part in page.query_selector_all(".in-hand, .pile, .meld, #buttons button, .tools > *"):
            box = part.bounding_box()
            if box is not None:  # it is shown
                assert box["x"] >= 0 and box["x"] + box["width"] <= page.viewport_size["width"] + 0.5
        cards = [part.bounding_box() for part in page.query_selector_all(".in-hand")]
        assert all(box["width"] >= 48 and box["y"] + box["height"] <= page.viewport_size["height"] for box in cards)
