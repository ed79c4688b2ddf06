"""The sums of the expert's net, in vector instructions written out, with plain Python twins for runs with the JIT off.

The kernels' compiler looks for no loops to vectorize (`scala40_env.kernels.jit`), and these sums are most of what an
end of a turn costs. They are of whole numbers: in whatever order they are added up, they are the same.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from agents.kernels.outlook import BLOCK, NUM_FEATURES, ROOM
from scala40_env.kernels.islands import address_of
from scala40_env.kernels.jit import Record

__all__ = ["HIDDEN", "UNIT_SHIFT", "sum_units", "value_of_features", "value_of_units"]

#: Units of the hidden layer between the features and the forecasts.
HIDDEN = 32
#: Hidden units count in this much of the weights' unit.
UNIT_SHIFT = 8


def _numbers(row: Record) -> np.ndarray:
    return np.frombuffer(row.data, np.int64)


def sum_units(table: np.ndarray, row: Record, summed: np.ndarray, units: np.ndarray) -> None:
    """Bring the sums of the hidden units (int64[HIDDEN]) from the features ``summed`` to those of a row (`ROW`).

    Most of them do not change. ``table`` begins with the weights of the units (int64[NUM_FEATURES, HIDDEN]), ``summed``
    is int64[ROOM]. Features and weights fit 32 bits.
    """
    features = _numbers(row)
    for f in range(NUM_FEATURES):
        units += (features[f] - summed[f]) * table[f * HIDDEN : (f + 1) * HIDDEN]
    summed[:] = features


def value_of_features(row: Record, weights: np.ndarray) -> int:
    """What the features of a row are worth, by the first weights of these.

    There have to be ROOM of them too, but the last ones can be anything: they count nothing.
    """
    return int((_numbers(row) * weights[:ROOM]).sum())


def value_of_units(units: np.ndarray, biases: np.ndarray, weights: np.ndarray) -> int:
    """What the hidden units are worth, those above zero, by the first of these biases and weights (int64[HIDDEN])."""
    above = np.maximum(units + biases[:HIDDEN], 0) >> UNIT_SHIFT
    return int((above * weights[:HIDDEN]).sum())


# ---------------------------------------------------------------------------------------------------------------------
# The same in the compiler's language: vectors of words at addresses

_BIT, _HALF, _WORD = ir.IntType(1), ir.IntType(32), ir.IntType(64)
_UNITS = ir.VectorType(_WORD, HIDDEN)


def _load(builder: Any, address: Any, at: Any, kind: Any) -> Any:
    """The word or vector that begins at place ``at`` of the words at an address."""
    start = builder.inttoptr(address, _WORD.as_pointer())
    return builder.load(builder.bitcast(builder.gep(start, [at]), kind.as_pointer()), align=8)


def _store(builder: Any, value: Any, address: Any, at: Any) -> None:
    start = builder.inttoptr(address, _WORD.as_pointer())
    builder.store(value, builder.bitcast(builder.gep(start, [at]), value.type.as_pointer()), align=8)


def _narrow(builder: Any, units: Any) -> Any:
    """The same numbers, known to fit 32 bits: a product of such takes one instruction."""
    return builder.sext(builder.trunc(units, ir.VectorType(_HALF, HIDDEN)), _UNITS)


def _for_all(builder: Any, word: Any) -> Any:
    """A vector with this word for all units."""
    nothing = ir.Constant(_UNITS, ir.Undefined)
    places = ir.Constant(ir.VectorType(_HALF, HIDDEN), [0] * HIDDEN)
    return builder.shuffle_vector(builder.insert_element(nothing, word, _HALF(0)), nothing, places)


def _total(builder: Any, vector: Any) -> Any:
    name = f"llvm.vector.reduce.add.v{vector.type.count}i64"
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(_WORD, [vector.type]), name)
    return builder.call(function, [vector])


def _changed(builder: Any, features: Any, summed: Any) -> Any:
    """A word with a bit for each feature that changed; the features become those summed once the loop is over."""
    block, changed = ir.VectorType(_WORD, BLOCK), _WORD(0)
    for at in range(0, ROOM, BLOCK):
        new, old = (_load(builder, address, _WORD(at), block) for address in (features, summed))
        bits = builder.bitcast(builder.icmp_signed("!=", new, old), ir.IntType(BLOCK))
        changed = builder.or_(changed, builder.shl(builder.zext(bits, _WORD), _WORD(at)))
    return changed


def _add_change(builder: Any, table: Any, features: Any, summed: Any, f: Any, units: Any) -> Any:
    """The units after feature ``f`` has changed."""
    new, old = (_load(builder, address, f, _WORD) for address in (features, summed))
    weights = _load(builder, table, builder.mul(f, _WORD(HIDDEN)), _UNITS)
    change = _narrow(builder, _for_all(builder, builder.sub(new, old)))
    _store(builder, new, summed, f)
    return builder.add(units, builder.mul(change, _narrow(builder, weights)))


@intrinsic
def _sum_units_at(typingctx: Any, table: Any, features: Any, summed: Any, units: Any) -> Any:
    """A loop over the features that changed, with the units in registers."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        table, features, summed, units = args
        before, changed = _load(builder, units, _WORD(0), _UNITS), _changed(builder, features, summed)
        start, body, end = builder.block, builder.append_basic_block("change"), builder.append_basic_block("summed")
        builder.cbranch(builder.icmp_unsigned("==", changed, _WORD(0)), end, body)
        builder.position_at_end(body)
        left, so_far = builder.phi(_WORD), builder.phi(_UNITS)
        added = _add_change(builder, table, features, summed, builder.cttz(left, _BIT(1)), so_far)
        rest = builder.and_(left, builder.sub(left, _WORD(1)))
        for phi, first, next_one in ((left, changed, rest), (so_far, before, added)):
            phi.add_incoming(first, start)
            phi.add_incoming(next_one, body)
        builder.cbranch(builder.icmp_unsigned("==", rest, _WORD(0)), end, body)
        builder.position_at_end(end)
        after = builder.phi(_UNITS)
        after.add_incoming(before, start)
        after.add_incoming(added, body)
        _store(builder, after, units, _WORD(0))
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp, types.intp), codegen


