"""float64 runs as float32: one warning a graph, float64 results, or a refusal when asked for."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

from parity import compile_error, compiled, neuron_only

if TYPE_CHECKING:
    from collections.abc import Callable
from functools import partial

pytestmark = neuron_only


def float64_warnings(call: Callable[[], Any]) -> tuple[int, Any]:
    """How many Float64Warnings `call` gave (any other warning is an error), and its result."""
    from neuron_compile import Float64Warning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", Float64Warning)
        result = call()
    return sum(issubclass(w.category, Float64Warning) for w in caught), result


def assert_as_float32(actual: Tensor, expected: Tensor) -> None:
    assert actual.dtype == torch.float64
    assert actual.stride() == expected.stride()
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)


def test_result_is_float64_of_float32_precision() -> None:
    x = torch.rand(64, dtype=torch.float64)
    function = compiled(lambda t: t * 3 + 1)
    count, y = float64_warnings(lambda: function(x))
    assert count == 1
    assert_as_float32(y, x * 3 + 1)
    assert torch.equal(y, y.float().double())


def test_warning_comes_once_a_graph_not_once_a_call() -> None:
    function, other = compiled(lambda t: t + 1), compiled(lambda t: t + 2)
    x = torch.ones(3, dtype=torch.float64)
    calls = [partial(f, x) for f in (function, function, other)]
    assert [float64_warnings(call)[0] for call in calls] == [1, 0, 1]


def test_training_in_float64() -> None:
    module = nn.Linear(4, 2).double()
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)

    def step() -> Tensor:
        y: Tensor = compiled(module)(x)
        y.square().sum().backward()
        return y

    count, y = float64_warnings(step)
    assert count >= 1
    assert_as_float32(y, module(x))
    assert x.grad is not None
    gradients = [x.grad, *(p.grad for p in module.parameters())]
    expected = torch.autograd.grad(module(x).square().sum(), [x, *module.parameters()])
    for actual, wanted in zip(gradients, expected, strict=True):
        assert actual is not None
        assert_as_float32(actual, wanted)


def test_argument_written_in_place_stays_float64() -> None:
    x = torch.ones(3, dtype=torch.float64)
    count, y = float64_warnings(lambda: compiled(lambda t: t.mul_(0.1))(x))
    assert count == 1
    assert y is x
    assert_as_float32(x, torch.full((3,), 0.1, dtype=torch.float64))


def test_argument_only_read_keeps_all_its_bits() -> None:
    x = torch.full((3,), 1 / 3, dtype=torch.float64)
    _, (same, total) = float64_warnings(lambda: compiled(lambda t: (t.view(3), t.sum()))(x))
    assert torch.equal(x, torch.full((3,), 1 / 3, dtype=torch.float64))
    assert torch.equal(same, x)
    assert total.dtype == torch.float64


def test_dtype_seen_inside_is_float64() -> None:
    def use(x: Tensor) -> tuple[Tensor, bool, Tensor]:
        return x.to(torch.float32), x.dtype == torch.float64, x + torch.ones(2, dtype=torch.float32)

    x = torch.ones(2, dtype=torch.float64)
    _, (narrow, is_double, wide) = float64_warnings(lambda: compiled(use)(x))
    assert narrow.dtype == torch.float32
    assert is_double
    assert wide.dtype == torch.float64


def test_float64_made_inside_the_graph_warns_too() -> None:
    count, y = float64_warnings(lambda: compiled(lambda x: x.double() / 3)(torch.ones(3)))
    assert count == 1
    assert_as_float32(y, torch.ones(3).double() / 3)


def test_zero_dimensional_float64_does_not_promote() -> None:
    s = torch.tensor(2.0, dtype=torch.float64)
    x = torch.arange(4.0)

    def use(x: Tensor, s: Tensor) -> tuple[Tensor, ...]:
        return x * s, s * x, x.bfloat16() + s, x.long() * s

    _, results = float64_warnings(lambda: compiled(use)(x, s))
    for actual, expected in zip(results, use(x, s), strict=True):
        torch.testing.assert_close(actual, expected, check_dtype=True)


@pytest.mark.parametrize(
    "function", [lambda x: x * 2, lambda x: x + 0.1, lambda x: x.float().mean(), lambda x: x / 3]
)
def test_python_floats_do_not_warn(function: Callable[[Tensor], Tensor]) -> None:
    x = torch.ones(3)
    assert float64_warnings(lambda: compiled(function)(x))[0] == 0


def test_warning_names_the_place_and_what_to_do() -> None:
    from neuron_compile import Float64Warning

    with pytest.warns(Float64Warning, match="float32") as caught:
        compiled(lambda x: x * 2)(torch.ones(2, dtype=torch.float64))
    assert "float64" in str(caught[0].message)
    assert "options" in str(caught[0].message)


def test_option_that_refuses_float64() -> None:
    from neuron_compile import NeuronCompileError

    function = compiled(lambda x: x * 2, options={"float64": "error"})
    with pytest.raises(Exception) as raised:
        function(torch.ones(2, dtype=torch.float64))
    message = str(compile_error(raised, NeuronCompileError))
    assert "float64" in message
    assert "test_float64.py" in message
    assert "Try:" in message


def test_option_that_refuses_float64_lets_float32_pass() -> None:
    function = compiled(lambda x: x * 2, options={"float64": "error"})
    assert function(torch.ones(2)).tolist() == [2.0, 2.0]
