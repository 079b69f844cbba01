"""Integers that a program computes through 64-bit floating point (NCC_ESPP004).

What users write in float64 is narrowed, with a warning, before a program exists. So float64 in a
program is the lowering's own, there to be exact: as 32 bits it would give other integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxlib.mlir import ir

from neuron_compile.codegen.legality.program_module import node_numbers, walk
from neuron_compile.codegen.legality.refusal import Refusal
from neuron_compile.codegen.legality.tensor_ops import element_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def check_integers_through_float64(module: Any) -> Iterator[Refusal]:
    """Every conversion of 64-bit floating point to integers, before float64 is narrowed."""
    for operation in walk(module.operation):
        if operation.name != "stablehlo.convert":
            continue
        source, result = element_of(operation.operands[0]), element_of(operation.results[0])
        is_counted = isinstance(result, ir.IntegerType) and result.width > 1
        if isinstance(source, ir.F64Type) and is_counted:
            yield Refusal(
                "ESPP004",
                str(operation.name),
                node_numbers(operation),
                "integers are computed through 64-bit floating point, which the device does not "
                "have",
                "compute them outside of the compiled region, or in integers.",
            )
