"""The passes together leave a graph that means the same."""

from __future__ import annotations

import torch
from torch import Tensor

from fx_graphs import capture, run
from neuron_compile.lowering.legalize.order import PASSES


def test_passes_keep_what_a_graph_computes() -> None:
    def function(x: Tensor) -> Tensor:
        zeros = torch.zeros_like(x, device="cpu")
        zeros[1:] = x[:-1].detach()
        return zeros + torch.ones(x.shape) * x

    x = torch.randn(4, 3)
    module = capture(function, x)
    for legalize in PASSES:
        legalize(module)
    torch.testing.assert_close(run(module, x)[0], function(x))


def test_each_pass_can_run_again_without_effect() -> None:
    module = capture(lambda x: torch.zeros_like(x).detach() + x[-1:], torch.ones(3))
    for legalize in PASSES:
        legalize(module)
    once = [(node.target, node.args) for node in module.graph.nodes]
    for legalize in PASSES:
        legalize(module)
    assert [str(pair[0]) for pair in once] == [str(node.target) for node in module.graph.nodes]
