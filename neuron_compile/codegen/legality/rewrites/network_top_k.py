"""The largest of integers, which the compiler's top-k does not take (NCC_EVRF013).

Integers of up to 16 bits are exact in 32-bit floating point, and go through its top-k; wider ones
are sorted by a network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import chlo

from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.rewrites.network_sort import MAX_SORTED
from neuron_compile.codegen.legality.sorting_network import sort_by_network
from neuron_compile.codegen.legality.tensor_ops import (
    compare,
    convert,
    element_of,
    shape_of,
    slice_along,
)

if TYPE_CHECKING:
    from neuron_compile.codegen.legality.device import Device


def network_top_k(operation: Any, _device: Device) -> bool:
    """Replace a `chlo.top_k` of integers."""
    data = operation.operands[0]
    element, shape = element_of(data), shape_of(data)
    if not isinstance(element, ir.IntegerType):
        return False
    count, axis = int(operation.attributes["k"].value), len(shape) - 1
    if element.width > 16 and shape[axis] > MAX_SORTED:
        return False
    with building_at(operation):
        if element.width <= 16:
            values, indices = chlo.top_k(convert(data, ir.F32Type.get()), count)
            values = convert(values, element)
        else:
            ordered, places = sort_by_network(
                [data], axis, lambda left, right: compare(left[0], right[0], "GT")
            )
            values, indices = (slice_along(v, axis, 0, count) for v in (ordered[0], places))
    replace(operation, [values, indices])
    return True
