"""Backward: what gets a gradient, which cotangents come in, how gradients add up."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import pytest
import torch
from torch import Tensor, nn

from parity import check_parity, compiled

if TYPE_CHECKING:
    from collections.abc import Callable
from typing import Any

# Dynamo itself reads `.grad` of a non-leaf argument.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")


@pytest.mark.parametrize("wanted", [(True, False), (False, True), (True, True)])
def test_only_arguments_that_require_grad_get_one(wanted: tuple[bool, bool]) -> None:
    a, b = (torch.randn(2, 3, requires_grad=w) for w in wanted)
    check_parity(lambda a, b: (a * b, (a + 1).sin(), b.cos()), a, b, grad=True)


def test_integer_arguments_beside_differentiable_ones() -> None:
    weight = torch.randn(5, 3, requires_grad=True)
    check_parity(lambda w, i: w[i] * i[:, None], weight, torch.tensor([1, 4, 1]), grad=True)


def test_result_that_does_not_depend_on_an_argument() -> None:
    a, b = (torch.randn(3, requires_grad=True) for _ in range(2))
    check_parity(lambda a, b: (a * 2, b.detach() * 3), a, b, grad=True)


def test_gradient_stops_where_the_user_stops_it() -> None:
    def use(x: Tensor) -> Tensor:
        with torch.no_grad():
            fixed = x * 3
        return x.detach() * x + fixed

    check_parity(use, torch.randn(3, requires_grad=True), grad=True)


@pytest.mark.parametrize("chosen", [0, 1])
def test_backward_from_some_of_the_results(chosen: int) -> None:
    gradients = []
    for wrap in (lambda f: f, compiled):
        a, b = torch.full((3,), 0.5, requires_grad=True), torch.full((3,), 2.0, requires_grad=True)
        wrap(lambda a, b: (a.exp() * 2, a * b))(a, b)[chosen].sum().backward()
        gradients.append((a.grad, b.grad))
    torch.testing.assert_close(gradients[1][0], gradients[0][0])
    expected, actual = gradients[0][1], gradients[1][1]
    # AOTAutograd hands out zeros, not None, for a result that backward did not start from.
    torch.testing.assert_close(actual, torch.zeros(3) if expected is None else expected)


@pytest.mark.parametrize(
    "cotangent",
    [
        lambda: torch.ones(()).expand(4, 3),
        lambda: torch.randn(3, 4).t(),
        lambda: torch.randn(4, 6)[:, ::2],
        lambda: torch.randn(13)[1:].view(4, 3),
        lambda: torch.zeros(4, 3),
    ],
    ids=["expanded", "transposed", "strided", "unaligned", "zero"],
)
def test_cotangent_of_any_layout(cotangent: Callable[[], Tensor]) -> None:
    gradients = []
    for wrap in (lambda f: f, compiled):
        torch.manual_seed(4)
        x = torch.randn(4, 3, requires_grad=True)
        wrap(lambda t: t.sin() * t)(x).backward(cotangent())
        gradients.append(x.grad)
    torch.testing.assert_close(gradients[1], gradients[0])


def test_backward_inside_a_larger_eager_graph() -> None:
    module = nn.Linear(3, 3)
    reference = copy.deepcopy(module)
    x, y = (torch.full((2, 3), 0.3, requires_grad=True) for _ in range(2))
    for function, leaf in ((compiled(module), x), (reference, y)):
        hidden = function(leaf.exp())
        (hidden.sin() + function(hidden)).pow(2).sum().backward()
    torch.testing.assert_close(x.grad, y.grad)
    torch.testing.assert_close(module.weight.grad, reference.weight.grad)


def test_gradients_accumulate_over_micro_batches() -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    reference = copy.deepcopy(module)
    function = compiled(module)
    for _ in range(3):
        x = torch.randn(2, 3)
        for m in (function, reference):
            (m(x).mean() / 3).backward()
    for p, q in zip(module.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(p.grad, q.grad)


def test_gradient_is_the_users_own_tensor() -> None:
    module = nn.Linear(2, 2)
    function = compiled(module)
    x = torch.ones(1, 2)
    function(x).sum().backward()
    first = module.weight.grad
    assert first is not None
    kept = first.clone()
    first.mul_(10)
    module.zero_grad(set_to_none=True)
    function(x).sum().backward()
    torch.testing.assert_close(module.weight.grad, kept)
    torch.testing.assert_close(first, kept * 10)


def test_retained_graph_can_be_differentiated_twice() -> None:
    x = torch.tensor([0.5, 1.0], requires_grad=True)
    y = compiled(lambda t: t.exp() * t)(x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    torch.testing.assert_close(x.grad, 2 * (x.exp() * (x + 1)).detach())


def test_freed_graph_is_refused_as_in_eager() -> None:
    x = torch.ones(2, requires_grad=True)
    y = compiled(lambda t: (t.exp() * t).sum())(x)
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_several_forwards_before_their_backwards_in_any_order() -> None:
    function = compiled(lambda t: (t.exp() * t).sum())
    leaves = [torch.full((2,), v, requires_grad=True) for v in (0.1, 0.2, 0.3)]
    losses = [function(leaf) for leaf in leaves]
    for loss in (losses[1], losses[2], losses[0]):
        loss.backward()
    for leaf in leaves:
        torch.testing.assert_close(leaf.grad, (leaf.exp() * (leaf + 1)).detach())


def test_grad_function_with_selected_and_unused_inputs() -> None:
    a, b, c = (torch.full((2,), 0.5, requires_grad=True) for _ in range(3))
    y = compiled(lambda a, b, c: (a * b).sin().sum())(a, b, c)
    first, second, third = torch.autograd.grad(y, (a, b, c), allow_unused=True)
    torch.testing.assert_close(first, (b * (a * b).cos()).detach())
    torch.testing.assert_close(second, (a * (a * b).cos()).detach())
    assert third is None


def test_double_backward_is_refused_with_a_reason() -> None:
    x = torch.tensor([0.5, 1.0], requires_grad=True)
    y = compiled(lambda t: t.pow(3).sum())(x)
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    with pytest.raises(RuntimeError, match="double backward"):
        torch.autograd.grad(first.sum(), x)


def test_gradient_penalty_with_its_gradient_taken_inside() -> None:
    def penalty(x: Tensor, w: Tensor) -> Any:
        slope = torch.func.grad(lambda t: (t @ w).tanh().sum())(x)
        return (slope.norm() - 1).square()

    x, w = torch.randn(2, 3), torch.randn(3, 2, requires_grad=True)
    check_parity(penalty, x, w, grad=True, bound=1e-5)


def test_anomaly_and_deterministic_modes_change_no_number() -> None:
    x = torch.randn(3, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        check_parity(lambda t: (t.sin() * t).sum(), x, grad=True)
    torch.use_deterministic_algorithms(True)
    try:
        check_parity(lambda t: t.cumsum(0).exp(), x, grad=True)
    finally:
        torch.use_deterministic_algorithms(False)
