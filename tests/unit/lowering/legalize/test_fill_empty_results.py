"""A result without elements is a constant, whatever the operator."""

from __future__ import annotations

import torch

from fx_graphs import capture, run, targets
from neuron_compile.lowering.legalize.fill_empty_results import fill_empty_results


def test_results_without_elements_become_constants_of_their_type() -> None:
    x = torch.ones(0, 3)
    module = capture(lambda x: [(x.sin() * 2).to(torch.int32), x.sum(0)], x)
    fill_empty_results(module)
    module.graph.eliminate_dead_code()
    assert targets(module) == ["full", "sum"]
    empty, total = run(module, x)
    assert (empty.shape, empty.dtype) == ((0, 3), torch.int32)
    assert total.tolist() == [0.0, 0.0, 0.0]


def test_graph_with_elements_stays() -> None:
    module = capture(lambda x: x[1:].sin(), torch.ones(2, 3))
    before = targets(module)
    fill_empty_results(module)
    assert targets(module) == before
