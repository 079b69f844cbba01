"""A graph of one's own to rewrite."""

from __future__ import annotations

import copy

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.legalize.node_values import ORIGIN, output_node


def copy_graph(module: GraphModule) -> GraphModule:
    """A graph whose nodes can be rewritten without touching `module`; constants and the graphs of
    control flow are shared."""
    graph = torch.fx.Graph()
    copies: dict[Node, Node] = {}
    graph.graph_copy(module.graph, copies)
    output = output_node(module)
    returned = torch.fx.node.map_arg(output.args[0], lambda node: copies[node])
    graph.output(returned).meta = dict(output.meta)
    for old, new in copies.items():
        new.meta = copy.copy(old.meta)
        new.meta[ORIGIN] = old.name
        # A second description of the value, which passes would have to keep in step.
        new.meta.pop("tensor_meta", None)
    return GraphModule(module, graph)
