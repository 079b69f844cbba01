"""`flex_attention` taken apart."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch._C import DispatchKey
from torch._higher_order_ops.flex_attention import flex_attention

from neuron_compile.lowering.decompose.flex_attention import (
    attention,
    flex_attention_as_products,
    zeros_and_scatter,
)


def unmasked(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
    return torch.ones_like(b, dtype=torch.bool)


def as_it_is(score: Tensor, *_: Tensor) -> Tensor:
    return score


def attend(*given: Tensor, score: Any = as_it_is, mask: Any = unmasked, scale: float = 1.0) -> Any:
    q, k, v = given
    return attention(q, k, v, score, (mask,), scale, {})


def test_it_is_the_softmax_of_the_products_and_its_logarithms_are_binary() -> None:
    q, k, v = torch.randn(2, 4, 5, 8), torch.randn(2, 2, 7, 8), torch.randn(2, 2, 7, 3)
    result, log_sum, greatest = attend(q, k, v, scale=0.5)
    scores = q @ k.repeat_interleave(2, 1).transpose(-1, -2) * 0.5
    torch.testing.assert_close(result, scores.softmax(-1) @ v.repeat_interleave(2, 1))
    torch.testing.assert_close(log_sum, scores.logsumexp(-1) / math.log(2))
    torch.testing.assert_close(greatest, scores.amax(-1) / math.log(2))


def test_rows_that_see_nothing_give_zeros_and_finite_gradients() -> None:
    given = [torch.randn(1, 1, 4, 2, requires_grad=True) for _ in range(3)]
    result, log_sum, _ = attend(*given, mask=lambda b, h, i, j: i > j)
    assert result[0, 0, 0].tolist() == [0, 0]
    assert log_sum[0, 0, 0] == -math.inf
    gradients = torch.autograd.grad(result.square().sum(), given)
    assert all(bool(gradient.isfinite().all()) for gradient in gradients)


def test_a_function_without_a_derivative_where_it_is_masked_does_no_harm() -> None:
    given = [torch.randn(1, 1, 4, 2, requires_grad=True) for _ in range(3)]
    result, *_ = attend(
        *given,
        score=lambda s, b, h, i, j: s * (i - j).float().sqrt(),
        mask=lambda b, h, i, j: i > j,
    )
    gradients = torch.autograd.grad(result.sum(), given)
    assert all(bool(gradient.isfinite().all()) for gradient in gradients)


def test_it_is_taken_apart_in_the_context_only() -> None:
    before = flex_attention.py_kernels[DispatchKey.Autograd]
    with flex_attention_as_products():
        assert flex_attention.py_kernels[DispatchKey.Autograd] is attention
    assert flex_attention.py_kernels[DispatchKey.Autograd] is before


def test_values_of_equal_places_are_added() -> None:
    places = [torch.tensor([0, 1, 1]), torch.tensor([2, 0, 0])]
    result = zeros_and_scatter([2, 3], places, torch.tensor([1.0, 2.0, 3.0]))
    assert result.tolist() == [[0, 0, 1], [5, 0, 0]]
