"""Symbolic sizes become numbers; the calling convention stays."""

from __future__ import annotations

import torch
from torch import Tensor

from fx_graphs import capture
from neuron_compile.lowering.legalize.node_values import placeholders
from neuron_compile.lowering.legalize.specialize_shapes import specialize_shapes


def test_no_symbol_is_left_and_every_placeholder_is() -> None:
    def function(x: Tensor) -> Tensor:
        return x.reshape(-1, x.shape[0]).expand(x.shape[1], x.shape[0]) * x.shape[0]

    module = capture(function, torch.ones(3, 4), symbolic=True)
    before = len(placeholders(module))
    assert specialize_shapes(module)
    module.graph.lint()
    assert len(placeholders(module)) == before
    for node in module.graph.nodes:
        numbers = torch.utils._pytree.tree_leaves((node.args, node.kwargs, node.meta.get("val")))
        assert not any(isinstance(leaf, torch.SymInt) for leaf in numbers)
        for leaf in numbers:
            if isinstance(leaf, Tensor):
                assert all(type(size) is int for size in (*leaf.shape, *leaf.stride()))


def test_static_graph_is_left_alone() -> None:
    module = capture(torch.sin, torch.ones(3))
    assert not specialize_shapes(module)
