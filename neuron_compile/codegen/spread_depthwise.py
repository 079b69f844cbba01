"""Depthwise convolutions as sums of shifted products, one for each element of the kernel.

XLA:CPU has no kernel of its own for them and loops over channels one by one; the products are one
loop over the result, which is ten to a hundred times as fast.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.tensor_ops import (
    attribute_ints,
    broadcast,
    convert,
    element_of,
    pad,
    reshape,
    shape_of,
    splat,
)

# A larger kernel's products would be more code than they are worth.
_MOST_TAPS: Final = 64


def spread_depthwise(operation: Any) -> bool:
    """Replace a `stablehlo.convolution` of one input and one output channel for each group."""
    numbers = stablehlo.ConvDimensionNumbers(operation.attributes["dimension_numbers"])
    if not _is_depthwise(operation, numbers):
        return False
    with building_at(operation):
        result = _spread(operation, numbers)
    replace(operation, [result])
    return True


def _is_depthwise(operation: Any, numbers: Any) -> bool:
    data, kernel = operation.operands
    groups = int(operation.attributes["feature_group_count"].value)
    spatial = list(numbers.kernel_spatial_dimensions)
    taps = math.prod(shape_of(kernel)[dimension] for dimension in spatial)
    # Batch and channels first, in every array: other orders do not occur in lowered programs.
    is_ordered = all(
        list(order) == list(range(len(shape_of(data))))
        for order in (
            [
                numbers.input_batch_dimension,
                numbers.input_feature_dimension,
                *numbers.input_spatial_dimensions,
            ],
            [
                numbers.kernel_output_feature_dimension,
                numbers.kernel_input_feature_dimension,
                *spatial,
            ],
            [
                numbers.output_batch_dimension,
                numbers.output_feature_dimension,
                *numbers.output_spatial_dimensions,
            ],
        )
    )
    return bool(
        is_ordered
        and groups > 1
        and groups == shape_of(data)[1] == shape_of(kernel)[0]
        and taps <= _MOST_TAPS
        and isinstance(element_of(data), ir.F32Type | ir.BF16Type | ir.F16Type)
        and 0 not in shape_of(data)
        and not _is_reversed(operation)
    )


def _is_reversed(operation: Any) -> bool:
    reversal = operation.attributes
    return "window_reversal" in reversal and "true" in str(reversal["window_reversal"])


def _spread(operation: Any, numbers: Any) -> Any:
    data, kernel = (convert(operand, ir.F32Type.get()) for operand in operation.operands)
    rank = len(list(numbers.input_spatial_dimensions))
    ones, zeros = [1] * rank, [0] * (2 * rank)
    strides = attribute_ints(operation, "window_strides", ones)
    amounts = attribute_ints(operation, "padding", zeros)
    interior = [factor - 1 for factor in attribute_ints(operation, "lhs_dilation", ones)]
    dilation = attribute_ints(operation, "rhs_dilation", ones)
    padded = pad(
        data,
        splat(0, (), ir.F32Type.get()),
        [0, 0, *amounts[::2]],
        [0, 0, *amounts[1::2]],
        [0, 0, *interior],
    )
    shape = shape_of(operation.result)
    total = None
    for offset in itertools.product(*(range(size) for size in shape_of(kernel)[2:])):
        start = [place * factor for place, factor in zip(offset, dilation, strict=True)]
        limit = [
            first + (size - 1) * step + 1
            for first, size, step in zip(start, shape[2:], strides, strict=True)
        ]
        taken = stablehlo.slice(padded, [0, 0, *start], [*shape[:2], *limit], [1, 1, *strides])
        tap = stablehlo.slice(
            kernel, [0, 0, *offset], [shape[1], 1, *(place + 1 for place in offset)], [1, 1, *ones]
        )
        product = stablehlo.multiply(taken, broadcast(reshape(tap, shape[1:2]), shape, [1]))
        total = product if total is None else stablehlo.add(total, product)
    return convert(total, element_of(operation.result))
