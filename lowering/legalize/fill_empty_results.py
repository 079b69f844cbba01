"""Compute nothing where there is nothing to compute."""

from __future__ import annotations

import torch
from torch.fx import GraphModule

from neuron_compile.lowering.legalize.node_values import call, value

_full = torch.ops.aten.full.default


def fill_empty_results(module: GraphModule) -> None:
    """Replace every call whose result is a tensor without elements by a constant of its type.

    Torch-MLIR and StableHLO refuse many operators on such tensors, and none of them has work to do.
    """
    for node in list(module.graph.nodes):
        result = value(node)
        if node.op != "call_function" or node.target is _full:
            continue
        if isinstance(result, torch.Tensor) and result.numel() == 0:
            with module.graph.inserting_before(node):
                empty = call(module, node, _full, list(result.shape), 0, dtype=result.dtype)
            node.replace_all_uses_with(empty)
            module.graph.erase_node(node)
