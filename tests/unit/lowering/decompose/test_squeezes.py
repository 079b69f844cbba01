"""Dimensions of one element."""

from __future__ import annotations

import pytest
import torch

from fx_graphs import capture, run
from neuron_compile.lowering.decompose.table import decomposition_table

X = torch.arange(6.0).reshape(1, 2, 1, 3)


@pytest.mark.parametrize("dims", [None, 0, -2, 1, (0, 2), (0, 1)])
def test_all_have_the_one_form(dims: int | tuple[int, ...] | None) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.squeeze() if dims is None else x.squeeze(dims)

    module = capture(function, X, decompositions=decomposition_table())
    assert {str(n.target) for n in module.graph.nodes if n.op == "call_function"} == {
        "aten.squeeze.dims"
    }
    (result,) = run(module, X)
    torch.testing.assert_close(result, function(X))
    assert result.stride() == function(X).stride()
