"""Operations that take their result's shape as an operand, where the shape is known all the same.

The compiler takes no dynamic shapes (NCC_EMOD025), and checks that follow an `iota` would not see
through a dynamic one. What only computed the shape is erased: it may be 64-bit floating point,
which the device does not have.
"""

from __future__ import annotations

from typing import Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.program_module import building_at, replace, walk

DYNAMIC_OPERATIONS: Final = frozenset(
    f"stablehlo.{name}"
    for name in (
        "dynamic_broadcast_in_dim",
        "dynamic_conv",
        "dynamic_gather",
        "dynamic_iota",
        "dynamic_pad",
        "dynamic_reshape",
        "real_dynamic_slice",
    )
)


def settle_shapes(module: Any) -> None:
    """Give operations of a known shape their static form."""
    for operation in list(walk(module.operation)):
        if operation.name in DYNAMIC_OPERATIONS and _is_static(operation.results[0].type):
            shape = operation.operands[-1]
            with building_at(operation):
                settled = _static_form(operation)
            if settled is not None:
                replace(operation, [settled])
                _erase_unused(shape)


def _static_form(operation: Any) -> Any:
    """The value of the static form, or None if the operation has none that is built here."""
    kind = operation.results[0].type
    if operation.name == "stablehlo.dynamic_iota":
        return stablehlo.iota(kind, operation.attributes["iota_dimension"])
    if operation.name == "stablehlo.dynamic_reshape":
        return stablehlo.reshape(kind, operation.operands[0])
    if operation.name == "stablehlo.dynamic_broadcast_in_dim":
        dimensions = operation.attributes["broadcast_dimensions"]
        return stablehlo.BroadcastInDimOp(kind, operation.operands[0], dimensions).result
    return None


def _is_static(kind: Any) -> bool:
    return isinstance(kind, ir.RankedTensorType) and ir.RankedTensorType(kind).has_static_shape


def _erase_unused(value: Any) -> None:
    """Erase what computed a value that nothing uses, as far as it computed nothing else."""
    producer = value.owner
    if isinstance(producer, ir.Block):
        return
    operation = producer.operation if hasattr(producer, "operation") else producer
    is_used = any(list(result.uses) for result in operation.results)
    if is_used or len(operation.regions) or operation.name == "stablehlo.custom_call":
        return
    operands = list(dict.fromkeys(operation.operands))
    operation.erase()
    for operand in operands:
        _erase_unused(operand)
