"""Islands: kernels that are compiled once and called, not copied into each of their callers.

Numba links every kernel whole into whatever calls it and optimizes the lot again at each level, so that the cold start
grows with the depth of the calls. An island is called by its address under a fixed symbol instead: its callers compile
as if it were an empty function. Only a number can go in beside the record, and only a number can come out::

    @island
    def _outlook_island(address: int, level: int) -> int:
        return _outlook(game_at(address), level)

    @kernel
    def outlook(g: Record, level: int) -> int:
        return _outlook_island(address_of(g), level)

With the JIT off an address is the thing itself.
"""

from collections.abc import Callable
from typing import Any

import llvmlite.binding
import numba
import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from scala40_env.kernels.jit import JIT_DISABLED, Record, cache_for, is_usable, light_optimizing
from scala40_env.kernels.state import GAME

__all__ = ["MOST_MOVES", "address_of", "game_at", "island", "moves_at", "words_at"]

#: Length of a list of moves: no position has more legal moves than the table has actions.
MOST_MOVES = 1045

_GAME_TYPE = numba.from_dtype(GAME)
_SIGNATURE = types.int64(types.intp, types.int64)
#: Machine code stays loaded as long as its owner lives.
_OWNERS: list[Any] = []


def address_of(thing: Any) -> Any:
    """Where a record, or the data of an array of moves, lies."""
    return thing


def game_at(address: Any) -> Record:
    """The record at an address."""
    return address


def moves_at(address: Any) -> np.ndarray:
    """The list of moves (int16[MOST_MOVES]) at an address."""
    moves: np.ndarray = address
    return moves


def words_at(address: Any, length: int) -> np.ndarray:
    """The array of so many words (int64) at an address."""
    words: np.ndarray = address
    return words


@intrinsic
def _record_address(typingctx: Any, record: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ptrtoint(args[0], context.get_value_type(types.intp))

    return types.intp(record), codegen


@intrinsic
def _record_at(typingctx: Any, address: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(_GAME_TYPE))

    return _GAME_TYPE(types.intp), codegen


def _pointer_to(kind: Any) -> Any:
    """Make an intrinsic that turns an address into a pointer."""
    pointer = types.CPointer(kind)

    def typing(typingctx: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(pointer))

        return pointer(types.intp), codegen

    return intrinsic(typing)


_moves_pointer, _words_pointer = _pointer_to(types.int16), _pointer_to(types.int64)


@overload(address_of, strict=False)
def _address_of(thing: Any) -> Any:
    if isinstance(thing, types.Array):
        return lambda thing: thing.ctypes.data
    return lambda thing: _record_address(thing)


@overload(game_at, strict=False)
def _game_at(address: Any) -> Any:
    return lambda address: _record_at(address)


@overload(moves_at, strict=False)
def _moves_at(address: Any) -> Any:
    return lambda address: numba.carray(_moves_pointer(address), MOST_MOVES)


@overload(words_at, strict=False)
def _words_at(address: Any, length: Any) -> Any:
    return lambda address, length: numba.carray(_words_pointer(address), length)


def island(function: Callable[[int, int], int]) -> Callable[[Any, Any], int]:
    """Compile ``function(address, number) -> number`` apart, and give what kernels call it by."""
    if JIT_DISABLED:
        return function
    with cache_for(function) as folder, light_optimizing():
        options = {"nopython": True, "nogil": True, "error_model": "numpy"}
        compiled = numba.cfunc(_SIGNATURE, cache=is_usable(folder), **options)(function)
    symbol = f"{function.__module__}.{function.__qualname__}.{folder.name}"
    llvmlite.binding.add_symbol(symbol, compiled.address)
    _OWNERS.append(compiled)
    external: Callable[[Any, Any], int] = types.ExternalFunction(symbol, _SIGNATURE)
    return external
