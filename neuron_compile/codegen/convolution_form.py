"""A StableHLO convolution without its many orders of dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.tensor_ops import attribute_ints, shape_of


@dataclass(frozen=True, slots=True)
class ConvolutionForm:
    """Operands and attributes. An order brings an array into that of its shape here: batch,
    features, space for data and result; output features, input features, space for the kernel.
    """

    data: Any
    kernel: Any
    data_order: tuple[int, ...]
    kernel_order: tuple[int, ...]
    result_order: tuple[int, ...]
    data_shape: tuple[int, ...]
    kernel_shape: tuple[int, ...]
    result_shape: tuple[int, ...]
    strides: tuple[int, ...]
    low: tuple[int, ...]
    data_dilation: tuple[int, ...]
    kernel_dilation: tuple[int, ...]
    feature_groups: int
    batch_groups: int

    @classmethod
    def of(cls, operation: Any) -> ConvolutionForm:
        """That of a `stablehlo.convolution`."""
        numbers = stablehlo.ConvDimensionNumbers(operation.attributes["dimension_numbers"])
        data, kernel = operation.operands
        data_order = (
            numbers.input_batch_dimension,
            numbers.input_feature_dimension,
            *numbers.input_spatial_dimensions,
        )
        kernel_order = (
            numbers.kernel_output_feature_dimension,
            numbers.kernel_input_feature_dimension,
            *numbers.kernel_spatial_dimensions,
        )
        result_order = (
            numbers.output_batch_dimension,
            numbers.output_feature_dimension,
            *numbers.output_spatial_dimensions,
        )
        rank = len(data_order) - 2
        ones, zeros = [1] * rank, [0] * (2 * rank)
        padding = attribute_ints(operation, "padding", zeros)
        return cls(
            data=data,
            kernel=kernel,
            data_order=data_order,
            kernel_order=kernel_order,
            result_order=result_order,
            data_shape=_ordered(data, data_order),
            kernel_shape=_ordered(kernel, kernel_order),
            result_shape=_ordered(operation.result, result_order),
            strides=tuple(attribute_ints(operation, "window_strides", ones)),
            low=tuple(padding[::2]),
            data_dilation=tuple(attribute_ints(operation, "lhs_dilation", ones)),
            kernel_dilation=tuple(attribute_ints(operation, "rhs_dilation", ones)),
            feature_groups=int(operation.attributes["feature_group_count"].value),
            batch_groups=int(operation.attributes["batch_group_count"].value),
        )


def _ordered(value: Any, order: tuple[int, ...]) -> tuple[int, ...]:
    shape = shape_of(value)
    return tuple(shape[dimension] for dimension in order)
