"""The drawing as pixels, and in a window. Both need the extra ``render``."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from scala40_env.render.scene import Table
from scala40_env.render.svg import FELT, UNITS, svg_of

SIZE = (960, 720)
"""Width and height of a picture in pixels, if nothing else is asked for."""

_SMALLEST = 16

_FONT = "FreeSans"
"""The family of the font that comes with pygame; resvg looks for Arial, and leaves words out where there is none."""


class MissingExtra(ImportError):
    """A library of an optional extra is not installed."""


def rgb_array_of(
    table: Table,
    *,
    size: tuple[int, int] = SIZE,
    four_colours: bool = False,
    names: Sequence[str] | None = None,
) -> NDArray[np.uint8]:
    """Draw a game or a view as pixels: uint8, shape (height, width, 3).

    The shape is that of `size`, (width, height), whatever lies on the table, as a video needs it; the drawing fills
    as much of it as its own shape allows. Raises `MissingExtra` where the extra ``render`` is not installed.
    """
    pygame = _library("pygame")
    picture = pygame.Surface(size)
    picture.fill(FELT)
    drawing = pygame.image.load(io.BytesIO(_png(table, size, four_colours, names)), "table.png")
    picture.blit(drawing, ((size[0] - drawing.get_width()) // 2, 0))
    pixels: NDArray[np.uint8] = pygame.surfarray.array3d(picture)
    return np.ascontiguousarray(pixels.swapaxes(0, 1))


def _png(table: Table, size: tuple[int, int], four_colours: bool, names: Sequence[str] | None) -> bytes:
    """The drawing as a PNG file, as large as fits into `size`."""
    width, height = size
    if min(size) < _SMALLEST:
        raise ValueError(f"size = {size}: allowed are {_SMALLEST} pixels and more each way")
    svg = svg_of(table, width=UNITS, four_colours=four_colours, names=names)
    full = _height_of(svg)
    scale = min(width / UNITS, height / full)
    drawn = max(int(UNITS * scale), 1), max(int(full * scale), 1)
    return bytes(
        _library("resvg_py").svg_to_bytes(
            svg_string=svg, width=drawn[0], height=drawn[1], sans_serif_family=_FONT, font_files=[_font_file()]
        )
    )


def _height_of(svg: str) -> int:
    """The height that our own drawing says it has."""
    return int(svg.split(' height="', 1)[1].split('"', 1)[0])


def _font_file() -> str:
    """Where the font is that comes with pygame. For letters that it lacks resvg asks those of the system."""
    pygame = _library("pygame")
    return str(Path(str(pygame.__file__)).with_name(pygame.font.get_default_font()))


def _library(name: str) -> ModuleType:
    """A library of the extra. Raises `MissingExtra`."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # pygame greets on stdout, which is not ours to write to
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(
            f"drawing as pixels needs {name}, which is not installed: pip install 'scala40-env[render]'", name=name
        ) from error


class Window:
    """A window on the screen that shows tables; opened by the first `show`, closed by `close` or by its user.

    There is one screen window in a process: of several of these the one that shows last has it.

    Args:
        size: width and height in pixels.
        four_colours: as for `svg_of`.
        title: of the window.

    Raises `MissingExtra` where the extra ``render`` is not installed.

    >>> with Window() as window:  # doctest: +SKIP
    ...     window.show(game)
    """

    _on_screen: ClassVar[Window | None] = None
    """Whose the window on the screen is; pygame draws all of them on one surface."""

    def __init__(
        self, *, size: tuple[int, int] = SIZE, four_colours: bool = False, title: str = "Scala Quaranta"
    ) -> None:
        self.size = size
        self.four_colours = four_colours
        self.title = title
        self._pygame: Any = _library("pygame")
        self._closed = False

    @property
    def is_open(self) -> bool:
        """Is it on the screen?"""
        return Window._on_screen is self and bool(self._pygame.display.get_init())

    def show(self, table: Table, names: Sequence[str] | None = None) -> None:
        """Show a game or a view, and answer to the user's window events; nothing more once it was closed."""
        self._answer_events()
        if self._closed:
            return
        if not self.is_open:
            self._open()
        pixels = rgb_array_of(table, size=self.size, four_colours=self.four_colours, names=names)
        self._pygame.surfarray.blit_array(self._pygame.display.get_surface(), pixels.swapaxes(0, 1))
        self._pygame.display.flip()

    def close(self) -> None:
        """Close the window for good."""
        self._closed = True
        if self.is_open:
            self._pygame.display.quit()
            Window._on_screen = None

    def _open(self) -> None:
        self._pygame.display.init()
        self._pygame.display.set_mode(self.size)
        self._pygame.display.set_caption(self.title)
        Window._on_screen = self

    def _answer_events(self) -> None:
        if self.is_open and any(event.type == self._pygame.QUIT for event in self._pygame.event.get()):
            self.close()

    def __enter__(self) -> Window:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
