"""64-bit integer powers, which would be computed in 32 bits (NCC_EVRF062).

Repeated squaring with wrapping multiplication, as StableHLO defines integer powers: one round for
each bit of the exponent. A negative exponent gives 1 or -1 for those bases, else 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.rewrites.split_unsigned_constant import constant_values
from neuron_compile.codegen.legality.tensor_ops import compare, element_of, shape_of, splat

if TYPE_CHECKING:
    from neuron_compile.codegen.legality.device import Device


def square_integer_power(operation: Any, device: Device) -> bool:
    """Replace a `stablehlo.power` that `refuses_integer_power` finds, where 64 bits are kept."""
    if not refuses_integer_power(operation, device) or not device.has_int64:
        return False
    base, exponent = operation.operands
    element, shape = element_of(base), shape_of(base)
    with building_at(operation):
        one, zero = splat(1, shape, element), splat(0, shape, element)
        result, square = one, base
        rounds = _exponent_bits(exponent, element)
        for bit in range(rounds):
            mask = splat(1 << bit, shape, element)
            is_set = compare(stablehlo.and_(exponent, mask), zero, "NE")
            result = stablehlo.select(is_set, stablehlo.multiply(result, square), result)
            if bit + 1 < rounds:
                square = stablehlo.multiply(square, square)
        if not element.is_unsigned:
            minus_one = splat(-1, shape, element)
            is_odd = compare(stablehlo.and_(exponent, one), one, "EQ")
            of_minus_one = stablehlo.select(is_odd, minus_one, one)
            inverse = stablehlo.select(
                compare(base, one, "EQ"),
                one,
                stablehlo.select(compare(base, minus_one, "EQ"), of_minus_one, zero),
            )
            result = stablehlo.select(compare(exponent, zero, "LT"), inverse, result)
    replace(operation, [result])
    return True


def refuses_integer_power(operation: Any, device: Device) -> bool:
    """Whether a power is of 64-bit integers on a target where that is an error."""
    element = element_of(operation.result)
    is_wide = isinstance(element, ir.IntegerType) and element.width == 64
    return is_wide and device.generation >= 3 and "pow" not in device.downcasts


def _exponent_bits(exponent: Any, element: Any) -> int:
    """How many bits of the exponent can be set, apart from its sign."""
    all_bits = element.width if element.is_unsigned else element.width - 1
    source = exponent.owner
    while getattr(source, "name", None) == "stablehlo.broadcast_in_dim":
        source = source.operands[0].owner
    if getattr(source, "name", None) != "stablehlo.constant":
        return int(all_bits)
    values = constant_values(source)
    if not values.size or int(values.min()) < 0:
        return int(all_bits)
    return int(values.max()).bit_length()
