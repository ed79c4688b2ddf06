"""Single machine instructions on words and records, with plain Python twins for runs with the JIT off.

All words are non-negative ``int64``: Numba and NumPy turn a mix of signed and unsigned words into floats.
"""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

__all__ = ["copy_record", "count_bits", "highest_bit", "keep", "lowest_bit", "mix"]

_MASK = (1 << 64) - 1
_MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9


def count_bits(word: int) -> int:
    """Number of bits set."""
    return int(word).bit_count()


def lowest_bit(word: int) -> int:
    """Index of the lowest bit set; the word may not be zero."""
    return (int(word) & -int(word)).bit_length() - 1


def highest_bit(word: int) -> int:
    """Index of the highest bit set; the word may not be zero."""
    return int(word).bit_length() - 1


def mix(word: int) -> int:
    """Scramble a word to a signed 64-bit hash (a bijection: different words never meet)."""
    z = (int(word) * _MIX_1) & _MASK
    z = ((z ^ (z >> 32)) * _MIX_2) & _MASK
    z ^= z >> 29
    return z - (1 << 64) if z >> 63 else z


def _instruction(emit: Any) -> Any:
    """Make an intrinsic of one word out of an LLVM builder call."""

    def typing(typingctx: Any, word: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return emit(builder, args[0])

        return types.int64(types.int64), codegen

    return intrinsic(typing)


def _constant(builder: Any, word: Any, value: int) -> Any:
    return word.type(value)


def _emit_mix(builder: Any, word: Any) -> Any:
    z = builder.mul(word, _constant(builder, word, _MIX_1))
    z = builder.xor(z, builder.lshr(z, _constant(builder, word, 32)))
    z = builder.mul(z, _constant(builder, word, _MIX_2))
    return builder.xor(z, builder.lshr(z, _constant(builder, word, 29)))


def _false(builder: Any) -> Any:
    from llvmlite import ir

    return ir.IntType(1)(0)


_popcount = _instruction(lambda builder, word: builder.ctpop(word))
_trailing = _instruction(lambda builder, word: builder.cttz(word, _false(builder)))
_leading = _instruction(lambda builder, word: builder.ctlz(word, _false(builder)))
_mixed = _instruction(_emit_mix)


@overload(count_bits, strict=False)
def _count_bits(word: Any) -> Any:
    return lambda word: _popcount(word)


@overload(lowest_bit, strict=False)
def _lowest_bit(word: Any) -> Any:
    return lambda word: _trailing(word)


@overload(highest_bit, strict=False)
def _highest_bit(word: Any) -> Any:
    return lambda word: 63 - _leading(word)


@overload(mix, strict=False)
def _mix(word: Any) -> Any:
    return lambda word: _mixed(word)


def keep(array: Any) -> None:
    """Keep an array of records until here.

    A record taken out of an array does not keep it: Numba frees an array after its own last use, and the record would
    go on pointing into memory that the next array gets.
    """


def copy_record(target: Any, at: int, source: Any) -> None:
    """Copy a record to place ``at`` of an array of the same dtype.

    A plain assignment does the same, but Numba makes of it a load and a store of all bytes one by one, on which the
    compiler spends seconds.
    """
    target[at] = source


@intrinsic
def _copy_bytes(typingctx: Any, target: Any, source: Any) -> Any:
    size = target.size

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cgutils.raw_memcpy(builder, args[0], args[1], context.get_constant(types.intp, size), 1)
        return context.get_dummy_value()

    return types.void(target, source), codegen


@overload(copy_record, strict=False)
def _copy_record(target: Any, at: Any, source: Any) -> Any:
    def copy(target: Any, at: Any, source: Any) -> None:
        _copy_bytes(target[at], source)

    return copy


@overload(keep, strict=False)
def _keep(array: Any) -> Any:
    return lambda array: None
