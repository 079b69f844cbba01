"""The FX passes in their order, up to a graph's boundary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from torch.fx import GraphModule

from neuron_compile.lowering.legalize.drop_no_ops import drop_no_ops
from neuron_compile.lowering.legalize.fill_factories import fill_factories
from neuron_compile.lowering.legalize.normalize_slices import normalize_slices
from neuron_compile.lowering.legalize.store_constants import store_constants
from neuron_compile.lowering.legalize.use_cpu_device import use_cpu_device

PASSES: Final[tuple[Callable[[GraphModule], Any], ...]] = (
    use_cpu_device,
    drop_no_ops,
    fill_factories,
    normalize_slices,
    store_constants,
)
