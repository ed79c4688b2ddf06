"""How kernels are compiled: one decorator, one disk cache that notices every edit, one line when compiling.

Numba's disk cache looks only at the file of the function itself: edit a kernel, and callers in other files go on with
the old machine code. So the cache folder is keyed by a hash over the sources of all kernels, the versions of Numba,
NumPy and Python, and whether bounds are checked. Environment: ``SCALA40_CACHE_DIR`` moves the cache.
"""

import hashlib
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event, types
from numba.core.config import _OptLevel
from numba.core.registry import CPUDispatcher
from numba.core.types.misc import unliteral

__all__ = [
    "JIT_DISABLED",
    "Record",
    "Records",
    "cache_folder",
    "cache_for",
    "entry",
    "is_usable",
    "kernel",
    "light_optimizing",
    "source_hash",
]

Function = TypeVar("Function", bound=Callable[..., Any])
#: One game inside a kernel (a Numba record, or ``numpy.void`` with the JIT off).
Record = Any
#: An array of games of the dtype ``GAME``.
Records = Any

JIT_DISABLED: bool = bool(numba.config.DISABLE_JIT)


#: What kernels are made of outside their own folder: the numbers of cards, options and actions.
_RULES = [Path(__file__).parent.parent / "rules" / f"{name}.py" for name in ("cards", "config", "moves")]


@cache
def source_hash(folder: Path) -> str:
    """Hash of the sources of our kernels and of those in a folder, and of all else that machine code depends on."""
    digest = hashlib.sha256()
    for source in [*sorted(Path(__file__).parent.glob("*.py")), *_RULES, *sorted(folder.glob("*.py"))]:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    versions = (numba.__version__, np.__version__, platform.python_version(), platform.machine())
    digest.update(repr((versions, bool(numba.config.BOUNDSCHECK))).encode())
    return digest.hexdigest()[:16]


def cache_folder(source: Path) -> Path:
    """Folder of the compiled code for kernels in ``source``: it changes with any kernel's source."""
    given = os.environ.get("SCALA40_CACHE_DIR")
    user = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    root = Path(given) if given else Path(user) / "scala40_env"
    return root / source_hash(source.parent)


@cache
def is_usable(folder: Path) -> bool:
    """Whether machine code can be kept in a folder. Says so on stderr if not: every start compiles anew then."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if os.access(folder, os.W_OK | os.X_OK):
        return True
    print(
        f"scala40_env: {folder} can't be written; SCALA40_CACHE_DIR names another folder", file=sys.stderr, flush=True
    )
    return False


@contextmanager
def cache_for(function: Callable[..., Any]) -> Iterator[Path]:
    """Let Numba keep the machine code of a function in our folder, if it `is_usable`."""
    folder = cache_folder(Path(function.__code__.co_filename))
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        yield folder
    finally:
        numba.config.CACHE_DIR = before


@contextmanager
def light_optimizing() -> Iterator[None]:
    """Compile with few optimizations: branchy kernels lose a tenth of their speed, the cold start a tenth of its time.

    There are no loops to vectorize, and what calls what is linked and optimized as a whole anyway.
    """
    names = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE")
    before = {name: getattr(numba.config, name) for name in names}
    for name, value in zip(names, (_OptLevel(1), 0, 0), strict=True):
        setattr(numba.config, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(numba.config, name, value)


class _KernelDispatcher(CPUDispatcher):
    """A dispatcher that compiles each kernel once.

    Numba compiles a function anew for every mix of integer widths and literals that it is called with, and again into
    each of its callers. Kernels know one integer, one boolean, records and arrays; their compiler does not look for
    loops to vectorize, of which there are none: that makes the cold start several times shorter.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template(tuple(map(_widest, args)), {name: _widest(kind) for name, kind in kws.items()})

    def compile(self, sig: Any) -> Any:
        with light_optimizing():
            return super().compile(sig)


class _InnerDispatcher(_KernelDispatcher):
    """A kernel without the wrapper that Python needs to call it: a call would crash, so it is refused."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = self.py_func.__name__
        raise TypeError(f"{name} is a kernel that only kernels can call; declare it with @entry to call it from Python")


def _widest(kind: Any) -> Any:
    """The type that a kernel is compiled for where it is called with this one."""
    kind = unliteral(kind)
    if isinstance(kind, types.Integer) and kind != types.uint64:
        return types.int64
    return kind


_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "boundscheck": None, "no_cfunc_wrapper": True}


def kernel(function: Function) -> Function:
    """Compile a function that only other kernels call: no Python objects, no global interpreter lock.

    It is linked into its callers and not cached for itself, and it can't be called from Python: the wrapper that would
    allow it doubles the time to compile. With ``NUMBA_DISABLE_JIT=1`` the function stays as it is, so that debuggers
    and coverage see it.
    """
    if JIT_DISABLED:
        return function
    return cast(Function, _InnerDispatcher(py_func=function, targetoptions=_OPTIONS | {"no_cpython_wrapper": True}))


def entry(function: Function) -> Function:
    """Compile a kernel that Python calls, with arrays and numbers, and cache it on disk."""
    if JIT_DISABLED:
        return function
    compiled: Any = _KernelDispatcher(py_func=function, targetoptions=dict(_OPTIONS))
    with cache_for(function) as folder:
        if is_usable(folder):
            compiled.enable_caching()
    return cast(Function, compiled)


class _CompileNotice(event.Listener):
    """Says once that kernels are being compiled, so that nobody takes the wait for a hang."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if self.said or module.split(".")[0] not in ("scala40_env", "agents"):
            return
        self.said = True
        print(
            "scala40_env: compiling the game kernels, once for this version and machine ...",
            file=sys.stderr,
            flush=True,
        )

    def on_end(self, event: Any) -> None:
        pass


if not JIT_DISABLED:
    event.register("numba:compile", _CompileNotice())
