"""Integer matrix products on devices whose matrix engine has none (NCC_EVRF035).

The products are formed and summed by the vector engine, which keeps integers exact, at the price
of one intermediate value for each product.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.tensor_ops import (
    broadcast,
    convert,
    element_of,
    shape_of,
    splat,
    tensor_of,
)

if TYPE_CHECKING:
    from neuron_compile.codegen.legality.device import Device

_MAX_PRODUCTS: Final = 1 << 28


def multiply_out_integer_dot(operation: Any, device: Device) -> bool:
    """Replace a `stablehlo.dot_general` of integers that `refuses_integer_dot` finds."""
    if not refuses_integer_dot(operation, device):
        return False
    left, right = operation.operands
    numbers = stablehlo.DotDimensionNumbers(operation.attributes["dot_dimension_numbers"])
    batch = list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)
    inner = list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)
    free = [
        [d for d in range(len(shape_of(side))) if d not in batch[i] and d not in inner[i]]
        for i, side in enumerate((left, right))
    ]
    sizes = shape_of(left), shape_of(right)
    groups = (
        [sizes[0][d] for d in batch[0]],
        [sizes[0][d] for d in free[0]],
        [sizes[1][d] for d in free[1]],
        [sizes[0][d] for d in inner[0]],
    )
    shape = [size for group in groups for size in group]
    if math.prod(shape) > _MAX_PRODUCTS:
        return False
    starts = [sum(len(group) for group in groups[:i]) for i in range(4)]
    result_element = element_of(operation.result)
    with building_at(operation):
        spread = []
        for i, side in enumerate((left, right)):
            place = [0] * len(sizes[i])
            for dimensions, group in ((batch[i], 0), (free[i], 1 + i), (inner[i], 3)):
                for offset, dimension in enumerate(dimensions):
                    place[dimension] = starts[group] + offset
            spread.append(broadcast(convert(side, result_element), shape, place))
        products = stablehlo.multiply(*spread)
        reduced = _sum(products, list(range(starts[3], len(shape))), result_element)
    replace(operation, [reduced])
    return True


def refuses_integer_dot(operation: Any, device: Device) -> bool:
    """Whether the device's compiler has no exact integer datapath for this product."""
    if "dot" in device.downcasts:
        return False
    widths = [e.width for e in map(element_of, operation.operands) if isinstance(e, ir.IntegerType)]
    if not widths:
        return False
    return bool(max(widths) >= (32 if device.generation >= 3 else 64))


def _sum(value: Any, dimensions: list[int], element: Any) -> Any:
    kept = [size for d, size in enumerate(shape_of(value)) if d not in dimensions]
    reduction = stablehlo.ReduceOp(
        [tensor_of(kept, element)], [value], [splat(0, (), element)], dimensions
    )
    scalar = tensor_of((), element)
    body = reduction.regions[0].blocks.append(scalar, scalar)
    with ir.InsertionPoint(body):
        stablehlo.return_([stablehlo.add(*body.arguments)])
    return reduction.result
