"""Window reductions over several arrays at once (NCC_EVRF019).

Max pooling with indices is one. The compiler takes one array, and the reductions cannot be
separated, so the window is written out: one strided slice for each place in the window, combined
pairwise by the body in row-major order, as a reduction over the window would.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final

from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.lift_region import can_lift, lift_region
from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.tensor_ops import attribute_ints, broadcast, shape_of
from neuron_compile.codegen.legality.window import padded_inputs, split_operands

if TYPE_CHECKING:
    from neuron_compile.codegen.legality.device import Device

# Each place costs one operation of the body for each output; beyond this a scan is wanted.
_MAX_PLACES: Final = 1024


def fold_windows(operation: Any, _device: Device) -> bool:
    """Replace a `stablehlo.reduce_window` of several arrays whose body works element by element."""
    _, initial = split_operands(operation)
    window = attribute_ints(operation, "window_dimensions", ())
    body = operation.regions[0].blocks[0]
    if len(initial) == 1 or math.prod(window) > _MAX_PLACES or not can_lift(body):
        return False
    ones = [1] * len(window)
    dilation = attribute_ints(operation, "window_dilations", ones)
    strides = attribute_ints(operation, "window_strides", ones)
    counts = shape_of(operation.results[0])
    with building_at(operation):
        padded = padded_inputs(operation)
        folded = [broadcast(value, counts) for value in initial]
        for place in itertools.product(*map(range, window)):
            starts = [p * d for p, d in zip(place, dilation, strict=True)]
            limits = [
                start + (n - 1) * s + 1 if n else start
                for start, n, s in zip(starts, counts, strides, strict=True)
            ]
            slices = [stablehlo.slice(data, starts, limits, strides) for data in padded]
            folded = lift_region(body, [*folded, *slices], counts)
    replace(operation, folded)
    return True
