"""Convolutions and window reductions (NCC_EVRF010, EVRF011, EVRF017, EVRF018, EVRF019)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neuron_compile.codegen.legality.program_module import node_numbers
from neuron_compile.codegen.legality.refusal import Refusal
from neuron_compile.codegen.legality.rewrites.dilate_convolution_input import refused_dilations
from neuron_compile.codegen.legality.tensor_ops import attribute_ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_compile.codegen.legality.device import Device


def check_windows(operation: Any, _device: Device) -> Iterator[Refusal]:
    """A form of convolution or window reduction that the compiler does not take."""
    if operation.name not in {"stablehlo.convolution", "stablehlo.reduce_window"}:
        return
    nodes = node_numbers(operation)
    if operation.name == "stablehlo.convolution":
        with_kernel, with_stride = refused_dilations(operation)
        way_out = "pad the input with zeros between its elements first."
        if with_kernel:
            why = "a convolution dilates its input and its kernel"
            yield Refusal("EVRF010", "stablehlo.convolution", nodes, why, way_out)
        if with_stride:
            why = "a convolution with a stride dilates its input"
            yield Refusal("EVRF011", "stablehlo.convolution", nodes, why, way_out)
    else:
        for code, why in _window_faults(operation):
            yield Refusal(
                code,
                "stablehlo.reduce_window",
                nodes,
                why,
                "use a smaller window, or reduce slices of the input.",
            )


def _window_faults(operation: Any) -> Iterator[tuple[str, str]]:
    if max(attribute_ints(operation, "base_dilations", ()), default=1) > 1:
        yield "EVRF017", "a window reduction dilates its input"
    if max(attribute_ints(operation, "window_dilations", ()), default=1) > 1:
        yield "EVRF018", "a window reduction dilates its window"
    if len(operation.operands) != 2:
        yield "EVRF019", "a window reduction works on more than one array at once"
