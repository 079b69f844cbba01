"""Static shapes: symbols get their present value, wishes for dynamic ones are refused."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._dynamo.exc import BackendCompilerFailed

from neuron_compile import DynamicShapesError
from neuron_compile.static_shapes import require_static_shapes


def refusal(function: Any, *inputs: torch.Tensor, dynamic: bool | None = None) -> str:
    """What is raised while Dynamo compiles, or nothing."""

    def backend(module: torch.fx.GraphModule, example_inputs: Any) -> Any:
        require_static_shapes(module, example_inputs)
        return module

    try:
        compiled: Any = torch.compile(function, backend=backend, dynamic=dynamic)
        compiled(*inputs)
    except BackendCompilerFailed as failure:
        cause = failure.inner_exception
        return str(cause) if isinstance(cause, DynamicShapesError) else repr(cause)
    return ""


def test_dynamic_true_is_refused_naming_each_argument_and_dimension() -> None:
    def use(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return left @ right

    assert refusal(use, torch.ones(2, 3), torch.ones(3, 4), dynamic=True).splitlines() == [
        "dynamic=True is not supported by backend neuron",
        "  argument left, dimension 0",
        "  argument left, dimension 1",
        "  argument right, dimension 0",
        "  argument right, dimension 1",
        "Why:  a program has one shape for each tensor, fixed when it is compiled; every new shape "
        "is compiled anew.",
        "Try:  pass dynamic=False to torch.compile (or leave it unset), and pad or bucket inputs "
        "so that the number of different shapes stays small.",
    ]


def test_marked_dimension_is_refused_by_name() -> None:
    x = torch.ones(4, 5)
    torch._dynamo.mark_dynamic(x, 1)
    lines = refusal(lambda batch: batch * 2, x).splitlines()
    assert lines[:2] == ["1 dimension is marked dynamic", "  argument batch, dimension 1"]
    assert lines[-1].startswith("Try:  remove torch._dynamo.mark_dynamic, and pass dynamic=False")


@pytest.mark.parametrize("dynamic", [False, None])
def test_static_shapes_pass(dynamic: bool | None) -> None:
    assert refusal(lambda x: x * 2, torch.ones(4, 5), dynamic=dynamic) == ""


def test_second_shape_is_fixed_under_a_guard() -> None:
    compiled_shapes = []

    def backend(module: torch.fx.GraphModule, example_inputs: Any) -> Any:
        require_static_shapes(module, example_inputs)
        compiled_shapes.append(
            [list(map(int, x.shape)) for x in example_inputs if isinstance(x, torch.Tensor)]
        )
        return module

    function = torch.compile(lambda x: x * 2, backend=backend)
    for rows in (3, 4, 5, 4, 3):
        assert function(torch.ones(rows, 2)).shape == (rows, 2)
    assert compiled_shapes == [[[3, 2]], [[4, 2]], [[5, 2]]]
