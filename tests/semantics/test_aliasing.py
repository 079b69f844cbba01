"""Which results share memory with arguments, with each other, and which must not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

from parity import check_parity, compiled, overlaps
from semantics.case_names import source_text

if TYPE_CHECKING:
    from collections.abc import Callable

# Dynamo itself reads `.grad` of a non-leaf argument.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x, x.view(-1), x[0]),
        lambda x: x.t(),
        lambda x: x[1:, ::2],
        lambda x: x.unsqueeze(0).expand(3, -1, -1),
        lambda x: x.detach(),
        lambda x: x.split(2, dim=1),
        lambda x: (x.view(2, 2, 2), x + 1),
        lambda x: x.diagonal(),
        lambda x: (x.reshape(8), x.t().reshape(8)),
        lambda x: x.contiguous(),
        lambda x: x.to(torch.float32),
        lambda x: (x, x),
    ],
    ids=source_text,
)
def test_results_that_are_views_of_an_argument(function: Callable[[Tensor], Any]) -> None:
    check_parity(function, torch.randn(2, 4))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 1,
        lambda x: x + 0,
        lambda x: x.clone(),
        lambda x: x.t().clone(),
        lambda x: torch.cat([x]),
        lambda x: (x.sin(), x.sin()),
        lambda x: x.float() * torch.ones(()),
        lambda x: x.relu(),
        lambda x: torch.where(x == x, x, x),
    ],
    ids=source_text,
)
def test_results_that_only_equal_an_argument_own_their_memory(
    function: Callable[[Tensor], Any],
) -> None:
    check_parity(function, torch.rand(2, 4))


def views_of_one_result(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x.sin()
    return y[:4], y[4:], y.detach()


def result_and_its_view(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.exp()
    return y, y.view(2, 4)


def one_result_twice(x: Tensor) -> dict[str, Tensor]:
    y = x.cos()
    return {"first": y, "second": y}


@pytest.mark.parametrize("function", [views_of_one_result, result_and_its_view, one_result_twice])
@pytest.mark.parametrize("grad", [False, True])
def test_results_that_share_memory_with_each_other(
    function: Callable[[Tensor], Any], grad: bool
) -> None:
    check_parity(function, torch.randn(8, requires_grad=grad), grad=grad)


def test_views_of_one_result_all_reach_the_argument_with_their_gradients() -> None:
    x = torch.randn(8, requires_grad=True)
    head, tail, detached = compiled(views_of_one_result)(x)
    (head.sum() + 2 * tail.sum()).backward()
    scale = torch.tensor([1.0] * 4 + [2.0] * 4)
    torch.testing.assert_close(x.grad, x.detach().cos() * scale)
    assert not detached.requires_grad


def test_write_through_a_transposed_view_returns_the_view() -> None:
    def double(x: Tensor) -> Tensor:
        y = x.t()
        y.mul_(2.0)
        return y

    x = torch.arange(6.0).reshape(2, 3)
    y = compiled(double)(x)
    assert y.shape == (3, 2)
    assert y.stride() == (1, 3)
    assert y.data_ptr() == x.data_ptr()
    assert torch.equal(y, torch.arange(6.0).reshape(2, 3).t() * 2)


def test_user_may_write_to_a_returned_view() -> None:
    x = torch.zeros(2, 3)
    same, flat, row = compiled(lambda t: (t, t.view(-1), t[0]))(x)
    flat[0] = 5
    assert same is x
    assert x[0, 0] == 5
    assert row[0] == 5


def test_user_may_write_to_a_returned_view_that_has_a_history() -> None:
    base = torch.ones(2, requires_grad=True)
    x = base.clone()
    y = compiled(lambda t: t.view(-1))(x)
    y.mul_(3)
    assert torch.equal(x, torch.full((2,), 3.0))
    x.sum().backward()
    torch.testing.assert_close(base.grad, torch.full((2,), 3.0))


def test_write_to_one_result_does_not_reach_another() -> None:
    first, second = compiled(lambda x: (x + 1, x + 1))(torch.zeros(4))
    first.fill_(9)
    assert torch.equal(second, torch.ones(4))


def test_write_to_a_result_does_not_reach_the_next_call() -> None:
    function = compiled(lambda x: (x * 2, torch.ones(4)))
    x = torch.ones(4)
    for _ in range(3):
        doubled, ones = function(x)
        assert torch.equal(doubled, torch.full((4,), 2.0))
        assert torch.equal(ones, torch.ones(4))
        doubled.zero_()
        ones.zero_()


@pytest.mark.parametrize("grad", [False, True])
def test_same_tensor_passed_twice(grad: bool) -> None:
    x = torch.randn(3, requires_grad=grad)
    check_parity(lambda a, b: (a * b, a.exp() - b), x, x, grad=grad)


def test_views_of_one_base_as_arguments() -> None:
    def make() -> tuple[Tensor, ...]:
        base = torch.arange(12.0)
        return base, base[2:8], base.view(3, 4).t(), base[2:8]

    check_parity(lambda a, b, c, d: (a.sum() + b, c * 2, d[1:], b - d), inputs=make)


def test_views_that_require_grad_as_arguments() -> None:
    def make() -> tuple[Tensor, ...]:
        base = torch.arange(12.0, requires_grad=True)
        return base, base[2:8], base.view(3, 4).t()

    check_parity(lambda a, b, c: a.sum() * b.sum() + c.sin().sum(), inputs=make, grad=True, calls=1)


def test_parameter_passed_as_an_argument_too() -> None:
    class Scale(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

        def forward(self, x: Tensor) -> Tensor:
            return self.weight * x

    module = Scale()
    check_parity(module, module.weight, grad=True)


def test_no_argument_is_handed_back_in_place_of_a_fresh_result() -> None:
    x = torch.randn(64)
    for function in (lambda t: t * 1, lambda t: t.clone(), lambda t: t.view(8, 8).t() + 0):
        y = compiled(function)(x)
        assert not overlaps(x, y)


def test_constant_results_are_fresh_on_each_call() -> None:
    function = compiled(lambda x: (torch.zeros(3), torch.arange(3), x + 1))
    first, second = function(torch.ones(2)), function(torch.ones(2))
    assert not any(overlaps(a, b) for a in first for b in second)
