"""Forward and backward of one call use the same random numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from parity import compiled, neuron_only

if TYPE_CHECKING:
    from collections.abc import Callable

MASKED: dict[str, Callable[[Tensor], Tensor]] = {
    "dropout": lambda x: F.dropout(x, 0.5),
    "dropout1d": lambda x: F.dropout1d(x.view(1, 256, 1), 0.5).view(256),
    "bernoulli": lambda x: x * torch.bernoulli(torch.full_like(x, 0.5)),
    "uniform_factor": lambda x: x * torch.rand(256),
    "in_place_fill": lambda x: x * torch.empty(256).uniform_(1, 2),
    "integer_factor": lambda x: x * torch.randint(0, 9, (256,)),
}


@pytest.mark.parametrize("name", MASKED)
def test_gradient_of_ones_is_the_mask_of_the_forward(name: str) -> None:
    x = torch.ones(256, requires_grad=True)
    y = compiled(MASKED[name])(x)
    y.sum().backward()
    assert y.unique().numel() > 1
    torch.testing.assert_close(x.grad, y.detach())


def test_gather_by_a_permutation_scatters_back_by_the_same_one() -> None:
    x = torch.arange(64.0, requires_grad=True)
    y = compiled(lambda t: t[torch.randperm(64)])(x)
    y.backward(y.detach())
    torch.testing.assert_close(x.grad, torch.arange(64.0))


def test_reparametrized_sample() -> None:
    mean, scale = torch.zeros(64, requires_grad=True), torch.ones(64, requires_grad=True)
    z = compiled(lambda m, s: m + s * torch.randn_like(s))(mean, scale)
    z.sum().backward()
    torch.testing.assert_close(mean.grad, torch.ones(64))
    torch.testing.assert_close(scale.grad, z.detach())


def test_randomized_leaky_relu() -> None:
    x = torch.full((256,), -1.0, requires_grad=True)
    y = compiled(lambda t: F.rrelu(t, training=True))(x)
    y.sum().backward()
    torch.testing.assert_close(x.grad, -y.detach())


def test_attention_dropout() -> None:
    value = torch.ones(1, 1, 8, 4, requires_grad=True)
    query = torch.zeros(1, 1, 8, 4)

    def use(v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(query, query, v, dropout_p=0.5)

    y = compiled(use)(value)
    y.sum().backward()
    assert not torch.allclose(y, torch.ones_like(y))
    assert value.grad is not None
    # Columns of the dropped-out weights on one side, rows on the other: their sums agree.
    torch.testing.assert_close(value.grad.sum(), y.detach().sum())


def test_backwards_in_another_order_than_their_forwards() -> None:
    function = compiled(lambda t: F.dropout(t, 0.5) * t.detach())
    leaves = [torch.ones(128, requires_grad=True) for _ in range(3)]
    results = [function(leaf) for leaf in leaves]
    for index in (1, 0, 2):
        results[index].sum().backward()
    for leaf, y in zip(leaves, results, strict=True):
        torch.testing.assert_close(leaf.grad, y.detach())


def test_reseeding_between_forward_and_backward_changes_nothing() -> None:
    x = torch.ones(256, requires_grad=True)
    y = compiled(lambda t: F.dropout(t, 0.5))(x)
    torch.manual_seed(99)
    torch.rand(10)
    y.sum().backward()
    torch.testing.assert_close(x.grad, y.detach())


@neuron_only  # AOTAutograd alone recomputes random numbers of the CPU's generator as new ones.
def test_random_numbers_recomputed_to_save_memory_are_the_same() -> None:
    def use(x: Tensor) -> Tensor:
        return F.dropout(x, 0.5).exp().log() * 1.0 + F.dropout(x, 0.5)

    with torch._functorch.config.patch(activation_memory_budget=0.0):
        x = torch.ones(256, requires_grad=True)
        y = compiled(use)(x)
        y.sum().backward()
    torch.testing.assert_close(x.grad, y.detach())


def test_dropout_in_every_layer_of_a_trained_module() -> None:
    module = nn.Sequential(
        nn.Linear(8, 64), nn.Dropout(0.5), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 1)
    )
    function = compiled(module)
    y = function(torch.ones(1, 8))
    y.sum().backward()
    hidden_gradient = module.get_parameter("0.bias").grad
    assert hidden_gradient is not None
    # A unit that the forward dropped gets no gradient, and only about a quarter pass both masks.
    assert 0 < torch.count_nonzero(hidden_gradient) < 40


def test_module_called_twice_in_one_graph_uses_two_masks() -> None:
    drop = nn.Dropout(0.5)

    def use(x: Tensor) -> tuple[Tensor, Tensor]:
        return drop(x), drop(x)

    x = torch.ones(256, requires_grad=True)
    first, second = compiled(use)(x)
    assert not torch.equal(first, second)
    (first + 3 * second).sum().backward()
    torch.testing.assert_close(x.grad, (first + 3 * second).detach())
