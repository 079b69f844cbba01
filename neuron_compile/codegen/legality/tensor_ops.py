"""Short ways to build StableHLO operations inside `building_at`. Shapes are tuples of ints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

if TYPE_CHECKING:
    from collections.abc import Sequence


def shape_of(value: Any) -> tuple[int, ...]:
    """The sizes of a ranked tensor."""
    return tuple(ir.RankedTensorType(value.type).shape)


def element_of(value: Any) -> Any:
    """The element type of a ranked tensor."""
    return ir.RankedTensorType(value.type).element_type


def tensor_of(shape: Sequence[int], element: Any) -> Any:
    """A static tensor type."""
    return ir.RankedTensorType.get(list(shape), element)


def integer(width: int, *, is_unsigned: bool = False) -> Any:
    """An element type as StableHLO writes it: `i32`, `ui32`."""
    return (ir.IntegerType.get_unsigned if is_unsigned else ir.IntegerType.get_signless)(width)


def splat(number: float, shape: Sequence[int], element: Any) -> Any:
    """A constant tensor with one value everywhere."""
    tensor = tensor_of(shape, element)
    if not isinstance(element, ir.IntegerType):
        attribute = ir.FloatAttr.get(element, float(number))
        return stablehlo.constant(ir.DenseElementsAttr.get_splat(tensor, attribute))
    wrapped = int(number) % (1 << element.width)
    if not element.is_unsigned and element.width > 1 and wrapped >> (element.width - 1):
        wrapped -= 1 << element.width
    spelling = ("false", "true")[wrapped] if element.width == 1 else str(wrapped)
    # The bindings take no unsigned 64-bit number; the parser does.
    return stablehlo.constant(ir.Attribute.parse(f"dense<{spelling}> : {tensor}"))


def constant_of(array: np.ndarray[Any, Any], element: Any) -> Any:
    """A constant tensor of an integer array, whose NumPy type has the width of `element`."""
    attribute = ir.DenseElementsAttr.get(
        np.ascontiguousarray(array), type=element, shape=list(array.shape)
    )
    return stablehlo.constant(attribute)


def broadcast(value: Any, shape: Sequence[int], dimensions: Sequence[int] = ()) -> Any:
    """`value` broadcast so that its dimension i is dimension `dimensions[i]` of the result."""
    result = tensor_of(shape, element_of(value))
    return stablehlo.broadcast_in_dim(result, value, list(dimensions))


def reshape(value: Any, shape: Sequence[int]) -> Any:
    """The same elements in row-major order under another shape."""
    return stablehlo.reshape(tensor_of(shape, element_of(value)), value)


def convert(value: Any, element: Any) -> Any:
    """`value` with another element type, by value."""
    return stablehlo.convert(tensor_of(shape_of(value), element), value)


def bitcast(value: Any, element: Any, shape: Sequence[int] | None = None) -> Any:
    """`value` with another element type, by bits; `shape` where the width changes."""
    sizes = shape_of(value) if shape is None else shape
    return stablehlo.bitcast_convert(tensor_of(sizes, element), value)


def slice_along(value: Any, dimension: int, start: int, limit: int, stride: int = 1) -> Any:
    """Part of one dimension, the whole of all others."""
    sizes = shape_of(value)
    starts, limits, strides = [0] * len(sizes), list(sizes), [1] * len(sizes)
    starts[dimension], limits[dimension], strides[dimension] = start, limit, stride
    return stablehlo.slice(value, starts, limits, strides)


def pad(
    value: Any, filler: Any, low: Sequence[int], high: Sequence[int], interior: Sequence[int]
) -> Any:
    """`value` with the scalar tensor `filler` around (and between) its elements."""
    return stablehlo.pad(value, filler, list(low), list(high), list(interior))


def compare(left: Any, right: Any, direction: str) -> Any:
    """An `i1` tensor; direction is `LT`, `LE`, `GT`, `GE`, `EQ` or `NE`."""
    return stablehlo.compare(
        left,
        right,
        stablehlo.ComparisonDirectionAttr.get(direction),
        compare_type=_comparison_type(element_of(left)),
    )


def iota(shape: Sequence[int], dimension: int, element: Any) -> Any:
    """Counts up along one dimension."""
    return stablehlo.iota(tensor_of(shape, element), dimension)


def _comparison_type(element: Any) -> Any:
    if not isinstance(element, ir.IntegerType):
        return stablehlo.ComparisonTypeAttr.get("FLOAT")
    is_unsigned = element.is_unsigned or element.width == 1
    return stablehlo.ComparisonTypeAttr.get("UNSIGNED" if is_unsigned else "SIGNED")


def ints_of(attribute: Any) -> list[int]:
    """The numbers of an integer array or dense elements attribute, in row-major order."""
    try:
        return [int(number) for number in ir.DenseI64ArrayAttr(attribute)]
    except ValueError:
        return [int(n) for n in np.asarray(ir.DenseIntElementsAttr(attribute)).reshape(-1)]


def attribute_ints(operation: Any, name: str, default: Sequence[int]) -> list[int]:
    """An optional integer list attribute of an operation."""
    if name not in operation.attributes:
        return list(default)
    return ints_of(operation.attributes[name])
