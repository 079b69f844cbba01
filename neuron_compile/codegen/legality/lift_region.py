"""A scalar region applied to whole tensors at once.

The bodies of sorts and reductions are written over scalars. Where all their operations work
element by element, the same operations on tensors do the body's work for many pairs at a time.
"""

from __future__ import annotations

from typing import Any, Final

from jaxlib.mlir import ir

from neuron_compile.codegen.legality.tensor_ops import broadcast, element_of, tensor_of

_NAMES: Final = """
    abs add and atan2 bitcast_convert cbrt ceil clamp compare convert cosine count_leading_zeros
    divide exponential exponential_minus_one floor is_finite log log_plus_one logistic maximum
    minimum multiply negate not or popcnt power reduce_precision remainder round_nearest_afz
    round_nearest_even rsqrt select shift_left shift_right_arithmetic shift_right_logical sign sine
    sqrt subtract tan tanh xor
"""
_ELEMENTWISE: Final = frozenset(f"stablehlo.{name}" for name in _NAMES.split())


def can_lift(block: Any) -> bool:
    """Whether `lift_region` can apply this block, which sees nothing outside of itself."""
    inside = {child.operation for child in block.operations}
    arguments = set(block.arguments)
    for operation in inside:
        if operation.name == "stablehlo.return":
            continue
        if operation.name not in _ELEMENTWISE | {"stablehlo.constant"}:
            return False
        for value in operation.operands:
            if value not in arguments and value.owner not in inside:
                return False
    return True


def lift_region(block: Any, arguments: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """The block's results for tensors of `shape` in place of its scalar arguments."""
    lifted = dict(zip(block.arguments, arguments, strict=True))
    for child in block.operations:
        operation = child.operation
        if operation.name == "stablehlo.return":
            return [lifted[value] for value in operation.operands]
        if operation.name == "stablehlo.constant":
            scalar = operation.clone()
            lifted[operation.result] = broadcast(scalar.result, shape)
            continue
        new = ir.Operation.create(
            operation.name,
            results=[tensor_of(shape, element_of(result)) for result in operation.results],
            operands=[lifted[value] for value in operation.operands],
            attributes=dict(operation.attributes.items()),
        )
        lifted.update(zip(operation.results, new.results, strict=True))
    raise AssertionError("a StableHLO region ends with stablehlo.return")
