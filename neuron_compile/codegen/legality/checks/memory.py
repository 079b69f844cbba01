"""Programs whose inputs and outputs alone exceed the device's memory (NCC_EVRF009)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from jaxlib.mlir import ir

from neuron_compile.codegen.legality.device import GIB
from neuron_compile.codegen.legality.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_compile.codegen.legality.device import Device


def check_memory(function: Any, device: Device) -> Iterator[Refusal]:
    """Whether the arguments and results of `main` fit, as the compiler checks before all else."""
    needed = interface_bytes(function)
    if needed > device.memory_bytes:
        yield Refusal(
            "EVRF009",
            "func.func @main",
            (),
            f"inputs and outputs take {needed / GIB:.1f} GiB, and {device.name} has "
            f"{device.memory_bytes / GIB:.0f} GiB for one program",
            "use a smaller batch, or shard the model.",
        )


def interface_bytes(function: Any) -> int:
    """Bytes of a function's static arguments and results."""
    signature = ir.FunctionType(function.attributes["function_type"].value)
    total = 0
    for kind in [*signature.inputs, *signature.results]:
        tensor = ir.RankedTensorType(kind)
        if tensor.has_static_shape:
            total += math.prod(tensor.shape) * element_bytes(tensor.element_type)
    return total


def element_bytes(element: Any) -> int:
    """Bytes of one element as XLA stores it; at least one."""
    if isinstance(element, ir.ComplexType):
        return 2 * element_bytes(ir.ComplexType(element).element_type)
    return max(int(element.width) // 8, 1)
