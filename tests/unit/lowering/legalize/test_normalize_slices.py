"""Bounds of slices lie in the dimension they slice."""

from __future__ import annotations

import sys

import pytest
import torch

from fx_graphs import capture, run
from neuron_compile.lowering.legalize.node_values import calls
from neuron_compile.lowering.legalize.normalize_slices import normalize_slices

aten = torch.ops.aten
BOUNDS = [
    (None, None, 1),
    (0, sys.maxsize, 1),
    (-2, sys.maxsize, 1),
    (1, -1, 1),
    (-100, 100, 2),
    (3, 1, 1),
    (7, 9, 1),
]


@pytest.mark.parametrize(("start", "end", "step"), BOUNDS)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_slice_takes_the_same_elements(
    dim: int, start: int | None, end: int | None, step: int
) -> None:
    x = torch.arange(30).reshape(5, 6)
    module = capture(lambda x: aten.slice(x, dim, start, end, step) + 0, x)
    normalize_slices(module)
    (node,) = calls(module, aten.slice.Tensor)
    _, _, low, high, _ = node.args
    assert isinstance(low, int)
    assert isinstance(high, int)
    assert 0 <= low <= high <= x.shape[dim]
    assert torch.equal(run(module, x)[0], aten.slice(x, dim, start, end, step))


@pytest.mark.parametrize(("start", "end", "step"), BOUNDS)
def test_slice_scatter_puts_the_same_elements(
    start: int | None, end: int | None, step: int
) -> None:
    x = torch.arange(5)
    source = -aten.slice(x, 0, start, end, step) - 1
    module = capture(lambda x, s: aten.slice_scatter(x, s, 0, start, end, step), x, source)
    normalize_slices(module)
    (node,) = calls(module, aten.slice_scatter.default)
    assert node.args[4] != sys.maxsize
    expected = aten.slice_scatter(x, source, 0, start, end, step)
    assert torch.equal(run(module, x, source)[0], expected)
