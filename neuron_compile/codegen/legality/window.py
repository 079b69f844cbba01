"""Parts that the rewrites of window reductions share: operands, padding, the body."""

from __future__ import annotations

from typing import Any

from neuron_compile.codegen.legality.tensor_ops import attribute_ints, pad, shape_of


def split_operands(operation: Any) -> tuple[list[Any], list[Any]]:
    """The arrays and the initial values of a `reduce`, `reduce_window` or similar."""
    operands = list(operation.operands)
    half = len(operands) // 2
    return operands[:half], operands[half:]


def padded_inputs(operation: Any) -> list[Any]:
    """The arrays of a `reduce_window` after its padding and base dilation."""
    inputs, initial = split_operands(operation)
    rank = len(shape_of(inputs[0]))
    amounts = attribute_ints(operation, "padding", [0] * (2 * rank))
    dilation = attribute_ints(operation, "base_dilations", [1] * rank)
    return [
        pad(data, filler, amounts[::2], amounts[1::2], [factor - 1 for factor in dilation])
        for data, filler in zip(inputs, initial, strict=True)
    ]


def move_body(source: Any, target: Any) -> None:
    """Give the first region of `source` to `target`, whose region is empty."""
    source.regions[0].blocks[0].append_to(target.regions[0])
