"""Device arguments are written as the CPU."""

from __future__ import annotations

import torch

from fx_graphs import capture, run
from neuron_compile.lowering.legalize.use_cpu_device import use_cpu_device


def test_devices_and_pinning_go() -> None:
    module = capture(lambda x: torch.zeros(2, device=x.device) + x, torch.ones(2))
    (zeros,) = (node for node in module.graph.nodes if "zeros" in str(node.target))
    zeros.kwargs = {**zeros.kwargs, "device": torch.device("meta"), "pin_memory": True}
    use_cpu_device(module)
    assert zeros.kwargs["device"] == torch.device("cpu")
    assert "pin_memory" not in zeros.kwargs
    assert run(module, torch.ones(2))[0].tolist() == [1, 1]
