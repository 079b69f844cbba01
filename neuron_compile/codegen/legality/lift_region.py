"""A scalar region applied to whole tensors at once.

The bodies of sorts and reductions are written over scalars. Where all their operations work
element by element, the same operations on tensors do the body's work for many pairs at a time.
"""

from __future__ import annotations

from typing import Any, Final

from jaxlib.mlir import ir

from neuron_compile.codegen.legality.tensor_ops import broadcast, element_of, shape_of, tensor_of

_NAMES: Final = """
    abs add and atan2 bitcast_convert cbrt ceil clamp compare convert cosine count_leading_zeros
    divide exponential exponential_minus_one floor is_finite log log_plus_one logistic maximum
    minimum multiply negate not or popcnt power reduce_precision remainder round_nearest_afz
    round_nearest_even rsqrt select shift_left shift_right_arithmetic shift_right_logical sign sine
    sqrt subtract tan tanh xor
"""
_ELEMENTWISE: Final = frozenset(f"stablehlo.{name}" for name in _NAMES.split())


def can_lift(block: Any) -> bool:
    """Whether `lift_region` can apply this block: element by element, on scalars only."""
    inside = {child.operation for child in block.operations}
    for operation in inside:
        if operation.name == "stablehlo.return":
            continue
        if operation.name not in _ELEMENTWISE | {"stablehlo.constant"}:
            return False
        if any(shape_of(value) for value in [*operation.operands, *operation.results]):
            return False
    return True


def lift_region(block: Any, arguments: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """The block's results for tensors of `shape` in place of its scalar arguments.

    Built before the operation that the block belongs to, so scalars of outside are at hand.
    """
    lifted = dict(zip(block.arguments, arguments, strict=True))

    def tensor(value: Any) -> Any:
        if value not in lifted:
            lifted[value] = broadcast(value, shape)
        return lifted[value]

    for child in block.operations:
        operation = child.operation
        if operation.name == "stablehlo.return":
            return [tensor(value) for value in operation.operands]
        if operation.name == "stablehlo.constant":
            lifted[operation.result] = broadcast(operation.clone().result, shape)
            continue
        new = ir.Operation.create(
            operation.name,
            results=[tensor_of(shape, element_of(result)) for result in operation.results],
            operands=[tensor(value) for value in operation.operands],
            attributes=dict(operation.attributes.items()),
        )
        lifted.update(zip(operation.results, new.results, strict=True))
    raise AssertionError("a StableHLO region ends with stablehlo.return")
