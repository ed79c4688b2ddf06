"""Single machine instructions on words and records, with plain Python twins for runs with the JIT off.

All words are non-negative ``int64``: Numba and NumPy turn a mix of signed and unsigned words into floats.
"""

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array

from scala40_env.kernels.jit import JIT_DISABLED

__all__ = [
    "borrow",
    "clear_record",
    "copy_record",
    "count_bits",
    "highest_bit",
    "int8_at",
    "int32_at",
    "int64_at",
    "keep",
    "lowest_bit",
    "mix",
    "scratch",
    "store_bytes",
]

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


def store_bytes(out: Any, at: int, word: int) -> None:
    """Store the eight bytes of a word, lowest first, at ``at`` in a contiguous array of int8, aligned or not."""
    for place in range(8):
        byte = word >> 8 * place & 255
        out[at + place] = byte - 256 if byte > 127 else byte


def int8_at(record: Any, offset: int) -> int:
    """The signed byte at an offset into a record: fields of one kind that lie in a row, by their number."""
    return int(np.frombuffer(record.data, np.int8, 1, offset)[0])


def int32_at(record: Any, offset: int) -> int:
    """The signed number of four bytes at an offset into a record."""
    return int(np.frombuffer(record.data, "<i4", 1, offset)[0])


def int64_at(record: Any, offset: int) -> int:
    """The signed number of eight bytes at an offset into a record, aligned or not."""
    return int(np.frombuffer(record.data, "<i8", 1, offset)[0])


def keep(array: Any) -> None:
    """Keep an array of records until here.

    A record taken out of an array does not keep it: Numba frees an array after its own last use, and the record would
    go on pointing into memory that the next array gets.
    """


def borrow(array: Any) -> Any:
    """The same array, whose users nobody counts: it has to be kept by its owner as long as it is used.

    Numba counts up and down for an array at each call of a kernel that gets it, which takes longer than many kernels.
    """
    return array


def scratch(length: int, dtype: Any) -> Any:
    """Room for so many numbers, for as long as the kernel runs that asks for it: it must not be given back to a caller.

    It lies on the stack, costs nothing and is not counted. ``length`` is a constant. Asked for again in a loop it is
    the same room.
    """
    return np.empty(length, dtype)


def clear_record(record: Any) -> None:
    """Set all numbers of a record to zero."""
    for name in record.dtype.names:
        record[name] = 0


def copy_record(target: Any, at: int, source: Any) -> None:
    """Copy a record to place ``at`` of an array of the same dtype.

    A plain assignment does the same, but Numba makes of it a load and a store of all bytes one by one, on which the
    compiler spends seconds.
    """
    target[at] = source


@intrinsic
def _uncounted(typingctx: Any, array: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        view = make_array(array)(context, builder, args[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()

    return array(array), codegen


@intrinsic(prefer_literal=True)
def _scratch(typingctx: Any, length: Any, dtype: Any) -> Any:
    kind, size = types.Array(dtype.dtype, 1, "C"), length.literal_value

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        item = context.get_data_type(kind.dtype)
        with builder.goto_entry_block():
            data = builder.alloca(item, size=size)
        data.align = 64  # a line of the cache
        step = context.get_constant(types.intp, context.get_abi_sizeof(item))
        shape = [context.get_constant(types.intp, size)]
        array = make_array(kind)(context, builder)
        populate_array(array, data=data, shape=shape, strides=[step], itemsize=step, meminfo=None)
        return array._getvalue()

    return kind(length, dtype), codegen


if not JIT_DISABLED:
    scratch = _scratch  # no overload: the room would be that of a function that has ended


@overload(borrow, strict=False)
def _borrow(array: Any) -> Any:
    return lambda array: _uncounted(array)


@intrinsic
def _copy_bytes(typingctx: Any, target: Any, source: Any) -> Any:
    size = target.size

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cgutils.raw_memcpy(builder, args[0], args[1], context.get_constant(types.intp, size), 1)
        return context.get_dummy_value()

    return types.void(target, source), codegen


@intrinsic
def _clear_bytes(typingctx: Any, record: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cgutils.memset(builder, args[0], context.get_constant(types.intp, record.size), 0)
        return context.get_dummy_value()

    return types.void(record), codegen


@overload(clear_record, strict=False)
def _clear_record(record: Any) -> Any:
    return lambda record: _clear_bytes(record)


@overload(copy_record, strict=False)
def _copy_record(target: Any, at: Any, source: Any) -> Any:
    def copy(target: Any, at: Any, source: Any) -> None:
        _copy_bytes(target[at], source)

    return copy


@overload(keep, strict=False)
def _keep(array: Any) -> Any:
    return lambda array: None


def _reader(width: int) -> Any:
    """Make an intrinsic that reads a signed number of so many bits at an offset into a record."""

    def typing(typingctx: Any, record: Any, offset: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from llvmlite import ir

            start = builder.bitcast(args[0], ir.IntType(8).as_pointer())
            pointer = builder.bitcast(builder.gep(start, [args[1]]), ir.IntType(width).as_pointer())
            return builder.sext(builder.load(pointer, align=1), ir.IntType(64))

        return types.int64(record, types.int64), codegen

    return intrinsic(typing)


_int8_at, _int32_at, _int64_at = _reader(8), _reader(32), _reader(64)


@overload(int8_at, strict=False)
def _overload_int8_at(record: Any, offset: Any) -> Any:
    return lambda record, offset: _int8_at(record, offset)


@overload(int32_at, strict=False)
def _overload_int32_at(record: Any, offset: Any) -> Any:
    return lambda record, offset: _int32_at(record, offset)


@overload(int64_at, strict=False)
def _overload_int64_at(record: Any, offset: Any) -> Any:
    return lambda record, offset: _int64_at(record, offset)


@intrinsic
def _store_word(typingctx: Any, address: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], args[1].type.as_pointer())
        builder.store(args[1], pointer, align=1)
        return context.get_dummy_value()

    return types.void(types.intp, types.int64), codegen


@overload(store_bytes, strict=False)
def _store_bytes(out: Any, at: Any, word: Any) -> Any:
    return lambda out, at, word: _store_word(out.ctypes.data + at, word)
