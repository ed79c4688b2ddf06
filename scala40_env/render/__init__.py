"""Drawing: one table as SVG, coloured text, pixels or a window, and whole matches as an HTML replay.

What is drawn is a `Game`, with all its cards, or a `View`, with those of its seat: a view holds nothing hidden, so no
drawing of it can show any. Only `raster` needs libraries, those of the extra ``render``.
"""

from scala40_env.render.ansi import ansi_of
from scala40_env.render.html import replay_html
from scala40_env.render.raster import Window, rgb_array_of
from scala40_env.render.svg import svg_of

__all__ = ["Window", "ansi_of", "replay_html", "rgb_array_of", "svg_of"]
