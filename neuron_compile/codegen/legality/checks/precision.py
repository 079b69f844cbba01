"""Integers that a program computes through 64-bit floating point (NCC_ESPP004).

What users write in float64 is narrowed, with a warning, before a program exists. So float64 in a
program is the lowering's own, there to be exact: as 32 bits it would give other integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from jaxlib.mlir import ir

from neuron_compile.codegen.legality.program_module import node_numbers, walk
from neuron_compile.codegen.legality.refusal import Refusal
from neuron_compile.codegen.legality.tensor_ops import element_of

if TYPE_CHECKING:
    from collections.abc import Iterator


_MOVERS: Final = frozenset({"stablehlo.reshape", "stablehlo.broadcast_in_dim", "stablehlo.convert"})


def check_integers_through_float64(module: Any) -> Iterator[Refusal]:
    """Every conversion of 64-bit floating point to integers, before float64 is narrowed."""
    for operation in walk(module.operation):
        if operation.name != "stablehlo.convert":
            continue
        source, result = element_of(operation.operands[0]), element_of(operation.results[0])
        is_counted = isinstance(result, ir.IntegerType) and result.width > 1
        if not isinstance(source, ir.F64Type) or not is_counted:
            continue
        if not _is_exact_constant(operation.operands[0]):
            yield Refusal(
                "ESPP004",
                str(operation.name),
                node_numbers(operation),
                "integers are computed through 64-bit floating point, which the device does not "
                "have",
                "compute them outside of the compiled region, or in integers.",
            )


def _is_exact_constant(value: Any) -> bool:
    """Whether a value is a constant that 32 bits hold too: numbers in PyTorch's graphs are written
    in float64, whatever they are converted to."""
    producer: Any = getattr(value, "owner", None)
    name = getattr(producer, "name", None)
    if name in _MOVERS:
        return isinstance(element_of(value), ir.F64Type) and _is_exact_constant(
            producer.operands[0]
        )
    if name != "stablehlo.constant" or not isinstance(element_of(value), ir.F64Type):
        return False
    numbers = np.asarray(ir.DenseFPElementsAttr(producer.attributes["value"]), dtype=np.float64)
    with np.errstate(over="ignore"):
        return bool(np.array_equal(numbers.astype(np.float32), numbers))
