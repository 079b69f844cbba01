"""A captured graph's name and size, as people read them."""

from __future__ import annotations

import torch

from fx_graphs import capture
from neuron_compile.graph import CapturedGraph, GraphRole


def test_nodes_are_the_calls_and_graphs_are_numbered() -> None:
    module = capture(lambda x: x.sin() + 1, torch.ones(2))
    first = CapturedGraph("Net", GraphRole.BACKWARD, module)
    second = CapturedGraph("Net", GraphRole.FORWARD, module)
    assert first.node_count == 2
    assert second.number == first.number + 1
    assert first.name == f"Net backward (graph {first.number})"
