"""Scatters whose counted indices run past the operand (NCC_EVRF031).

A scatter drops updates outside of its operand. With the operand padded to the indices' range they
land in the padding, which is cut off again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.iota_indices import excesses, index_operand
from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.tensor_ops import element_of, pad, shape_of, splat
from neuron_compile.codegen.legality.window import move_body

if TYPE_CHECKING:
    from neuron_compile.codegen.legality.device import Device


def pad_scattered_operand(operation: Any, _device: Device) -> bool:
    """Replace a `stablehlo.scatter` of single elements whose indices count beyond its operand."""
    numbers = stablehlo.ScatterDimensionNumbers(operation.attributes["scatter_dimension_numbers"])
    found = excesses(operation, numbers, list(numbers.scattered_dims_to_operand_dims))
    # A window that sticks out is dropped whole; padded, its inner part would be written.
    if not found or not set(found) <= set(numbers.inserted_window_dims):
        return False
    operands = list(operation.operands)
    inputs, updates = operands[: len(operands) // 2], operands[len(operands) // 2 + 1 :]
    sizes = shape_of(inputs[0])
    zeros, ones = [0] * len(sizes), [1] * len(sizes)
    high = [found.get(d, size) - size for d, size in enumerate(sizes)]
    with building_at(operation):
        padded = [pad(data, splat(0, (), element_of(data)), zeros, high, zeros) for data in inputs]
        new = ir.Operation.create(
            "stablehlo.scatter",
            results=[data.type for data in padded],
            operands=[*padded, index_operand(operation), *updates],
            attributes=dict(operation.attributes.items()),
            regions=1,
        )
        cut = [stablehlo.slice(result, zeros, list(sizes), ones) for result in new.results]
    move_body(operation, new)
    replace(operation, cut)
    return True
