"""Extremes: the first index, NaN winning, unsigned order."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from parity import check_parity

NAN = float("nan")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_first_nan_wins(dtype: torch.dtype) -> None:
    x = torch.tensor([[1.0, NAN], [3.0, 2.0], [3.0, NAN]], dtype=dtype)

    def function(x: Tensor) -> tuple[object, ...]:
        return tuple(x.max(0)), tuple(x.min(0)), x.argmax(0), x.argmin(0), x.amax(0), x.argmax()

    check_parity(function, x)
    check_parity(lambda x: (tuple(x.max(1)), x.argmin(1, keepdim=True)), x)


def test_first_of_equals_wins() -> None:
    x = torch.tensor([[2, 7, 7, 1, 1], [0, 0, 0, 0, 0]])
    check_parity(lambda x: (tuple(x.max(1)), tuple(x.min(1)), x.argmax(1), x.argmin()), x)


def test_unsigned_order() -> None:
    x = torch.tensor([[1, 200, 3], [128, 127, 0]], dtype=torch.uint8)
    check_parity(lambda x: (tuple(x.max(1)), tuple(x.min(0)), x.amax(), x.clamp(100, 150)), x)


def test_nan_spreads_except_where_it_must_not() -> None:
    u, w = torch.tensor([NAN, 1.0, -1.0]), torch.tensor([0.0, NAN, 2.0])

    def function(u: Tensor, w: Tensor) -> tuple[Tensor, ...]:
        return (
            u.clamp(min=0.5),
            torch.maximum(u, w),
            torch.minimum(u, w),
            torch.fmax(u, w),
            torch.fmin(u, w),
            u.relu(),
            u.clamp(w, w + 1),
            u.sign(),
        )

    check_parity(function, u, w)


def test_masked_line_has_the_first_index() -> None:
    x, mask = torch.randn(3, 4), torch.tensor([[True] * 4, [False] * 4, [True, False] * 2])
    check_parity(lambda x, m: x.masked_fill(m, float("-inf")).argmax(-1), x, mask)


@pytest.mark.parametrize("keepdim", [False, True])
def test_scalar_with_a_dimension(keepdim: bool) -> None:
    def function(x: Tensor) -> tuple[object, ...]:
        extremes = (x.amax(0, keepdim), x.amin(0, keepdim), tuple(x.max(0, keepdim)))
        sums = (x.sum(0, keepdim), x.mean(0, keepdim), x.logsumexp(0, keepdim), x.prod(0, keepdim))
        return (*extremes, *sums, x.softmax(0), x.argmax(0, keepdim), x.cumsum(0), x.flip(0))

    check_parity(function, torch.tensor(2.0))


def test_sign_of_zero() -> None:
    x = torch.tensor([-0.0, 0.0, -1.0, 2.0])

    def function(x: Tensor) -> tuple[Tensor, ...]:
        activations = (F.relu(x), F.relu6(x), F.elu(x), F.selu(x), F.celu(x), F.leaky_relu(x))
        bounds = (F.hardtanh(x, 0.0, 1.0), x.clamp(min=0), x.clamp(max=0))
        return tuple(1 / part for part in (*activations, *bounds, x.sign(), x.sgn()))

    check_parity(function, x)
    check_parity(function, x.bfloat16())
