"""Copies of graphs."""

from __future__ import annotations

import torch

from fx_graphs import capture
from neuron_compile.lowering.legalize.copy_graph import copy_graph


def test_copy_shares_constants_and_no_nodes() -> None:
    constant = torch.tensor([1.0, 2.0])
    module = capture(lambda x: x + constant, torch.ones(2))
    copied = copy_graph(module)
    assert not set(copied.graph.nodes) & set(module.graph.nodes)
    (name,) = (str(node.target) for node in module.graph.nodes if node.op == "get_attr")
    assert getattr(copied, name) is getattr(module, name)
