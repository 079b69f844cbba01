"""Gathers whose counted indices run past the operand (NCC_EVRF056).

A gather clamps every index into its operand; doing so beforehand changes nothing and takes the
indices out of the compiler's sight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.iota_indices import excesses
from neuron_compile.codegen.legality.program_module import building_at
from neuron_compile.codegen.legality.tensor_ops import (
    attribute_ints,
    broadcast,
    constant_of,
    element_of,
    shape_of,
    splat,
)

if TYPE_CHECKING:
    from neuron_compile.codegen.legality.device import Device


def clamp_gather_indices(operation: Any, _device: Device) -> bool:
    """Clamp the indices of a `stablehlo.gather` that count beyond its operand."""
    numbers = stablehlo.GatherDimensionNumbers(operation.attributes["dimension_numbers"])
    index_map = list(numbers.start_index_map)
    if not excesses(operation, numbers, index_map):
        return False
    operand, indices = operation.operands
    element, shape = element_of(indices), shape_of(indices)
    slices = attribute_ints(operation, "slice_sizes", ())
    largest = (1 << (element.width - (not element.is_unsigned))) - 1
    limits = [min(shape_of(operand)[d] - slices[d], largest) for d in index_map]
    with building_at(operation):
        kind = np.dtype(f"{'u' if element.is_unsigned else ''}int{element.width}")
        if numbers.index_vector_dim == len(shape):
            upper = splat(limits[0], shape, element)
        else:
            vector = constant_of(np.array(limits, kind), element)
            upper = broadcast(vector, shape, [numbers.index_vector_dim])
        clamped = stablehlo.clamp(splat(0, shape, element), indices, upper)
    operation.operands[1] = clamped
    return True
