"""Sorts of a 32-bit integer and its place as sorts of one 64-bit integer, for XLA on a CPU.

XLA:CPU calls the comparison of a sort of two arrays through a pointer, and moves both arrays for
each exchange; of one array of integers it knows the comparison, and is five times as fast.
"""

from __future__ import annotations

from typing import Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.tensor_ops import (
    compare,
    convert,
    element_of,
    integer,
    shape_of,
    splat,
    tensor_of,
)

_WIDTH: Final = 32


def pack_sort(operation: Any) -> bool:
    """Replace a `stablehlo.sort` of int32 keys and their places; tell whether it was one."""
    if not _is_packable(operation):
        return False
    with building_at(operation):
        packed = _packed_sort(operation)
    replace(operation, packed)
    return True


def _is_packable(operation: Any) -> bool:
    """Whether it sorts int32 keys upwards, and with them their places in the sorted dimension."""
    if len(operation.operands) != 2:
        return False
    keys, places = operation.operands
    if any(
        element_of(operand) != ir.IntegerType.get_signless(_WIDTH, operation.context)
        for operand in (keys, places)
    ):
        return False
    iota: Any = getattr(places, "owner", None)
    if getattr(iota, "name", None) != "stablehlo.iota":
        return False
    dimension = int(operation.attributes["dimension"].value) % len(shape_of(keys))
    return int(iota.attributes["iota_dimension"].value) == dimension and _is_less(operation)


def _is_less(operation: Any) -> bool:
    block = operation.regions[0].blocks[0]
    body = [child.operation for child in block.operations]
    if [child.name for child in body] != ["stablehlo.compare", "stablehlo.return"]:
        return False
    comparison, result = body
    return bool(
        list(comparison.operands) == list(block.arguments)[:2]
        and "LT" in str(comparison.attributes["comparison_direction"])
        and result.operands[0] == comparison.results[0]
    )


def _packed_sort(operation: Any) -> list[Any]:
    keys, places = operation.operands
    shape, wide, narrow = shape_of(keys), integer(2 * _WIDTH), integer(_WIDTH)
    high = stablehlo.shift_left(convert(keys, wide), splat(_WIDTH, shape, wide))
    # Places are not negative, and all different, so that the order is that of a stable sort.
    packed = stablehlo.or_(high, convert(places, wide))
    sort = stablehlo.SortOp(
        [packed.type], [packed], dimension=operation.attributes["dimension"], is_stable=False
    )
    scalar = tensor_of((), wide)
    block = sort.regions[0].blocks.append(scalar, scalar)
    with ir.InsertionPoint(block):
        stablehlo.return_([compare(block.arguments[0], block.arguments[1], "LT")])
    ordered = sort.results[0]
    top = stablehlo.shift_right_arithmetic(ordered, splat(_WIDTH, shape, wide))
    return [convert(top, narrow), convert(ordered, narrow)]
