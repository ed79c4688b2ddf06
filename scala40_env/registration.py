"""Registers the environments with PettingZoo's and Gymnasium's `make`, light enough for ``import scala40_env``.

Nothing is imported for it: where a library is loaded already the environments are registered at once, and otherwise at
the moment when it has been. So the order of the imports does not matter, and who only plays the game loads neither::

    import scala40_env, pettingzoo
    env = pettingzoo.make("aec", "scala40_v0", rules="casa")

PettingZoo has `make` from 1.27 on; with older versions there is `scala40_v0.env` alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

__all__ = ["PETTINGZOO_ID", "register_pettingzoo", "register_when_loaded", "when_loaded"]

PETTINGZOO_ID = "scala40_v0"
"""PettingZoo also finds it as ``scala40-v0``, and as ``scala40``."""


def register_pettingzoo() -> None:
    """Register `scala40_v0.env` with PettingZoo, once; where it has no registry yet (before 1.27) nothing is done."""
    import pettingzoo

    register = getattr(pettingzoo, "register", None)
    if register is None or PETTINGZOO_ID.replace("_", "-") in pettingzoo.aec_registry:
        return
    register("aec", PETTINGZOO_ID, entry_point="scala40_env.scala40_v0:env")


def register_gymnasium() -> None:
    """Register the environments of one learner and the vector ones with Gymnasium, once."""
    from scala40_env.gym_registration import register_gymnasium

    register_gymnasium()


def register_when_loaded() -> None:
    """Register with each library now, or as soon as it is imported."""
    when_loaded("pettingzoo", register_pettingzoo)
    when_loaded("gymnasium", register_gymnasium)


def when_loaded(library: str, call: Callable[[], None]) -> None:
    """Call `call` now if a library has been imported, or else at the end of its import."""
    module = sys.modules.get(library)
    if module is not None and not _is_loading(module):
        call()
    else:
        sys.meta_path.insert(0, _Waiting(library, call))


def _is_loading(module: ModuleType) -> bool:
    """Is a module in the middle of its import? It may lack what we want of it."""
    return bool(getattr(module.__spec__, "_initializing", False))


class _Waiting(MetaPathFinder):
    """Waits for the import of one library; it finds nothing itself, and goes away when it has been asked for it."""

    def __init__(self, library: str, call: Callable[[], None]) -> None:
        self._library, self._call = library, call

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._library:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Calling(spec.loader, self._call)
        return spec


class _Calling(Loader):
    """Loads as another loader does, and makes a call at the end."""

    def __init__(self, loader: Loader, call: Callable[[], None]) -> None:
        self._loader, self._call = loader, call

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader  # from now on everything is as if nobody had waited
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._call()
