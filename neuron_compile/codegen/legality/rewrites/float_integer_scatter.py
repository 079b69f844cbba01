"""Scatters that combine integers or booleans (NCC_EVRF016, NCC_EVRF060).

The device combines in 32-bit floating point, exact up to 2**24. Sums are therefore taken of a few
bits at a time: so few that even all updates together stay below that bound, each piece scattered on
its own and the pieces put together by wrapping integer arithmetic. Logical operations, and the
maximum and minimum of narrow integers, are exact as they are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.scatter_body import OVERWRITE, scatter_computation
from neuron_compile.codegen.legality.tensor_ops import (
    bitcast,
    compare,
    convert,
    element_of,
    integer,
    shape_of,
    splat,
    tensor_of,
)

if TYPE_CHECKING:
    from neuron_compile.codegen.legality.device import Device

_EXACT: Final = 1 << 24
_MIN_PIECE_BITS: Final = 2
_LOGICAL: Final = {"or": "maximum", "and": "minimum", "add": "maximum"}
_EXTREMES: Final = frozenset({"maximum", "minimum"})


def float_integer_scatter(operation: Any, device: Device) -> bool:
    """Replace a `stablehlo.scatter` that `refuses_integer_scatter` finds, where it stays exact."""
    if not refuses_integer_scatter(operation, device) or len(operation.results) != 1:
        return False
    computation = scatter_computation(operation)
    width = element_of(operation.results[0]).width
    if width == 1 and computation in _LOGICAL.keys() | _EXTREMES:
        values = _as_floats(operation, _LOGICAL.get(computation, computation))
    elif computation in _EXTREMES and width <= 16:
        values = _as_floats(operation, computation)
    elif computation == "add" and _piece_bits(operation) >= _MIN_PIECE_BITS:
        values = _in_pieces(operation, _piece_bits(operation))
    else:
        return False
    replace(operation, [values])
    return True


def refuses_integer_scatter(operation: Any, device: Device) -> bool:
    """Whether a scatter combines integers or booleans and no downcast was allowed for it."""
    element = element_of(operation.results[0])
    if not isinstance(element, ir.IntegerType) or scatter_computation(operation) == OVERWRITE:
        return False
    return element.width <= 16 or "scatter" not in device.downcasts


def scatter_code(operation: Any) -> str:
    """The compiler's code for a refused scatter: one of two, by the width of the integers."""
    element = element_of(operation.results[0])
    is_narrow = isinstance(element, ir.IntegerType) and element.width <= 16
    return "EVRF016" if is_narrow else "EVRF060"


def _piece_bits(operation: Any) -> int:
    """How many bits of each number can be summed exactly if all updates meet in one place."""
    numbers = stablehlo.ScatterDimensionNumbers(operation.attributes["scatter_dimension_numbers"])
    shape = list(shape_of(operation.operands[1]))
    if numbers.index_vector_dim < len(shape):
        del shape[numbers.index_vector_dim]
    return min(8, (_EXACT // max(math.prod(shape), 1)).bit_length() - 1)


def _as_floats(operation: Any, computation: str) -> Any:
    data, indices, updates = operation.operands
    element = element_of(data)
    with building_at(operation):
        real = ir.F32Type.get()
        result = _scatter(
            operation, convert(data, real), indices, convert(updates, real), computation
        )
        if element.width == 1:
            return compare(result, splat(0, shape_of(result), real), "NE")
        return convert(result, element)


def _in_pieces(operation: Any, bits: int) -> Any:
    data, indices, updates = operation.operands
    element, shape = element_of(data), shape_of(data)
    with building_at(operation):
        real, bare = ir.F32Type.get(), integer(element.width, is_unsigned=True)
        raw = updates if element.is_unsigned else bitcast(updates, bare)
        total = data if element.is_unsigned else bitcast(data, bare)
        zeros = splat(0, shape, real)
        mask = splat((1 << bits) - 1, shape_of(updates), bare)
        for position in range(0, element.width, bits):
            amount = splat(position, shape_of(updates), bare)
            piece = stablehlo.and_(stablehlo.shift_right_logical(raw, amount), mask)
            summed = _scatter(operation, zeros, indices, convert(piece, real), "add")
            counted = _wrapped(convert(summed, integer(32, is_unsigned=True)), bare)
            shifted = stablehlo.shift_left(counted, splat(position, shape, bare))
            total = stablehlo.add(total, shifted)
        return total if element.is_unsigned else bitcast(total, element)


def _wrapped(number: Any, element: Any) -> Any:
    """32-bit numbers modulo 2**width; what a conversion does with others, nobody promises."""
    if element.width < 32:
        mask = splat((1 << element.width) - 1, shape_of(number), element_of(number))
        number = stablehlo.and_(number, mask)
    return convert(number, element)


def _scatter(operation: Any, data: Any, indices: Any, updates: Any, computation: str) -> Any:
    new = ir.Operation.create(
        "stablehlo.scatter",
        results=[data.type],
        operands=[data, indices, updates],
        attributes=dict(operation.attributes.items()),
        regions=1,
    )
    scalar = tensor_of((), element_of(data))
    body = new.regions[0].blocks.append(scalar, scalar)
    with ir.InsertionPoint(body):
        combined = ir.Operation.create(
            f"stablehlo.{computation}", results=[scalar], operands=list(body.arguments)
        )
        stablehlo.return_([combined.result])
    return new.result
