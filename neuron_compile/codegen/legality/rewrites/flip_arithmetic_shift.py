"""Arithmetic right shifts of other than 32-bit numbers (NCC_EVRF022).

Narrow numbers are shifted as 32-bit ones, where sign extension keeps every bit in its place. For
64-bit numbers a logical shift does the work: the complement of a negative number is not negative,
and shifting commutes with complementing, so `x >> s` is `~(~x >>> s)` where x is negative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.tensor_ops import (
    bitcast,
    compare,
    convert,
    element_of,
    integer,
    shape_of,
    splat,
)

if TYPE_CHECKING:
    from neuron_compile.codegen.legality.device import Device


def flip_arithmetic_shift(operation: Any, _device: Device) -> bool:
    """Replace a `stablehlo.shift_right_arithmetic` of 8, 16 or 64-bit numbers."""
    number, amount = operation.operands
    element = element_of(number)
    if element.width == 32:
        return False
    signed = integer(element.width)
    with building_at(operation):
        if element.is_unsigned:
            number, amount = bitcast(number, signed), bitcast(amount, signed)
        if element.width < 32:
            # An amount of the width or more must stay so, and one read as negative is such.
            wide = stablehlo.shift_right_arithmetic(
                convert(number, integer(32)), convert(amount, integer(32))
            )
            shifted = convert(wide, signed)
        else:
            zero = splat(0, shape_of(number), signed)
            flipped = stablehlo.not_(stablehlo.shift_right_logical(stablehlo.not_(number), amount))
            shifted = stablehlo.select(
                compare(number, zero, "LT"),
                flipped,
                stablehlo.shift_right_logical(number, amount),
            )
        if element.is_unsigned:
            shifted = bitcast(shifted, element)
    replace(operation, [shifted])
    return True
