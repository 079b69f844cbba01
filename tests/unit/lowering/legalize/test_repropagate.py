"""Fake values are recomputed from changed inputs."""

from __future__ import annotations

from typing import Any

import torch

from fx_graphs import capture
from neuron_compile.lowering.legalize.node_values import output_node, placeholders
from neuron_compile.lowering.legalize.repropagate import repropagate


def test_every_value_follows_the_inputs_in_one_fresh_mode() -> None:
    constant = torch.ones(3, dtype=torch.float16)
    module = capture(lambda x: (x + constant).sum(0), torch.ones(2, 3, dtype=torch.float16))
    repropagate(module, lambda _: torch.float32)
    (x,) = placeholders(module)
    results: Any = output_node(module).args[0]
    assert x.meta["val"].dtype == torch.float32
    assert results[0].meta["val"].dtype == torch.float32
    modes = {node.meta["val"].fake_mode for node in module.graph.nodes if "val" in node.meta}
    assert len(modes) == 1
