"""The FX passes in their order, up to a graph's boundary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from torch.fx import GraphModule

from neuron_compile.lowering.legalize.drop_no_ops import drop_no_ops
from neuron_compile.lowering.legalize.fill_empty_results import fill_empty_results
from neuron_compile.lowering.legalize.fill_factories import fill_factories
from neuron_compile.lowering.legalize.fold_constants import fold_constants
from neuron_compile.lowering.legalize.keep_roundings import keep_roundings
from neuron_compile.lowering.legalize.keep_signed_zeros import keep_signed_zeros
from neuron_compile.lowering.legalize.match_scalars import match_scalars
from neuron_compile.lowering.legalize.normalize_slices import normalize_slices
from neuron_compile.lowering.legalize.order_storage import order_storage
from neuron_compile.lowering.legalize.reject_mixed_products import reject_mixed_products
from neuron_compile.lowering.legalize.reject_unknown_dtypes import reject_unknown_dtypes
from neuron_compile.lowering.legalize.replace_copies import replace_copies
from neuron_compile.lowering.legalize.replace_prims import replace_prims
from neuron_compile.lowering.legalize.replace_resizes import replace_resizes
from neuron_compile.lowering.legalize.spell_small_products import spell_small_products
from neuron_compile.lowering.legalize.store_constants import store_constants
from neuron_compile.lowering.legalize.use_cpu_device import use_cpu_device
from neuron_compile.lowering.legalize.widen_low_precision import widen_low_precision

PASSES: Final[tuple[Callable[[GraphModule], Any], ...]] = (
    reject_unknown_dtypes,
    reject_mixed_products,
    use_cpu_device,
    # First of all, so that no other pass meets the results of operators on nothing.
    fill_empty_results,
    # Before any pass that changes the strides of a value.
    order_storage,
    replace_resizes,
    # Leaves aliases, which the next one drops.
    replace_prims,
    drop_no_ops,
    replace_copies,
    fill_factories,
    # After the factories, whose one form it knows.
    fold_constants,
    # Its comparisons are for the next one.
    keep_signed_zeros,
    match_scalars,
    # Constants have been computed in their own precision by now.
    widen_low_precision,
    # Its products and sums are for the next one.
    spell_small_products,
    keep_roundings,
    normalize_slices,
    store_constants,
)

# What makes the host's code round where ATen does. A device does not, and wants whole products.
IMITATIONS: Final = frozenset({spell_small_products, keep_roundings})
