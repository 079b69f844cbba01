"""Unsigned 64-bit constants that need more than 32 bits (NCC_ESFH002).

The two halves are 32-bit constants; widening, shifting and joining them gives the number back on a
device that computes in 64 bits. On others there is no such number, and the refusal stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.tensor_ops import (
    broadcast,
    constant_of,
    convert,
    element_of,
    integer,
    shape_of,
    splat,
)

if TYPE_CHECKING:
    from neuron_compile.codegen.legality.device import Device


def split_unsigned_constant(operation: Any, device: Device) -> bool:
    """Replace a `stablehlo.constant` of type `ui64` with large values."""
    if not device.has_int64 or not needs_64_bits(operation):
        return False
    attribute = ir.DenseElementsAttr(operation.attributes["value"])
    shape = shape_of(operation.result)
    values = constant_values(operation)
    element, half = element_of(operation.result), integer(32, is_unsigned=True)
    with building_at(operation):
        parts = []
        for part in (values >> np.uint64(32), values & np.uint64(0xFFFFFFFF)):
            narrow = part.astype(np.uint32)
            if attribute.is_splat:
                parts.append(broadcast(splat(int(narrow.flat[0]), (), half), shape))
            else:
                parts.append(constant_of(narrow, half))
        high, low = (convert(part, element) for part in parts)
        shifted = stablehlo.shift_left(high, splat(32, shape, element))
        joined = stablehlo.or_(shifted, low)
    replace(operation, [joined])
    return True


def constant_values(operation: Any) -> np.ndarray[Any, Any]:
    """The numbers of an integer `stablehlo.constant`; one of them stands for all of a splat."""
    attribute = ir.DenseElementsAttr(operation.attributes["value"])
    values = np.asarray(ir.DenseIntElementsAttr(attribute))
    return values.reshape(-1)[:1] if attribute.is_splat else values


def needs_64_bits(operation: Any) -> bool:
    """Whether a constant is unsigned, of 64 bits, and has a value above 32 bits."""
    element = element_of(operation.result)
    if not isinstance(element, ir.IntegerType) or not element.is_unsigned or element.width < 64:
        return False
    values = constant_values(operation)
    return bool(values.size) and bool((values > np.uint64(0xFFFFFFFF)).any())
