"""Large calls of some library functions as calls of ATen's own kernels.

Sorting, running sums and Fourier transforms as StableHLO has them are loops that no compiler
recognizes: of a million numbers XLA:CPU's take up to a hundred times as long as ATen's.
"""

from __future__ import annotations

import math
from typing import Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.tensor_ops import shape_of
from neuron_compile.lowering import CALL_MARK
from neuron_compile.pjrt.host_kernels import OPERATOR

# Below, a call takes longer than the loop.
_LEAST_ELEMENTS: Final = 1 << 14


def call_operator(operation: Any) -> bool:
    """Replace a `func.call` of a library function that is marked with the ATen call it computes."""
    description = _mark_of(operation)
    if description is None or not _is_worth_it(operation):
        return False
    with building_at(operation):
        call = stablehlo.CustomCallOp(
            [result.type for result in operation.results],
            list(operation.operands),
            OPERATOR,
            # The typed interface, whose configuration is a dictionary.
            backend_config=ir.DictAttr.get({"description": ir.StringAttr.get(description)}),
            api_version=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 4),
        )
    replace(operation, list(call.results))
    return True


def _mark_of(operation: Any) -> str | None:
    module = operation
    while module.parent is not None:
        module = module.parent
    name = ir.FlatSymbolRefAttr(operation.attributes["callee"]).value
    for function in module.regions[0].blocks[0].operations:
        if ir.StringAttr(function.attributes["sym_name"]).value == name:
            attributes = function.attributes
            return ir.StringAttr(attributes[CALL_MARK]).value if CALL_MARK in attributes else None
    return None


def _is_worth_it(operation: Any) -> bool:
    values = (*operation.operands, *operation.results)
    return max(math.prod(shape_of(value)) for value in values) >= _LEAST_ELEMENTS
