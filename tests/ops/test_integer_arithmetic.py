"""Quotients, remainders and shifts have eager's signs, and raise where eager raises."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from parity import check_parity, compiled, neuron_only, raises_like_eager

LEFT, RIGHT = torch.tensor([-7, 7, -7, 7, 0]), torch.tensor([2, -2, -2, 2, -3])


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.float32])
def test_signs_of_quotients_and_remainders(dtype: torch.dtype) -> None:
    def function(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        floor, trunc = (torch.div(x, y, rounding_mode=mode) for mode in ("floor", "trunc"))
        return x % y, x // y, x % 3, x // -3, torch.fmod(x, y), torch.fmod(x, -4), floor, trunc

    check_parity(function, LEFT.to(dtype), RIGHT.to(dtype))


def test_remainder_of_floats_by_a_number() -> None:
    x = torch.tensor([-7.0, 7.0, -0.5, 0.0, -0.0, float("inf"), float("nan")])
    check_parity(lambda x: (torch.remainder(x, -3.0), torch.fmod(x, -3.0), 5.0 % x, x // 0.3), x)


def test_shifts_and_overflow() -> None:
    x = torch.tensor([-8, 7, 1, torch.iinfo(torch.int64).max])
    check_parity(lambda x: (x << 2, x >> 1, x ^ 3, ~x, x + x, x * x), x)
    check_parity(
        lambda x: (x + 100, x * 2, -x, x >> 1), torch.tensor([-128, 127, 1]).to(torch.int8)
    )
    check_parity(lambda x: (x + 100, x - 200, x * 2), torch.tensor([200, 0, 3], dtype=torch.uint8))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
@pytest.mark.parametrize("operator", [torch.remainder, torch.floor_divide, torch.fmod])
def test_division_of_integers_by_zero_raises(operator: object, dtype: torch.dtype) -> None:
    x, zero = torch.tensor([1, 2], dtype=dtype), torch.tensor([1, 0], dtype=dtype)
    raises_like_eager(operator, x, zero)  # type: ignore[arg-type]
    raises_like_eager(lambda x: operator(x, 0), x)  # type: ignore[operator]


@neuron_only
def test_error_of_a_division_names_the_line() -> None:
    with pytest.raises(RuntimeError, match=r"ZeroDivisionError\n.*test_integer_arithmetic\.py"):
        compiled(lambda x, y: x // y)(torch.tensor([1]), torch.tensor([0]))


def test_division_of_floats_by_zero_does_not_raise() -> None:
    x, zero = torch.tensor([1.0, -1.0, 0.0]), torch.zeros(3)
    check_parity(lambda x, y: (x / y, x // y, x % y, torch.fmod(x, y)), x, zero)