@intrinsic
def _value_of_features_at(typingctx: Any, features: Any, weights: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        numbers, worth = (_load(builder, address, _WORD(0), ir.VectorType(_WORD, ROOM)) for address in args)
        return _total(builder, builder.mul(numbers, worth))

    return types.int64(types.intp, types.intp), codegen


@intrinsic
def _value_of_units_at(typingctx: Any, units: Any, biases: Any, weights: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        sums, bias, worth = (_load(builder, address, _WORD(0), _UNITS) for address in args)
        biased, zero = builder.add(sums, bias), ir.Constant(_UNITS, None)
        above = builder.select(builder.icmp_signed(">", biased, zero), biased, zero)
        shifted = builder.ashr(above, ir.Constant(_UNITS, [UNIT_SHIFT] * HIDDEN))
        return _total(builder, builder.mul(shifted, worth))

    return types.int64(types.intp, types.intp, types.intp), codegen


@overload(sum_units, strict=False)
def _sum_units(table: Any, row: Any, summed: Any, units: Any) -> Any:
    return lambda table, row, summed, units: _sum_units_at(
        address_of(table), address_of(row), address_of(summed), address_of(units)
    )


@overload(value_of_features, strict=False)
def _value_of_features(row: Any, weights: Any) -> Any:
    return lambda row, weights: _value_of_features_at(address_of(row), address_of(weights))


@overload(value_of_units, strict=False)
def _value_of_units(units: Any, biases: Any, weights: Any) -> Any:
    return lambda units, biases, weights: _value_of_units_at(address_of(units), address_of(biases), address_of(weights))
