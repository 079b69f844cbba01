"""The public surface in a few seconds: if this fails, nothing else need be looked at."""

from __future__ import annotations

import torch
from torch import nn

import neuron_compile


def test_model_trains_as_in_eager_and_shows_in_the_report() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    twin = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    twin.load_state_dict(model.state_dict())
    compiled = torch.compile(twin, backend="neuron", dynamic=False)
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    optimizers = [torch.optim.SGD(side.parameters(), lr=0.1) for side in (model, twin)]
    for _ in range(3):
        losses = [(side(x) - y).square().mean() for side in (model, compiled)]
        torch.testing.assert_close(losses[0], losses[1])
        for loss, optimizer in zip(losses, optimizers, strict=True):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    last = neuron_compile.report().graphs[-1]
    assert (last.model, last.role) == ("Sequential", "backward")


def test_inference_reads_a_shared_input_and_leaves_it_alone() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    before = x.clone()
    with torch.no_grad():
        result = torch.compile(lambda x: x.t() @ x, backend="neuron", dynamic=False)(x)
    torch.testing.assert_close(result, before.t() @ before)
    assert torch.equal(x, before)


def test_every_public_name_is_there() -> None:
    for name in neuron_compile.__all__:
        assert getattr(neuron_compile, name) is not None
    assert set(neuron_compile.__all__) <= set(dir(neuron_compile))
