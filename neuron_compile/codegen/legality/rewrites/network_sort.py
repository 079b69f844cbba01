"""Sorts, which the compiler has no operator for (NCC_EVRF029), as a sorting network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from neuron_compile.codegen.legality.lift_region import can_lift, lift_region
from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.sorting_network import sort_by_network
from neuron_compile.codegen.legality.tensor_ops import shape_of

if TYPE_CHECKING:
    from neuron_compile.codegen.legality.device import Device

# 136 exchanges of the whole array; more would rather be refused than compiled for hours.
MAX_SORTED: Final = 1 << 16


def network_sort(operation: Any, _device: Device) -> bool:
    """Replace a `stablehlo.sort` whose comparison works element by element."""
    body = operation.regions[0].blocks[0]
    axis = int(operation.attributes["dimension"].value)
    rank = len(shape_of(operation.results[0]))
    axis = axis + rank if axis < 0 else axis
    if not can_lift(body) or shape_of(operation.results[0])[axis] > MAX_SORTED:
        return False

    def precedes(left: list[Any], right: list[Any]) -> Any:
        pairs = [value for pair in zip(left, right, strict=True) for value in pair]
        return lift_region(body, pairs, shape_of(left[0]))[0]

    with building_at(operation):
        ordered, _ = sort_by_network(list(operation.operands), axis, precedes)
    replace(operation, ordered)
    return True
