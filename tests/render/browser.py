"""A replay page in a real browser: Debian's Chromium through Playwright, with no network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.optional import library, program

QUIET = ["quic", "background-networking", "component-update", "sync"]  # services that would look for a network
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", *(f"--disable-{name}" for name in QUIET)]
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}


@contextmanager
def launched() -> Iterator[Any]:
    """The browser, with a new folder for its data."""
    with library("playwright.sync_api").sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program("chromium"), args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, file: Path, size: str) -> Iterator[tuple[Any, list[str]]]:
    """A file on a page of one of the `SIZES`, and what it has logged, thrown, or asked for from elsewhere."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, offline=True)
    page, wrong = context.new_page(), list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("request", lambda asked: None if asked.url == file.as_uri() else wrong.append(asked.url))
    page.goto(file.as_uri())
    yield page, wrong
    context.close()
