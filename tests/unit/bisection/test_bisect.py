"""The operation that departs is named, with its line, forward or backward."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from neuron_compile.bisection.bisect import bisect
from neuron_compile.lowering.library import arithmetic


def angle(x: Tensor) -> Tensor:
    turned = x * 3
    wrapped = torch.remainder(turned, 2.0)
    return wrapped.sin().sum()


def test_operation_whose_lowering_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_the_dividends_sign(self: Any, other: Any) -> Any:
        import jax.numpy as jnp

        return jnp.fmod(self, other)

    monkeypatch.setattr(arithmetic, "remainder", of_the_dividends_sign)
    (graph,) = bisect(angle, (torch.tensor([-1.0, 0.5, 3.0]),), {})
    (found,) = graph.departures
    assert "remainder" in found.operator
    assert found.source is not None
    assert found.source.text == "wrapped = torch.remainder(turned, 2.0)"


def test_nothing_is_named_where_nothing_is_wrong() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.LayerNorm(8), nn.GELU())
    forward, backward = bisect(model, (torch.randn(3, 4),), {})
    assert forward.call_count > 5
    assert backward.call_count > 5
    assert forward.departures == backward.departures == ()


def test_rounding_that_was_asked_for_is_found_in_both_directions() -> None:
    torch.manual_seed(0)
    weight = torch.randn(16, 16, requires_grad=True)
    forward, backward = bisect(
        lambda x: (x @ weight).tanh(), (torch.randn(4, 16),), {}, options={"auto_cast": "matmult"}
    )
    assert [d.operator for d in forward.departures] == ["aten.mm.default"]
    assert [d.operator for d in backward.departures] == ["aten.mm.default"]
