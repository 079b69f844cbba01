"""Graphs that eager PyTorch carries out."""

from __future__ import annotations

import torch

from fx_graphs import capture
from neuron_compile.lowering.legalize.replace_random_ops import replace_random_ops
from neuron_compile.warmup.eager_graph import EagerGraph


def test_results_are_the_graphs_and_arguments_are_taken_over() -> None:
    graph = EagerGraph(capture(lambda x, y: (x * y, x.sum()), torch.ones(3), torch.ones(3)))
    arguments = [torch.arange(3.0), torch.full((3,), 2.0)]
    product, total = graph(arguments)
    assert product.tolist() == [0.0, 2.0, 4.0]
    assert total.item() == 3.0
    assert arguments == []


def test_operators_of_a_seed_run() -> None:
    module = capture(lambda x: (torch.rand_like(x) + x,), torch.zeros(64))
    assert replace_random_ops(module)
    (drawn,) = EagerGraph(module)([torch.ones(64)])
    assert 1.0 <= drawn.min() < drawn.max() < 2.0
