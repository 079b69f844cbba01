"""Window reductions with base dilation (NCC_EVRF017).

StableHLO defines base dilation as padding with the initial value between the elements, so this
writes the definition out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxlib.mlir import ir

from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.tensor_ops import attribute_ints, pad, shape_of
from neuron_compile.codegen.legality.window import move_body, split_operands

if TYPE_CHECKING:
    from neuron_compile.codegen.legality.device import Device


def pad_window_base(operation: Any, _device: Device) -> bool:
    """Replace a `stablehlo.reduce_window` whose base is dilated."""
    inputs, initial = split_operands(operation)
    rank = len(shape_of(inputs[0]))
    dilation = attribute_ints(operation, "base_dilations", [1] * rank)
    if max(dilation, default=1) <= 1:
        return False
    zeros = [0] * rank
    with building_at(operation):
        padded = [
            pad(data, filler, zeros, zeros, [factor - 1 for factor in dilation])
            for data, filler in zip(inputs, initial, strict=True)
        ]
        attributes = dict(operation.attributes.items())
        attributes["base_dilations"] = ir.DenseI64ArrayAttr.get([1] * rank)
        new = ir.Operation.create(
            "stablehlo.reduce_window",
            results=[result.type for result in operation.results],
            operands=[*padded, *initial],
            attributes=attributes,
            regions=1,
        )
    move_body(operation, new)
    replace(operation, list(new.results))
    return True
