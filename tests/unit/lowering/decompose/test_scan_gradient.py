"""Steps that save what they give."""

from __future__ import annotations

import importlib
from typing import Any

import torch
from torch import Tensor
from torch._higher_order_ops.scan import scan

from neuron_compile.explanation.capture import capture
from neuron_compile.lowering.decompose.scan_gradient import scan_gradient
from neuron_compile.options import CompileOptions

MODULE: Any = importlib.import_module("torch._higher_order_ops.scan")


def test_no_result_of_a_step_is_given_twice() -> None:
    def function(x: Tensor) -> Any:
        def step(carried: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            state = (carried + x).tanh()
            return state, state * 2

        return scan(step, torch.zeros(3), x, dim=0)

    found = capture(function, (torch.ones(4, 3, requires_grad=True),), {}, CompileOptions())
    assert not found.problems
    forward = found.graphs[0].module
    (node,) = forward.graph.find_nodes(op="call_function", target=torch.ops.higher_order.scan)
    (output,) = getattr(forward, node.args[0].target).graph.find_nodes(op="output")
    assert len(set(output.args[0])) == len(output.args[0]) == len(node.meta["val"])


def test_steps_are_split_so_in_the_context_only() -> None:
    before = MODULE.ScanAutogradImpl
    with scan_gradient():
        assert MODULE.ScanAutogradImpl is not before
    assert MODULE.ScanAutogradImpl is before
