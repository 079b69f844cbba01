"""Shapes are static: new ones are compiled anew, dynamic ones are refused with advice."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from parity import compile_error, compiled, neuron_only


@pytest.mark.parametrize("dynamic", [False, None], ids=["static", "unset"])
def test_each_new_shape_is_right_and_so_are_the_old_ones(dynamic: bool | None) -> None:
    module = nn.Linear(4, 2)
    function = compiled(module, dynamic=dynamic)
    for rows in (3, 4, 5, 3, 4, 6, 1):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(function(x), module(x))


@pytest.mark.parametrize("dynamic", [False, None], ids=["static", "unset"])
def test_new_shapes_with_backward(dynamic: bool | None) -> None:
    function = compiled(lambda x: (x.exp() * x.shape[0]).sum(), dynamic=dynamic)
    for rows in (2, 3, 2, 5):
        x = torch.zeros(rows, 3, requires_grad=True)
        function(x).backward()
        torch.testing.assert_close(x.grad, torch.full((rows, 3), float(rows)))


def test_odd_last_batch_of_an_epoch() -> None:
    module = nn.BatchNorm1d(3)
    reference = nn.BatchNorm1d(3)
    function = compiled(module, dynamic=None)
    for _ in range(2):
        for rows in (8, 8, 3):
            x = torch.randn(rows, 3)
            torch.testing.assert_close(function(x), reference(x), rtol=1e-5, atol=1e-5)


def test_sizes_in_several_arguments_and_dimensions_change() -> None:
    function = compiled(lambda a, b: torch.cat([a, b], 1) @ torch.ones(a.shape[1] + b.shape[1]))
    for rows, m, n in ((2, 3, 4), (3, 3, 4), (2, 5, 1), (4, 1, 1), (2, 3, 4)):
        y = function(torch.ones(rows, m), torch.ones(rows, n))
        assert torch.equal(y, torch.full((rows,), float(m + n)))


def test_more_shapes_than_dynamo_recompiles() -> None:
    function = compiled(lambda x: x.cumsum(0), dynamic=None)
    for rows in range(1, 14):
        assert torch.equal(function(torch.ones(rows)), torch.arange(1.0, rows + 1))


@neuron_only
@pytest.mark.parametrize("grad", [False, True])
def test_unset_means_static_graphs(grad: bool) -> None:
    from torch._dynamo.utils import counters

    function = compiled(lambda x: x * 2, dynamic=None)
    before = counters["neuron"]["graphs"]
    for rows in (2, 3, 4, 2, 3, 4):
        y = function(torch.ones(rows, requires_grad=grad))
        if grad:
            y.sum().backward()
    assert counters["neuron"]["graphs"] - before == (3 if not grad else 6)


def assert_advice(message: str, *places: str) -> None:
    for part in (*places, "dynamic=False", "pad", "Why:", "Try:"):
        assert part in message


@neuron_only
def test_dynamic_true_is_refused_naming_argument_and_dimension() -> None:
    from neuron_compile import DynamicShapesError

    def use(left: Tensor, right: Tensor) -> Tensor:
        return left @ right

    with pytest.raises(Exception) as raised:
        compiled(use, dynamic=True)(torch.ones(2, 3), torch.ones(3, 4))
    message = str(compile_error(raised, DynamicShapesError))
    assert_advice(message, "left, dimension 0", "right, dimension 1", "dynamic=True")


@neuron_only
@pytest.mark.parametrize("dynamic", [False, None], ids=["static", "unset"])
def test_marked_dimension_is_refused_by_name(dynamic: bool | None) -> None:
    from neuron_compile import DynamicShapesError

    x = torch.ones(4, 5)
    torch._dynamo.mark_dynamic(x, 1)
    with pytest.raises(Exception) as raised:
        compiled(lambda batch: batch * 2, dynamic=dynamic)(x)
    assert_advice(str(compile_error(raised, DynamicShapesError)), "batch, dimension 1")


def test_size_that_depends_on_data_breaks_the_graph_by_default() -> None:
    function = compiled(lambda x: x[x > 0].sum() + x.nonzero().shape[0])
    for x in (torch.tensor([1.0, -1.0, 2.0]), torch.tensor([-1.0, -2.0, -3.0])):
        assert function(x) == x[x > 0].sum() + x.nonzero().shape[0]


@neuron_only
@pytest.mark.parametrize(
    ("operation", "source"),
    [
        (lambda x: torch.nonzero(x) + 1, "torch.nonzero(x) + 1"),
        (lambda x: x[x > 0] * 2, "x[x > 0] * 2"),
        (lambda x: torch.unique(x) * 3, "torch.unique(x) * 3"),
        (lambda x: torch.zeros(int(x.sum().item())), "torch.zeros(int(x.sum().item()))"),
    ],
    ids=["nonzero", "mask", "unique", "item"],
)
def test_size_that_depends_on_data_is_refused_with_the_users_line(
    operation: object, source: str
) -> None:
    from neuron_compile import DynamicShapesError

    capture = {"capture_dynamic_output_shape_ops": True, "capture_scalar_outputs": True}
    with torch._dynamo.config.patch(capture), pytest.raises(Exception) as raised:
        compiled(operation, fullgraph=True)(torch.tensor([1.0, 0.0, 2.0]))
    message = str(compile_error(raised, DynamicShapesError))
    assert "test_dynamic_shapes.py" in message
    assert source in message
    assert "Try:" in message
