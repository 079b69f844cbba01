"""Every dtype is computed in, and returned, exactly as in eager; promotion is PyTorch's."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from parity import check_parity, compiled

FLOATS = [torch.float32, torch.bfloat16, torch.float16]
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
DTYPES = [*FLOATS, *INTEGERS, torch.bool]

EVERY = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def numbers(dtype: torch.dtype) -> Tensor:
    values = torch.tensor([0, 1, 2, 3, 5, 7, 11, 100])
    return values.remainder(2).bool() if dtype is torch.bool else values.to(dtype)


@EVERY
def test_arithmetic_and_comparison(dtype: torch.dtype) -> None:
    def use(x: Tensor, y: Tensor) -> list[Tensor]:
        return [x + y, x * y, x == y, x < y, torch.where(x > 1, x, y), x.clone(), x.logical_not()]

    check_parity(use, numbers(dtype), numbers(dtype).flip(0))


@EVERY
def test_reductions(dtype: torch.dtype) -> None:
    def use(x: Tensor) -> list[Tensor]:
        return [x.sum(), x.amax(), x.any(), x.all(), x.cumsum(0), x.count_nonzero(), x.prod()]

    check_parity(use, numbers(dtype))


@EVERY
def test_moving_elements_about(dtype: torch.dtype) -> None:
    def use(x: Tensor) -> list[Tensor]:
        grid = x.view(2, 4)
        return [
            grid.t().contiguous(),
            torch.cat([x, x]),
            grid[:, torch.tensor([3, 0])],
            x.flip(0),
            torch.zeros_like(x),
            grid.repeat(2, 1),
            x.gather(0, torch.tensor([7, 7, 1])),
            torch.stack([x, x])[1],
        ]

    check_parity(use, numbers(dtype))


@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_conversion_to_every_other_dtype(source: torch.dtype) -> None:
    check_parity(lambda x: [x.to(d) for d in DTYPES], numbers(source))


def test_float_to_integer_truncates() -> None:
    x = torch.tensor([-1.9, -1.0, -0.5, 0.5, 1.9, 100.7])
    check_parity(lambda t: [t.to(d) for d in INTEGERS if d is not torch.uint8], x)
    check_parity(lambda t: t.to(torch.uint8), x.abs())


def pairs(scalars: bool) -> list[Tensor]:
    shape = () if scalars else (3,)
    return [torch.ones(shape).to(dtype) for dtype in DTYPES]


def sums(left: list[Tensor], right: list[Tensor]) -> list[Tensor]:
    return [a + b for a, b in itertools.product(left, right)]


def test_promotion_of_every_pair() -> None:
    check_parity(sums, pairs(False), pairs(False), calls=1)


def test_promotion_with_zero_dimensional_tensors() -> None:
    check_parity(sums, pairs(False), pairs(True), calls=1)


def test_promotion_of_zero_dimensional_pairs() -> None:
    check_parity(sums, pairs(True), pairs(True), calls=1)


def test_promotion_with_python_numbers() -> None:
    def use(tensors: list[Tensor]) -> list[Tensor]:
        return [y for x in tensors for y in (x * 2, x + 1.5, x + True)]

    check_parity(use, pairs(False), calls=1)


def test_division_of_integers() -> None:
    def use(a: Tensor, b: Tensor) -> list[Tensor]:
        return [a / b, a // b, a % b, torch.div(a, b, rounding_mode="trunc"), a / 2, a // 2]

    a, b = torch.tensor([7, -7, 7, -7]), torch.tensor([2, 2, -2, -2])
    for dtype in (torch.int64, torch.int32, torch.int8):
        check_parity(use, a.to(dtype), b.to(dtype))


def test_integers_of_64_bits_keep_all_of_them() -> None:
    x = torch.tensor([2**53 + 1, -(2**53) - 1, 2**62 + 3, 2**63 - 1, -(2**63)])
    check_parity(lambda t: (t + 0, t - 1, t * 1, t ^ 1, t >> 3, t == t - 1, t.max(), t.sum()), x)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_overflow_wraps(dtype: torch.dtype) -> None:
    info = torch.iinfo(dtype)
    x = torch.tensor([info.max, info.min, info.max - 1], dtype=dtype)
    check_parity(lambda t: (t + 1, t - 1, t * 3, -t), x)


@pytest.mark.parametrize("dtype", [*INTEGERS, torch.bool], ids=str)
def test_bit_operations(dtype: torch.dtype) -> None:
    x = numbers(dtype)
    check_parity(lambda t, u: (t & u, t | u, t ^ u, ~t), x, x.flip(0))


def test_low_precision_sums_accumulate_in_float32() -> None:
    for dtype in (torch.bfloat16, torch.float16):
        x = torch.full((4096, 2), 0.2).to(dtype)
        check_parity(lambda t: (t.sum(), t.mean(0), t.sum(1)), x, bound=1e-2)


def special(dtype: torch.dtype) -> Tensor:
    inf, nan = float("inf"), float("nan")
    return torch.tensor([inf, -inf, nan, 0.0, -0.0, 1.0, torch.finfo(dtype).max]).to(dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_special_values(dtype: torch.dtype) -> None:
    def use(t: Tensor) -> list[Tensor]:
        return [t + 1, t * 0, t.isnan(), t.isinf(), t.relu(), t.clamp(-1, 1), t.isfinite()]

    check_parity(use, special(dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_comparison_of_a_tensor_with_itself_finds_nan(dtype: torch.dtype) -> None:
    """No simplifier may take a tensor to equal itself."""

    def use(t: Tensor) -> list[Tensor]:
        return [t == t, t != t, t >= t, t <= t, t < t, t > t, torch.where(t == t, t, 0.0)]

    check_parity(use, special(dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_arithmetic_with_itself_keeps_nan(dtype: torch.dtype) -> None:
    def use(t: Tensor) -> list[Tensor]:
        return [t - t, t / t, t * 0, t + 0 * t, torch.maximum(t, t), torch.minimum(t, t), t**0]

    check_parity(use, special(dtype))


def test_sign_of_negative_zero() -> None:
    check_parity(lambda t: (t.signbit(), -t, 1 / t, t + 0.0, t.abs()), special(torch.float32))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gradient_has_the_dtype_of_its_argument(dtype: torch.dtype) -> None:
    def use(x: Tensor, w: Tensor) -> Tensor:
        return (x.float() * w).to(x.dtype) + x

    x = torch.randn(8).to(dtype).requires_grad_()
    check_parity(use, x, torch.randn(8, requires_grad=True), grad=True, bound=2e-2)


def test_default_dtype_is_read_on_each_call() -> None:
    function = compiled(lambda x: x + torch.ones(2))
    x = torch.ones(2, dtype=torch.bfloat16)
    assert function(x).dtype == torch.float32
    torch.set_default_dtype(torch.bfloat16)
    try:
        assert function(x).dtype == torch.bfloat16
    finally:
        torch.set_default_dtype(torch.float32)


def test_bit_casts() -> None:
    def use(x: Tensor) -> list[Tensor]:
        return [x.view(torch.int32), x.view(torch.int8), x.half().view(torch.int16)]

    check_parity(use, torch.randn(2, 4))
