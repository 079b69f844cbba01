"""Reductions of 16-bit numbers accumulate in 32 bits and round once, as in eager."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from parity import check_parity, compiled

LOW = [torch.bfloat16, torch.float16]


@pytest.mark.parametrize("dtype", LOW)
def test_sums_of_many_small_numbers(dtype: torch.dtype) -> None:
    x = torch.full((4096, 2), 0.2, dtype=dtype)
    check_parity(lambda x: (x.sum(), x.mean(0), x.sum(0), x.cumsum(0)[-1]), x)


def test_bias_gradient_of_a_convolution() -> None:
    def function(x: Tensor, w: Tensor, b: Tensor, scale: Tensor) -> Tensor:
        return F.relu(F.conv2d(x, w, b)) * scale

    x, w = torch.ones(2, 3, 16, 16).bfloat16(), torch.ones(2, 3, 1, 1).bfloat16()
    b, scale = torch.full((2,), -2.5).bfloat16(), torch.full((2, 2, 16, 16), 0.2).bfloat16()
    check_parity(function, x, w.requires_grad_(), b.requires_grad_(), scale, grad=True)


@pytest.mark.parametrize("dtype", LOW)
def test_norms_and_losses(dtype: torch.dtype) -> None:
    x = torch.linspace(-3, 3, 512).view(2, 256).to(dtype).requires_grad_()

    def function(x: Tensor) -> tuple[Tensor, ...]:
        return x.softmax(-1), x.log_softmax(-1), F.layer_norm(x, (256,)), x.var(1), x.norm()

    check_parity(function, x, bound=2e-2)
    target = torch.tensor([3, 200])
    check_parity(lambda x: F.cross_entropy(x, target), x, grad=True, bound=2e-2)


@pytest.mark.parametrize("dtype", LOW)
def test_statistics_of_thousands_of_equal_numbers(dtype: torch.dtype) -> None:
    """In 16 bits a sum of these would stand still long before its end, and be far off."""
    x = torch.full((4, 8192), 0.2, dtype=dtype)
    x[:, ::2] = -0.1

    def function(x: Tensor) -> tuple[Tensor, ...]:
        norms = x.norm(), x.norm(dim=1), torch.linalg.vector_norm(x, 1)
        moments = x.var(1), x.std(), x.mean(1), torch.var_mean(x, dim=1)[1]
        normalized = F.layer_norm(x, (8192,))[:, :2], F.group_norm(x[None], 4)[0, :, :2]
        losses = F.mse_loss(x, -x), F.l1_loss(x, -x), F.smooth_l1_loss(x, -x)
        return (*norms, *moments, *normalized, *losses, x.logsumexp(1), x.softmax(1)[:, :2])

    check_parity(function, x)


@pytest.mark.parametrize("dtype", LOW)
def test_gradients_that_add_up_thousands_of_terms(dtype: torch.dtype) -> None:
    def function(x: Tensor, bias: Tensor, weight: Tensor) -> Tensor:
        return (x + bias) @ weight

    x, ones = torch.full((4096, 4), 0.2, dtype=dtype), torch.ones(4, 4, dtype=dtype)
    bias, weight = torch.zeros(4, dtype=dtype).requires_grad_(), ones.requires_grad_()
    gradients = []
    for wrap in (lambda f: f, compiled):
        found = torch.autograd.grad(wrap(function)(x, bias, weight).sum(), (bias, weight))
        gradients.append(found)
    torch.testing.assert_close(gradients[1], gradients[0])


def test_autocast_rounds_where_eager_rounds() -> None:
    torch.manual_seed(3)
    layer = nn.Linear(4, 4)

    def function(x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            result: Tensor = layer(x) + x
            return result

    check_parity(function, torch.randn(2, 4), bound=1e-2)
