"""The backward graph uses the forward graph's seed."""

from __future__ import annotations

import pytest
import torch
from torch.fx import GraphModule

from fx_graphs import capture, targets
from neuron_compile.lowering.legalize.node_values import output_node, placeholders
from neuron_compile.lowering.legalize.replace_random_ops import replace_random_ops
from neuron_compile.lowering.legalize.save_seed import save_seed


def random_graph(name: str) -> GraphModule:
    module = capture(lambda x: torch.rand_like(x) * x, torch.ones(2))
    replace_random_ops(module)
    (placeholder,) = placeholders(module)
    placeholder.target = placeholder.name = name
    module.recompile()
    return module


def draws(module: GraphModule) -> int:
    return sum("draw_seed" in str(node.target) for node in module.graph.nodes)


@pytest.mark.parametrize("is_forward_random", [True, False])
def test_backward_takes_the_seed_that_the_forward_returns(is_forward_random: bool) -> None:
    forward = random_graph("primals_1") if is_forward_random else capture(torch.sin, torch.ones(2))
    backward = random_graph("tangents_1")
    save_seed(forward, backward)
    forward.graph.lint()
    backward.graph.lint()
    assert draws(forward) == 1
    assert draws(backward) == 0
    assert [node.name for node in placeholders(backward)] == ["saved_seed", "tangents_1"]
    assert "draw_seed" in str(output_node(forward).args[0][-1].target)  # type: ignore[index,union-attr]


def test_backward_without_a_draw_changes_neither() -> None:
    forward, backward = random_graph("primals_1"), capture(torch.sin, torch.ones(2))
    before = len(output_node(forward).args[0])  # type: ignore[arg-type]
    save_seed(forward, backward)
    assert len(output_node(forward).args[0]) == before  # type: ignore[arg-type]
    assert targets(backward) == ["sin"]
