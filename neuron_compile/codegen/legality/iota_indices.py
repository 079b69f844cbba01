"""Whether the indices of a gather or scatter count beyond the operand (NCC_EVRF031, NCC_EVRF056).

The compiler follows indices back to an `iota` and compares its size with the operand's dimension.
"""

from __future__ import annotations

from typing import Any, Final

from neuron_compile.codegen.legality.tensor_ops import shape_of

_TRANSPARENT: Final = frozenset(
    f"stablehlo.{name}" for name in ("reshape", "broadcast_in_dim", "convert", "transpose")
)


def index_bounds(indices: Any, vector_dimension: int, count: int) -> list[int | None]:
    """How far an `iota` behind each component of an index vector counts; None where none is."""
    producer: Any = getattr(indices, "owner", None)
    name = getattr(producer, "name", None)
    if name == "stablehlo.concatenate" and attribute_int(producer, "dimension") == vector_dimension:
        bounds: list[int | None] = []
        for part in producer.operands:
            bounds += index_bounds(part, vector_dimension, shape_of(part)[vector_dimension])
        return bounds
    if name == "stablehlo.iota" and attribute_int(producer, "iota_dimension") == vector_dimension:
        return [component + 1 for component in range(count)]
    return [_count(indices)] * count


def excesses(operation: Any, numbers: Any, index_map: list[int]) -> dict[int, int]:
    """The operand dimensions of a gather or scatter whose `iota` counts too far, and how far."""
    operand, indices = operation.operands[0], index_operand(operation)
    bounds = index_bounds(indices, numbers.index_vector_dim, len(index_map))
    sizes = shape_of(operand)
    return {
        dimension: bound
        for dimension, bound in zip(index_map, bounds, strict=True)
        if bound is not None and bound > sizes[dimension]
    }


def index_operand(operation: Any) -> Any:
    """The indices of a gather (second operand) or scatter (after all its inputs)."""
    operands = list(operation.operands)
    return operands[1] if operation.name == "stablehlo.gather" else operands[len(operands) // 2]


def attribute_int(operation: Any, name: str) -> int:
    """An integer attribute."""
    return int(operation.attributes[name].value)


def _count(value: Any) -> int | None:
    producer: Any = getattr(value, "owner", None)
    name = getattr(producer, "name", None)
    if name in _TRANSPARENT:
        return _count(producer.operands[0])
    if name == "stablehlo.iota":
        return shape_of(value)[attribute_int(producer, "iota_dimension")]
    return None
