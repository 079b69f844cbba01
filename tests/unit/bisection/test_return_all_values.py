"""The value of every call is among the results."""

from __future__ import annotations

import torch

from fx_graphs import capture, run
from neuron_compile.bisection.return_all_values import return_all_values


def test_every_tensor_of_a_call_is_returned() -> None:
    module = capture(lambda x: x.sin().max(0)[0] + 1, torch.zeros(2, 3))
    whole, calls = return_all_values(module)
    x = torch.randn(2, 3)
    results = dict(zip((node.name for node in calls), run(whole, x), strict=True))
    assert "max_1" not in results  # it gives two tensors, of which one is used
    assert torch.equal(results["sin"], x.sin())
    assert torch.equal(results["getitem"], x.sin().amax(0))
    assert torch.equal(results["add"], x.sin().amax(0) + 1)


def test_graph_itself_stays_as_it_is() -> None:
    module = capture(lambda x: x.sin().cos(), torch.zeros(2))
    return_all_values(module)
    (result,) = run(module, torch.ones(2))
    assert torch.equal(result, torch.ones(2).sin().cos())
