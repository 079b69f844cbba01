"""Write a copy into a tensor as the source in the tensor's shape and dtype."""

from __future__ import annotations

import torch
from torch.fx import GraphModule

from neuron_compile.lowering.legalize.node_values import call, calls, value

_aten = torch.ops.aten


def replace_copies(module: GraphModule) -> None:
    """Replace `copy(self, source)` by a conversion and an expansion of `source`.

    Nothing is left of `self` but its type; its strides concern only a graph's results, whose own
    are recorded before.
    """
    for node in calls(module, _aten.copy.default):
        target, source = value(node), node.args[1]
        with module.graph.inserting_before(node):
            if value(source).dtype != target.dtype:
                source = call(module, node, _aten._to_copy.default, source, dtype=target.dtype)
            if value(source).shape != target.shape:
                source = call(module, node, _aten.expand.default, source, list(target.shape))
        node.replace_all_uses_with(source)  # type: ignore[arg-type]
        module.graph.erase_node(node)
