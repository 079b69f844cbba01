"""Whom `flex_attention` tells that it has no gradient on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
import torch.nn.attention.flex_attention as flex
from torch.fx import GraphModule

from neuron_compile.lowering.decompose.differentiable_flex_attention import (
    register_differentiable_flex_attention,
)


def backend(name: str) -> Callable[..., Any]:
    def keep(module: GraphModule, _inputs: Sequence[Any]) -> Any:
        # What the graph computes is not at issue, and eager has no gradient of it.
        return lambda *given: (torch.zeros(()),)

    keep.__name__ = name
    return keep


def compiled_for(name: str) -> Any:
    q, k, v = (torch.ones(1, 1, 4, 2, requires_grad=True) for _ in range(3))
    return torch.compile(flex.flex_attention, backend=backend(name), fullgraph=True)(q, k, v)


def test_graphs_for_this_backend_are_let_through() -> None:
    register_differentiable_flex_attention()
    assert compiled_for("neuron").shape == ()


def test_others_are_told() -> None:
    register_differentiable_flex_attention()
    with pytest.raises(Exception, match="does not support backward on CPU"):
        compiled_for("another")
    with pytest.raises(NotImplementedError, match="does not support backward on CPU"):
        flex._validate_device(*[torch.ones(1, requires_grad=True)] * 3)
