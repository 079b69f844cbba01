"""Loops run again to differentiate them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch._C import DispatchKey
from torch._higher_order_ops.while_loop import while_loop, while_loop_op

from neuron_compile.explanation.capture import capture
from neuron_compile.lowering.decompose.while_loop_gradient import _Replay, while_loop_gradient
from neuron_compile.options import CompileOptions


def loop(x: Tensor, limit: Tensor) -> Any:
    def body(step: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return step + 1, x.sin() * 2

    start = torch.zeros((), dtype=torch.int64)
    return while_loop(lambda step, _: step < limit, body, (start, x))[1]


def graphs(size: int) -> list[torch.fx.GraphModule]:
    given = (torch.ones(size, requires_grad=True), torch.tensor(3))
    found = capture(loop, given, {}, CompileOptions())
    assert not found.problems
    return [graph.module for graph in found.graphs]


def shapes(module: torch.fx.GraphModule) -> list[tuple[int, ...]]:
    values = [node.meta.get("val") for node in module.graph.nodes]
    return [tuple(v.shape) for v in values if isinstance(v, Tensor)]


def test_every_size_is_known_before_the_loop_runs() -> None:
    for module in graphs(4):
        assert all(isinstance(size, int) for shape in shapes(module) for size in shape)


@pytest.mark.parametrize(("size", "places"), [(4, 128), (1 << 20, 63), (1 << 27, 1)])
def test_large_values_are_kept_in_few_places(size: int, places: int) -> None:
    with torch._subclasses.FakeTensorMode():
        carried = [torch.ones((), dtype=torch.int64), torch.ones(size)]
        replay = _Replay(lambda *_: None, carried, [], torch.ones((), dtype=torch.int64))
    assert replay.places == places


def test_the_rule_holds_in_the_context_only() -> None:
    before = while_loop_op.py_kernels[DispatchKey.Autograd]
    with while_loop_gradient():
        assert while_loop_op.py_kernels[DispatchKey.Autograd] is not before
    assert while_loop_op.py_kernels[DispatchKey.Autograd] is before
