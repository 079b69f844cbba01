"""Convolutions with a dilated input and a stride or a dilated kernel (NCC_EVRF010, NCC_EVRF011).

The gradients of strided and dilated convolutions have these forms. Input dilation puts zeros
between the elements, so padding with interior zeros first leaves an ordinary convolution of the
same numbers. Equal for finite kernels: the zeros are now multiplied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.tensor_ops import (
    attribute_ints,
    element_of,
    pad,
    shape_of,
    splat,
)

if TYPE_CHECKING:
    from neuron_compile.codegen.legality.device import Device


def dilate_convolution_input(operation: Any, _device: Device) -> bool:
    """Replace a `stablehlo.convolution` whose input dilation meets a stride or kernel dilation."""
    if not any(refused_dilations(operation)):
        return False
    data, kernel = operation.operands
    numbers = stablehlo.ConvDimensionNumbers(operation.attributes["dimension_numbers"])
    spatial = list(numbers.input_spatial_dimensions)
    dilation = attribute_ints(operation, "lhs_dilation", [1] * len(spatial))
    rank = len(shape_of(data))
    interior = [0] * rank
    for dimension, factor in zip(spatial, dilation, strict=True):
        interior[dimension] = factor - 1
    with building_at(operation):
        zero = splat(0, (), element_of(data))
        dilated = pad(data, zero, [0] * rank, [0] * rank, interior)
        attributes = dict(operation.attributes.items())
        attributes["lhs_dilation"] = ir.DenseI64ArrayAttr.get([1] * len(spatial))
        new = ir.Operation.create(
            "stablehlo.convolution",
            results=[operation.result.type],
            operands=[dilated, kernel],
            attributes=attributes,
        )
    replace(operation, [new.result])
    return True


def refused_dilations(operation: Any) -> tuple[bool, bool]:
    """Whether a convolution has the forms of NCC_EVRF010 and of NCC_EVRF011."""
    numbers = stablehlo.ConvDimensionNumbers(operation.attributes["dimension_numbers"])
    ones = [1] * len(numbers.input_spatial_dimensions)
    is_dilated = max(attribute_ints(operation, "lhs_dilation", ones), default=1) > 1
    has_dilated_kernel = max(attribute_ints(operation, "rhs_dilation", ones), default=1) > 1
    is_strided = max(attribute_ints(operation, "window_strides", ones), default=1) > 1
    return is_dilated and has_dilated_kernel, is_dilated and is_strided
