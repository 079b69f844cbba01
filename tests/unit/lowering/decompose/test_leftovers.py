"""Operators that tracing left whole."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from fx_graphs import capture, run, targets
from neuron_compile.lowering.decompose.leftovers import decompose_leftovers
from neuron_compile.lowering.decompose.table import decomposition_table

X = torch.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: functional.layer_norm(x, (3,)),
        lambda x: torch.ops.aten.native_layer_norm(x, [3], None, None, 1e-5),
        lambda x: functional.softmax(x, -1) + x.sum(),
        lambda x: functional.leaky_relu(x - 2, 0.1).squeeze(),
    ],
)
def test_nothing_is_left_and_the_numbers_are_the_same(function: Any) -> None:
    module = capture(function, X)
    before = targets(module)
    decompose_leftovers(module)
    table = decomposition_table()
    assert targets(module) != before
    assert not [node for node in module.graph.nodes if node.target in table]
    expected = function(X)
    torch.testing.assert_close(
        run(module, X), list(expected) if isinstance(expected, tuple) else [expected]
    )


def test_the_parts_have_the_line_of_the_whole() -> None:
    module = capture(lambda x: functional.layer_norm(x, (3,)), X)
    for node in module.graph.nodes:
        node.meta["stack_trace"] = 'File "model.py", line 3, in forward\n    norm(x)'
    decompose_leftovers(module)
    parts = [node for node in module.graph.nodes if node.op == "call_function"]
    assert len(parts) > 1
    assert all("model.py" in node.meta["stack_trace"] for node in parts)
    assert all(isinstance(node.meta["val"], Tensor | tuple | list) for node in parts)
