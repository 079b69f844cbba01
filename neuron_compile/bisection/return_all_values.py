"""A graph that also returns what it computes on the way."""

from __future__ import annotations

import copy

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.legalize.node_values import output_node, value


def return_all_values(module: GraphModule) -> tuple[GraphModule, list[Node]]:
    """A copy of `module` that returns the tensor of every call, and those calls of `module` in the
    order of the results."""
    calls = [
        node
        for node in module.graph.nodes
        if node.op == "call_function" and isinstance(value(node), torch.Tensor)
    ]
    names = {node.name for node in calls}
    whole = copy.deepcopy(module)
    output = output_node(whole)
    output.args = ([node for node in whole.graph.nodes if node.name in names],)
    whole.recompile()
    return whole, calls
