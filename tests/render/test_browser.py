"""The replay page in a real browser: Debian's Chromium through Playwright."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scala40_env.render import replay_html
from tests.optional import library, program
from tests.render.browser import SIZES, launched, opened
from tests.render.tables import NAMES, full_table, long_match, short_match

library("playwright.sync_api")
program("chromium")
pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("replay") / "match.html"
    replay_html([long_match(), short_match(), full_table()], path)
    return path


@pytest.fixture(params=SIZES)
def page(request: pytest.FixtureRequest, browser: Any, file: Path) -> Iterator[Any]:
    """The page open at one of the sizes, offline; what it logs or asks for fails the test."""
    with opened(browser, file, request.param) as (page, wrong):
        yield page
    assert not wrong


def shown(page: Any) -> str:
    return str(page.inner_text("#move"))


def wait_for_move(page: Any, move: int) -> None:
    """Wait until it has played so far; Playwright's own waiting evaluates code, which the page's policy forbids."""
    for _ in range(100):
        if int(page.input_value("#slider")) >= move:
            return
        page.wait_for_timeout(50)
    pytest.fail(f"after 5 s the page stands at: {shown(page)}")


def faces(page: Any, where: str) -> list[str]:
    return [svg.get_attribute("aria-label") for svg in page.query_selector_all(f"{where} svg.card")]


def test_it_opens_at_the_deal(page: Any) -> None:
    """How fast is printed by ``python -m tests.timings``."""
    assert "Hand 1, move 0 of" in shown(page) and "the cards are dealt" in shown(page)


@pytest.mark.parametrize("match", ["0", "1", "2"], ids=["four", "two", "six"])
def test_it_fits_its_width(page: Any, match: str) -> None:
    page.select_option("#match", match)
    page.select_option("#hand", "1")
    page.click("#last")
    page.click("#back")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for part in page.query_selector_all("svg.card, #scores td, #scores th, button, select, label"):
        box = part.bounding_box()
        if box is not None:  # it is shown
            assert box["x"] >= 0 and box["x"] + box["width"] <= page.viewport_size["width"] + 0.5


@pytest.mark.parametrize("match", ["0", "1", "2"], ids=["four", "two", "six"])
def test_all_seats_and_the_table_are_on_a_desktop_at_the_deal(page: Any, match: str) -> None:
    page.select_option("#match", match)
    fits = page.evaluate("document.querySelector('#play').scrollHeight <= document.querySelector('#play').clientHeight")
    assert fits and (page.viewport_size["width"] < 800 or page.evaluate("document.body.scrollHeight <= innerHeight"))


def test_names_are_text(page: Any) -> None:
    assert page.inner_text("#seats article:nth-child(2) h2").startswith(NAMES[1])
    assert page.query_selector("#seats b") is None


def test_keys_and_buttons(page: Any) -> None:
    keys = page.keyboard
    keys.press("ArrowRight")
    assert "Hand 1, move 1 of" in shown(page) and "stock" in shown(page)
    keys.press("End")
    assert page.input_value("#slider") == page.get_attribute("#slider", "max")
    keys.press("ArrowRight")
    assert "Hand 2, move 0 of" in shown(page)
    keys.press("ArrowLeft")
    assert "Hand 1" in shown(page)
    keys.press("Home")
    assert "move 0 of" in shown(page) and page.is_disabled("#back")
    keys.press("PageDown")
    assert "Hand 2" in shown(page)
    keys.press("ArrowDown")
    assert "throws" in shown(page) and page.get_attribute("#move", "title").startswith("discard")
    page.click("#on")
    page.click("#back")
    page.click("#first")
    assert "Hand 2, move 0 of" in shown(page)
    page.fill("#slider", "3")
    assert "move 3 of" in shown(page)
    page.click("#scores tr:nth-child(5) button")
    assert page.eval_on_selector("#hand", "select => select.value") == "2"


def test_it_plays_and_pauses(page: Any) -> None:
    page.select_option("#speed", "60")
    page.click("h1")
    page.keyboard.press("Space")
    wait_for_move(page, 3)
    assert page.inner_text("#run") == "Pause"
    page.click("#run")
    before = shown(page)
    page.wait_for_timeout(200)
    assert shown(page) == before and page.inner_text("#run") == "Play"


def test_one_seat_sees_its_own_cards(page: Any) -> None:
    hidden = "hidden card"
    assert hidden not in faces(page, "#seats")
    page.select_option("#viewer", "2")
    for seat in range(4):
        of_seat = faces(page, f"#seats article:nth-child({seat + 1})")
        assert len(of_seat) == 13
        assert (hidden in of_seat) == (seat != 2)
    page.select_option("#viewer", "-1")
    assert hidden not in faces(page, "#seats")


def test_every_state_is_what_the_file_says(page: Any) -> None:
    wanted = page.evaluate("[0, 1, 2, 3].map((seat) => states.at(-2)[`h${seat}`].length)")
    page.click("#last")
    page.click("#back")
    assert [len(faces(page, f"#seats article:nth-child({seat})")) for seat in (1, 2, 3, 4)] == wanted
    assert len(page.query_selector_all(".meld")) == page.evaluate(
        "Object.keys(states.at(-2)).filter((key) => key[0] === 'm').length"
    )


def test_four_colours(page: Any) -> None:
    colour = "getComputedStyle(document.querySelector('#s40-5d g')).fill"
    red = page.evaluate(colour)
    page.check("#colours")
    assert page.evaluate(colour) != red


def test_another_match(page: Any) -> None:
    page.select_option("#match", "1")
    assert page.inner_text("h1") == "anna, bruno"
    assert len(page.query_selector_all("#seats article")) == 2
