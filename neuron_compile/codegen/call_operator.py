"""Large calls of some library functions as calls of ATen's own kernels.

Sorting, running sums and Fourier transforms as StableHLO has them are loops that no compiler
recognizes: of a million numbers XLA:CPU's take up to a hundred times as long as ATen's.
"""

from __future__ import annotations

import math
from typing import Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from neuron_compile.codegen.host_call import host_call
from neuron_compile.codegen.legality.tensor_ops import shape_of
from neuron_compile.lowering import CALL_MARK
from neuron_compile.pjrt.host_kernels import OPERATOR

# Below, a call takes longer than the loop.
_LEAST_ELEMENTS: Final = 1 << 14


def call_operator(function: Any) -> bool:
    """Let a `func.func` of the library that is marked with the ATen call it computes make it."""
    if CALL_MARK not in function.attributes:
        return False
    block = function.regions[0].blocks[0]
    body = [operation.operation for operation in block.operations]
    arguments, results = list(block.arguments), list(body[-1].operands)
    if max(math.prod(shape_of(value)) for value in (*arguments, *results)) < _LEAST_ELEMENTS:
        return False
    types = [result.type for result in results]
    description = ir.StringAttr(function.attributes[CALL_MARK]).value
    for operation in reversed(body):
        operation.erase()
    with ir.InsertionPoint(block), function.location:
        func.ReturnOp(list(host_call(OPERATOR, description, arguments, types).results))
    return True
