"""Integers that the device would not compute exactly (NCC_EVRF022, EVRF035, EVRF061 to EVRF063,
ESFH002)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from jaxlib.mlir import ir

from neuron_compile.codegen.legality.program_module import node_numbers
from neuron_compile.codegen.legality.refusal import Refusal
from neuron_compile.codegen.legality.rewrites.multiply_out_integer_dot import refuses_integer_dot
from neuron_compile.codegen.legality.rewrites.split_unsigned_constant import (
    constant_values,
    needs_64_bits,
)
from neuron_compile.codegen.legality.rewrites.square_integer_power import refuses_integer_power
from neuron_compile.codegen.legality.tensor_ops import element_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_compile.codegen.legality.device import Device

_COLLECTIVES: Final = {
    "stablehlo.all_reduce": ("EVRF061", "all_reduce"),
    "stablehlo.reduce_scatter": ("EVRF063", "reduce_scatter"),
}


def check_integers(operation: Any, device: Device) -> Iterator[Refusal]:
    """An integer operation or constant that would lose bits."""
    for code, why, way_out in _faults(operation, device):
        yield Refusal(code, str(operation.name), node_numbers(operation), why, way_out)


def _faults(operation: Any, device: Device) -> Iterator[tuple[str, str, str]]:
    name = operation.name
    if name == "stablehlo.shift_right_arithmetic":
        width = element_of(operation.result).width
        if width != 32:
            yield "EVRF022", f"an arithmetic shift of {width}-bit numbers", "cast to int32."
    elif name == "stablehlo.dot_general" and refuses_integer_dot(operation, device):
        why = "the matrix engine computes integers in 32-bit floating point"
        yield "EVRF035", why, _allow("dot", "cast to float32")
    elif name == "stablehlo.power" and refuses_integer_power(operation, device):
        why = "64-bit integer powers are computed in 32 bits"
        yield "EVRF062", why, _allow("pow", "cast to int32")
    elif name in _COLLECTIVES and device.generation >= 3:
        code, flag = _COLLECTIVES[name]
        if _is_wide_integer(operation.results[0]) and flag not in device.downcasts:
            why = f"{flag} adds integers in 32-bit floating point"
            yield code, why, _allow(flag, "reduce floating-point numbers")
    elif name == "stablehlo.constant":
        yield from _constant_faults(operation, device)


def _constant_faults(operation: Any, device: Device) -> Iterator[tuple[str, str, str]]:
    if needs_64_bits(operation):
        why = "an unsigned 64-bit constant does not fit 32 bits"
        yield "ESFH002", why, "use smaller numbers, or uint32."
        return
    element = element_of(operation.result)
    if device.has_int64 or not isinstance(element, ir.IntegerType) or element.width < 64:
        return
    values = constant_values(operation)
    info = np.iinfo(np.uint32 if element.is_unsigned else np.int32)
    if values.size and (int(values.min()) < info.min or int(values.max()) > info.max):
        yield (
            "ESFH002",
            f"{device.name} computes 64-bit integers in 32 bits, and a constant does not fit",
            "use smaller numbers, or target trn2 or later with native 64-bit integers.",
        )


def _is_wide_integer(value: Any) -> bool:
    element = element_of(value)
    return isinstance(element, ir.IntegerType) and element.width >= 32


def _allow(flag: str, cast: str) -> str:
    return (
        f"{cast}, or allow the loss of precision with "
        f"NEURON_CC_FLAGS=--implicit-integer-downcast={flag}."
    )
