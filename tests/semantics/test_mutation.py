"""In-place writes: to arguments, through views of them, and to nothing that eager leaves alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor

from parity import check_parity, compiled
from semantics.case_names import source_text

if TYPE_CHECKING:
    from collections.abc import Callable

# Dynamo itself reads `.grad` of a non-leaf argument.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")


def fill_slice(x: Tensor) -> Tensor:
    x[1:3] = 7.0
    return x.sum()


def masked_write(x: Tensor) -> None:
    x[x > 0] = -1.0


def write_through_transpose(x: Tensor) -> Tensor:
    x.t()[0].copy_(torch.ones(4))
    return x * 2


def write_row_of_view(x: Tensor) -> Tensor:
    flat = x.view(-1)
    flat[2] += 5
    return x[0]


def write_diagonal(x: Tensor) -> Tensor:
    x.fill_diagonal_(3.0)
    return x.clone()


def read_between_writes(x: Tensor) -> tuple[Tensor, Tensor]:
    before = x.sum()
    x.mul_(3)
    after = x.sum()
    x.sub_(1)
    return before, after


def write_then_discard(x: Tensor) -> Tensor:
    x.clone().zero_()
    return x + 1


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.zero_(),
        lambda x: (x.add_(1), x.view(-1).mul_(2))[0],
        fill_slice,
        masked_write,
        write_through_transpose,
        write_row_of_view,
        write_diagonal,
        read_between_writes,
        write_then_discard,
        lambda x: torch.add(x, 1, out=x),
        lambda x: torch.relu_(x),
        lambda x: x.clamp_(-0.5, 0.5).t(),
        lambda x: x.index_add_(0, torch.tensor([0, 2]), torch.ones(2, 4)),
        lambda x: x.scatter_(1, torch.arange(4).view(4, 1), 9.0),
        lambda x: x.masked_fill_(x < 0, 0.0),
    ],
    ids=source_text,
)
def test_write_to_an_argument_is_seen_by_the_caller(function: Callable[[Tensor], Any]) -> None:
    check_parity(function, torch.randn(4, 4))


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.arange(12.0).view(3, 4).t(),
        lambda: torch.arange(24.0).view(4, 6)[:, ::2],
        lambda: torch.arange(40.0)[3:15].view(4, 3),
        lambda: torch.arange(24.0).view(1, 2, 3, 4).to(memory_format=torch.channels_last),
    ],
    ids=["transposed", "strided", "offset", "channels_last"],
)
def test_write_to_a_view_reaches_its_base_and_only_its_own_elements(
    make: Callable[[], Tensor],
) -> None:
    def scale(x: Tensor) -> Tensor:
        x.mul_(2).add_(1)
        return x.sum()

    expected, actual = make(), make()
    scale(expected)
    compiled(scale)(actual)
    assert actual.stride() == expected.stride()
    bases = [torch.empty(0).set_(t.untyped_storage()) for t in (expected, actual)]
    assert torch.equal(bases[1], bases[0])


def test_write_of_one_dtype_into_another_converts() -> None:
    def store(ints: Tensor, halves: Tensor, x: Tensor) -> None:
        ints.copy_(x)
        halves.add_(x)

    check_parity(
        store,
        torch.zeros(3, dtype=torch.int32),
        torch.ones(3).bfloat16(),
        torch.tensor([1.7, -2.7, 3.0]),
    )


def test_two_arguments_written_crosswise() -> None:
    def swap(a: Tensor, b: Tensor) -> None:
        kept = a.clone()
        a.copy_(b)
        b.copy_(kept)

    check_parity(swap, torch.ones(3), torch.zeros(3))


def test_write_to_an_argument_passed_twice() -> None:
    def add(a: Tensor, b: Tensor) -> Tensor:
        a.add_(1)
        return a + b

    x = torch.ones(3)
    check_parity(add, x, x)


def test_write_to_overlapping_arguments() -> None:
    def add(a: Tensor, b: Tensor) -> Tensor:
        a.mul_(2)
        return b + 1

    def make() -> tuple[Tensor, Tensor]:
        base = torch.arange(6.0)
        return base[:4], base[2:]

    check_parity(add, inputs=make)


def test_write_to_an_intermediate_leaves_the_argument_alone() -> None:
    def rewrite(x: Tensor) -> Tensor:
        y = x * 1
        y[0] = 100.0
        return y.relu_()

    check_parity(rewrite, torch.randn(3, requires_grad=True), grad=True)


def test_write_under_grad_is_differentiated() -> None:
    def update(x: Tensor, w: Tensor) -> Tensor:
        y = x * w
        y.mul_(w)
        y[1:] += w[1:]
        return y

    check_parity(update, torch.randn(3), torch.randn(3, requires_grad=True), grad=True)


def test_write_to_a_non_leaf_argument_joins_its_history() -> None:
    def scale(x: Tensor, w: Tensor) -> Tensor:
        x.add_(w.exp())
        return x.sin()

    gradients = []
    for function in (scale, compiled(scale)):
        leaf, w = torch.ones(3, requires_grad=True), torch.linspace(-1, 1, 3).requires_grad_()
        x = leaf * 2
        y = function(x, w)
        (x * y).sum().backward()
        gradients.append((leaf.grad, w.grad))
    torch.testing.assert_close(gradients[1], gradients[0])


def test_write_to_a_leaf_that_requires_grad_without_grad_mode() -> None:
    w = torch.ones(3, requires_grad=True)

    @torch.no_grad()
    def decay(p: Tensor) -> None:
        p.mul_(0.5)

    version = w._version
    compiled(decay)(w)
    assert torch.equal(w, torch.full((3,), 0.5))
    assert w.requires_grad
    assert w._version > version


def test_autograd_refuses_a_saved_tensor_that_compiled_code_overwrote() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    compiled(lambda t: t.detach().mul_(2))(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_write_to_a_numpy_array_shared_with_an_argument() -> None:
    x = torch.zeros(4)
    array = x.numpy()
    compiled(lambda t: t.add_(2))(x)
    assert array.tolist() == [2.0] * 4


def test_write_of_random_numbers_keeps_the_object() -> None:
    x = torch.zeros(64)
    y = compiled(lambda t: t.uniform_(1, 2))(x)
    assert y is x
    assert 1 <= x.min() <= x.max() < 2
