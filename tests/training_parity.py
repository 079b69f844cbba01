"""A training run in eager and compiled, step by step."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.utils import counters

from parity import assert_same_value, compiled


def model_loss(model: Any, batch: Mapping[str, Any]) -> Tensor:
    """The loss that a `transformers` model computes itself."""
    loss: Tensor = model(**batch).loss
    return loss


def assert_gradients_close(expected: nn.Module, actual: nn.Module, *, bound: float = 1e-4) -> None:
    """Each gradient within `bound` of the largest entry of its tensor.

    Some gradients are zero but for rounding (the bias of an attention's keys), so the scale is at
    least a thousandth of the largest entry of the whole model.
    """
    named = [
        (n, p.grad, q.grad)
        for (n, p), q in zip(expected.named_parameters(), actual.parameters(), strict=True)
    ]
    floor = 1e-3 * max((g.abs().max().item() for _, g, _ in named if g is not None), default=0.0)
    for name, wanted, found in named:
        assert (wanted is None) == (found is None), f"gradient of {name} is None on one side"
        if wanted is not None and found is not None:
            scale = max(wanted.abs().max().item(), floor)
            error = (wanted - found).abs().max().item()
            assert error <= bound * scale, (
                f"gradient of {name} is off by {error:.3g} of {scale:.3g}"
            )


def train_parity(
    model: nn.Module,
    batch: Any,
    *,
    loss: Callable[[Any, Any], Tensor] = model_loss,
    steps: int = 10,
) -> None:
    """Assert that `steps` AdamW steps on `batch` go alike in eager and compiled.

    The loss agrees within 1e-4 (relative) at every step, the first gradients as
    `assert_gradients_close` says, and the buffers (BatchNorm statistics) at the end.
    `loss(model, batch)` is called with the compiled model itself.
    """
    twin = copy.deepcopy(model)
    function = compiled(twin)
    optimizers = [torch.optim.AdamW(m.parameters()) for m in (model, twin)]
    graphs = counters["stats"]["unique_graphs"]
    for step in range(steps):
        wanted, found = loss(model, batch), loss(function, batch)
        for value, optimizer in zip((wanted, found), optimizers, strict=True):
            optimizer.zero_grad()
            value.backward()
        assert found.item() == pytest.approx(wanted.item(), rel=1e-4), f"loss of step {step}"
        if step == 0:
            assert_gradients_close(model, twin)
        for optimizer in optimizers:
            optimizer.step()
    assert counters["stats"]["unique_graphs"] > graphs, "Dynamo left everything to eager"
    for (name, expected), actual in zip(model.named_buffers(), twin.buffers(), strict=True):
        assert_same_value(f"buffer {name}", expected, actual, 1e-3)
