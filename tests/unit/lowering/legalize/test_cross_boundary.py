"""Programs take and give the physical arrays of permuted tensors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from fx_graphs import capture, run, targets
from neuron_compile.lowering.layout import physical_layout
from neuron_compile.lowering.legalize.cross_boundary import cross_boundary
from neuron_compile.lowering.legalize.node_values import placeholders, spec_of


def crossed(function: Callable[[Tensor], Tensor], x: Tensor) -> tuple[list[str], Tensor]:
    """The calls of the graph of `function`, and what it gives for `x` through its boundary."""
    module = capture(function, x)
    expected = function(x)
    cross_boundary(module, [spec_of(x)], [spec_of(expected)])
    layout = physical_layout(spec_of(x))
    physical = x if layout is None else x.as_strided(layout.shape, layout.strides)
    (result,) = run(module, physical.contiguous())
    leaving = physical_layout(spec_of(expected))
    if leaving is not None:
        result = result.contiguous().as_strided(expected.shape, expected.stride())
    torch.testing.assert_close(result, expected)
    (placeholder,) = placeholders(module)
    assert placeholder.meta["val"].shape == physical.shape
    return targets(module), result


def test_dense_tensors_cross_as_they_are() -> None:
    calls, _ = crossed(lambda x: x * 2, torch.randn(2, 3))
    assert calls == ["mul"]


@pytest.mark.parametrize(
    "x",
    [torch.randn(3, 2).t(), torch.randn(2, 4, 3, 3).contiguous(memory_format=torch.channels_last)],
    ids=["transposed", "channels-last"],
)
def test_permuted_tensors_are_permuted_inside(x: Tensor) -> None:
    calls, _ = crossed(lambda x: x * 2, x)
    assert calls == ["permute", "mul", "permute"]


def test_result_that_is_expanded_is_given_once() -> None:
    calls, _ = crossed(lambda x: (x * 2).expand(3, 4), torch.randn(3, 1))
    assert calls[-1] == "slice"


def test_argument_with_gaps_comes_as_a_contiguous_copy() -> None:
    calls, _ = crossed(lambda x: x * 2, torch.randn(4, 6)[:, ::2])
    assert "permute" not in calls
