"""Pixels and the window; and what is said where their libraries are not installed."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from scala40_env import Game
from scala40_env.render import Window, rgb_array_of
from scala40_env.render.raster import MissingExtra, _library
from tests.optional import library
from tests.render.tables import BUYING, stages


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> Any:
    """pygame, on no screen."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    library("resvg_py")
    return library("pygame")


@pytest.mark.parametrize("name", ["pygame", "resvg_py"])
def test_what_is_missing_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=rf"{name}, which is not installed: pip install 'scala40-env\[render\]'"):
        _library(name)


def test_a_window_needs_the_extra_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(MissingExtra):
        Window()


def test_the_shape_is_what_was_asked_for_on_every_table(libraries: Any) -> None:
    for at, game in enumerate(stages(BUYING, seed=3, moves=90)):
        if at % 30 == 0:
            assert rgb_array_of(game).shape == (720, 960, 3)
            pixels = rgb_array_of(game.view(1), size=(320, 500))
            assert pixels.shape == (500, 320, 3) and pixels.dtype == np.uint8 and pixels.flags.c_contiguous


def test_it_is_the_drawing(libraries: Any) -> None:
    game = Game(seed=1)
    pixels = rgb_array_of(game)
    assert np.array_equal(pixels, rgb_array_of(game.copy()))
    assert not np.array_equal(pixels, rgb_array_of(game.view(0)))
    assert not np.array_equal(pixels, rgb_array_of(game, four_colours=True))
    assert not np.array_equal(pixels, rgb_array_of(game, names=["a", "b", "c", "d"]))
    paper = (pixels > 240).all(axis=2).mean()
    assert paper > 0.05  # cards, and the right way round: the title is at the top
    assert (pixels[-5:] == pixels[-1, 0]).all()


def test_too_small_is_refused(libraries: Any) -> None:
    with pytest.raises(ValueError, match="16 pixels and more"):
        rgb_array_of(Game(seed=1), size=(4, 300))


def test_a_window_shows_and_closes(libraries: Any) -> None:
    game = Game(seed=1)
    with Window(size=(400, 300)) as window:
        assert not window.is_open
        window.show(game)
        assert window.is_open and libraries.display.get_surface().get_size() == (400, 300)
        shown = libraries.surfarray.array3d(libraries.display.get_surface()).swapaxes(0, 1)
        assert np.array_equal(shown, rgb_array_of(game, size=(400, 300)))
    assert not window.is_open
    window.show(game)
    assert not window.is_open  # closed for good


def test_two_windows_in_turn(libraries: Any) -> None:
    """One takes the screen from the other, and closing that one does not close it."""
    first, second = Window(size=(200, 200)), Window(size=(300, 200))
    for window in (first, second, first):
        window.show(Game(seed=1))
        assert window.is_open and libraries.display.get_surface().get_size() == window.size
    second.close()
    assert first.is_open
    first.show(Game(seed=2))
    first.close()
    assert not libraries.display.get_init()


def test_its_user_can_close_it(libraries: Any) -> None:
    window = Window(size=(200, 200))
    window.show(Game(seed=1))
    libraries.event.post(libraries.event.Event(libraries.QUIT))
    window.show(Game(seed=2))
    assert not window.is_open
    window.close()
