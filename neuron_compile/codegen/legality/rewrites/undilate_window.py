"""Window reductions with window dilation (NCC_EVRF018).

A window that takes every d-th element lies within one of d interleaved arrays. So each dilated
dimension is split into (blocks, phase), an ordinary window runs over the blocks, and the results
are interleaved again. Every result reduces the same elements in the same order as before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.tensor_ops import (
    attribute_ints,
    element_of,
    pad,
    reshape,
    shape_of,
    tensor_of,
)
from neuron_compile.codegen.legality.window import move_body, padded_inputs, split_operands

if TYPE_CHECKING:
    from neuron_compile.codegen.legality.device import Device


def undilate_window(operation: Any, _device: Device) -> bool:
    """Replace a `stablehlo.reduce_window` whose window is dilated."""
    _, initial = split_operands(operation)
    window = attribute_ints(operation, "window_dimensions", ())
    rank = len(window)
    dilation = attribute_ints(operation, "window_dilations", [1] * rank)
    strides = attribute_ints(operation, "window_strides", [1] * rank)
    if max(dilation, default=1) <= 1:
        return False
    with building_at(operation):
        padded = padded_inputs(operation)
        sizes = shape_of(padded[0])
        blocks = [-(-size // d) for size, d in zip(sizes, dilation, strict=True)]
        fill = [b * d - size for b, d, size in zip(blocks, dilation, sizes, strict=True)]
        split = [size for pair in zip(blocks, dilation, strict=True) for size in pair]
        zeros = [0] * rank
        arrays = [
            reshape(pad(data, filler, zeros, fill, zeros), split)
            for data, filler in zip(padded, initial, strict=True)
        ]
        # Blocks from which no whole window starts give no result.
        starts = [max(b - w + 1, 0) for b, w in zip(blocks, window, strict=True)]
        shape = [size for pair in zip(starts, dilation, strict=True) for size in pair]
        wide_window = [size for w in window for size in (w, 1)]
        new = ir.Operation.create(
            "stablehlo.reduce_window",
            results=[tensor_of(shape, element_of(data)) for data in arrays],
            operands=[*arrays, *initial],
            attributes={"window_dimensions": ir.DenseI64ArrayAttr.get(wide_window)},
            regions=1,
        )
        merged = [s * d for s, d in zip(starts, dilation, strict=True)]
        results = []
        for result, old in zip(new.results, operation.results, strict=True):
            counts = shape_of(old)
            limits = [(n - 1) * s + 1 if n else 0 for n, s in zip(counts, strides, strict=True)]
            results.append(stablehlo.slice(reshape(result, merged), zeros, limits, strides))
    move_body(operation, new)
    replace(operation, results)
    return True
