"""Replace symbolic sizes, all of which are known by now, by their values."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule
from torch.utils._pytree import tree_any, tree_map_only

from neuron_compile.lowering.legalize.node_values import concrete, placeholders, value
from neuron_compile.lowering.legalize.regions import all_graphs, numbered_nodes
from neuron_compile.lowering.legalize.repropagate import repropagate

_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


def specialize_shapes(module: GraphModule) -> bool:
    """Make every size of the graph a plain integer; tell whether anything was symbolic.

    The backend has already fixed every symbol to one value under a guard, so reading a size
    never adds a condition here. Symbolic placeholders stay, unused, to keep the calling convention.
    """
    if not any(_is_symbolic(node.meta.get("val")) for node in numbered_nodes(module)):
        return False
    for graph in all_graphs(module):
        _write_numbers(graph)
    repropagate(module)
    return True


def _write_numbers(module: GraphModule) -> None:
    for node in list(module.graph.nodes):
        if isinstance(value(node), _SYMBOLIC):
            node.replace_all_uses_with(concrete(value(node)))
            if node.op != "placeholder":
                module.graph.erase_node(node)
        else:
            node.args, node.kwargs = tree_map_only(_SYMBOLIC, concrete, (node.args, node.kwargs))
    for node in placeholders(module):
        node.meta["val"] = tree_map_only(_SYMBOLIC, concrete, value(node))


def _is_symbolic(result: Any) -> bool:
    def symbolic(leaf: Any) -> bool:
        if isinstance(leaf, torch.Tensor):
            sizes = (*leaf.shape, *leaf.stride())
            return any(isinstance(size, torch.SymInt) for size in sizes)
        return isinstance(leaf, _SYMBOLIC)

    return tree_any(symbolic, result)
