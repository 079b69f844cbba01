"""What `--auto-cast` does to a program's numbers, written out for the host.

The device casts float32 operands to a narrower type and accumulates products in float32. Rounding
the operands to the narrower type's bits and leaving the product in float32 gives the same, so that
a run without a device sees the accuracy that training will have.
"""

from __future__ import annotations

from typing import Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.program_module import (
    building_at,
    read_module,
    walk,
    write_module,
)
from neuron_compile.codegen.legality.tensor_ops import element_of
from neuron_compile.errors import OptionsError

# Bits of exponent and mantissa.
_BITS: Final = {"bf16": (8, 7), "fp16": (5, 10), "tf32": (8, 10), "fp8_e4m3": (4, 3)}

_MATRIX: Final = frozenset(
    {"stablehlo.dot_general", "stablehlo.dot", "stablehlo.convolution", "stablehlo.einsum"}
)
# They move numbers and compute none, so their operands are rounded already.
_MOVERS: Final = """
    bitcast_convert broadcast_in_dim concatenate constant reduce_precision reshape return slice
    transpose while
"""
_MOVING: Final = frozenset(f"stablehlo.{name}" for name in _MOVERS.split())


def emulate_auto_cast(program: bytes, *, auto_cast: str, auto_cast_type: str = "bf16") -> bytes:
    """The portable StableHLO artifact `program` with the rounding of an auto-cast made explicit.

    `auto_cast` is `none`, `matmult` or `all`, `auto_cast_type` one of `bf16`, `fp16`, `tf32` and
    `fp8_e4m3`, as for neuronx-cc. Raises `OptionsError` for others, `CodegenError` if `program` is
    no artifact.
    """
    if auto_cast not in {"none", "matmult", "all"} or auto_cast_type not in _BITS:
        raise OptionsError(
            f"there is no auto-cast {auto_cast!r} to {auto_cast_type!r}",
            hint=f"cast none, matmult or all, to one of {', '.join(_BITS)}.",
        )
    if auto_cast == "none":
        return program
    module = read_module(program)
    with module.context:
        for operation in list(walk(module.operation)):
            is_stablehlo = operation.name.startswith(("stablehlo.", "chlo."))
            is_rounded = is_stablehlo and operation.name not in _MOVING
            if operation.name in _MATRIX or (auto_cast == "all" and is_rounded):
                _round_operands(operation, *_BITS[auto_cast_type])
        return write_module(module)


def _round_operands(operation: Any, exponent: int, mantissa: int) -> None:
    with building_at(operation):
        for index, operand in enumerate(list(operation.operands)):
            is_tensor = isinstance(operand.type, ir.RankedTensorType)
            if is_tensor and isinstance(element_of(operand), ir.F32Type):
                rounded = stablehlo.reduce_precision(operand, exponent, mantissa)
                operation.operands[index] = rounded
