"""Scala 40, the Italian rummy, as a fast and exact environment for reinforcement learning.

>>> from scala40_env import Game, Rules
>>> Game(Rules.fisca(num_players=3), seed=7).play("stock").phase
'play'

The names below are loaded when they are first asked for, so that looking at the rules alone compiles no kernel.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scala40_env.registration import register_when_loaded

if TYPE_CHECKING:
    from scala40_env.rules.config import Rules as Rules
    from scala40_env.rules.errors import BadNotation as BadNotation
    from scala40_env.rules.errors import BadPosition as BadPosition
    from scala40_env.rules.errors import BadRecord as BadRecord
    from scala40_env.rules.errors import BadRules as BadRules
    from scala40_env.rules.errors import IllegalMove as IllegalMove
    from scala40_env.rules.errors import Scala40Error as Scala40Error
    from scala40_env.rules.game import Game as Game
    from scala40_env.rules.game import Outcome as Outcome
    from scala40_env.rules.record import Record as Record
    from scala40_env.rules.view import View as View

__version__ = "0.1.0"

# `gymnasium.make` and `pettingzoo.make` know our environments once this package is imported, in either order; neither
# library is imported for it.
register_when_loaded()

_HOMES = {
    "BadNotation": "errors",
    "BadPosition": "errors",
    "BadRecord": "errors",
    "BadRules": "errors",
    "Game": "game",
    "IllegalMove": "errors",
    "Outcome": "game",
    "Record": "record",
    "Rules": "config",
    "Scala40Error": "errors",
    "View": "view",
}

__all__ = [
    "BadNotation",
    "BadPosition",
    "BadRecord",
    "BadRules",
    "Game",
    "IllegalMove",
    "Outcome",
    "Record",
    "Rules",
    "Scala40Error",
    "View",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.rules.{_HOMES[name]}"), name)
    globals()[name] = value  # found at once from now on
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
