"""Remove calls that only pass their input on."""

from __future__ import annotations

from typing import Final

import torch
from torch.fx import GraphModule

from neuron_compile.lowering.legalize.node_values import calls

_aten = torch.ops.aten

_NO_OPS: Final = (
    _aten.detach.default,
    _aten.alias.default,
    _aten.lift_fresh.default,
    _aten.lift_fresh_copy.default,
    _aten._conj_physical.default,
)


def drop_no_ops(module: GraphModule) -> None:
    """Replace each by its input: in a functional graph nothing can tell a copy or an alias."""
    for node in calls(module, *_NO_OPS):
        source = node.args[0]
        is_complex = node.meta["val"].dtype.is_complex
        if node.target is _aten._conj_physical.default and is_complex:
            continue
        node.replace_all_uses_with(source)  # type: ignore[arg-type]
        module.graph.erase_node(node)
