from __future__ import annotations

from typing import Any

import pytest
import torch

from unit.lowering.library.against_eager import check

T = torch.tensor
NAN, INF = float("nan"), float("inf")
INTS, DIVISORS = T([-7, 7, -7, 7, 0]), T([2, -2, -2, 2, 3])
FLOATS, FLOAT_DIVISORS = T([-7.0, 7.0, -0.5, 0.0, -0.0, INF]), T([-3.0, 0.3, 2.0, 3.0, -1.0, 2.0])
COMPLEX = torch.randn(6, dtype=torch.complex64)
PAIRS: list[tuple[Any, Any]] = [
    (INTS, DIVISORS), (INTS, 3), (INTS, -2.5), (FLOATS, FLOAT_DIVISORS), (FLOATS, -3),
    (INTS.to(torch.uint8), T([3, 3, 7, 7, 250], dtype=torch.uint8)), (FLOATS.bfloat16(), 0.3),
    (FLOATS, T(2, dtype=torch.float64)), (INTS.int(), T(3)), (INTS, T([1.5, 2.0, -1.0, 4.0, 0.5])),
    (FLOATS.half(), FLOAT_DIVISORS.bfloat16()),
]  # fmt: skip


def overloads(name: str, other: Any) -> str:
    return f"aten.{name}.{'Tensor' if isinstance(other, torch.Tensor) else 'Scalar'}"


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "remainder", "fmod"])
def test_two_operands(name: str) -> None:
    for left, right in PAIRS:
        check(overloads(name, right), left, right)


@pytest.mark.parametrize("mode", ["floor", "trunc"])
def test_rounded_division(mode: str) -> None:
    for left, right in PAIRS:
        check(overloads("div", right) + "_mode", left, right, rounding_mode=mode)
        if mode == "floor" and isinstance(right, torch.Tensor):
            check("aten.floor_divide.default", left, right)


def test_division_of_floats_by_zero() -> None:
    left, right = T([1.0, -1.0, 0.0, NAN]), T([0.0, 0.0, 0.0, 0.0])
    check("aten.div.Tensor_mode", left, right, rounding_mode="floor")
    check("aten.remainder.Tensor", left, right)
    check("aten.div.Tensor", left, right)


def test_complex_numbers() -> None:
    for name in ("add", "sub", "mul", "div"):
        check(f"aten.{name}.Tensor", COMPLEX, COMPLEX.flip(0))
        check(f"aten.{name}.Tensor", COMPLEX, FLOATS[:1])
        check(f"aten.{name}.Scalar", COMPLEX, 2 - 1j)
    check("aten.add.Tensor", torch.randn(6), COMPLEX, alpha=2j)
    check("aten.pow.Tensor_Scalar", COMPLEX, 3)
    check("aten.pow.Tensor_Tensor", COMPLEX, COMPLEX)
    check("aten.pow.Scalar", 2.0, COMPLEX)
    check("aten.addcmul.default", COMPLEX, COMPLEX, COMPLEX, value=2)
    check("aten.addcdiv.default", COMPLEX, COMPLEX, COMPLEX, value=1j)
    check("aten.lerp.Scalar", COMPLEX, COMPLEX.flip(0), 0.3)


def test_alpha_and_bool() -> None:
    check("aten.sub.Tensor", INTS, DIVISORS, alpha=3)
    check("aten.add.Tensor", FLOATS, FLOAT_DIVISORS, alpha=0.5)
    check("aten.add.Tensor", T([True, False]), T([True, False]))
    check("aten.mul.Tensor", T([True, False]), T([True, True]))
    check("aten.rsub.Scalar", INTS, 2, 3)
    check("aten.add.Tensor", T([200], dtype=torch.uint8), T([100], dtype=torch.uint8))


def test_powers() -> None:
    check("aten.pow.Tensor_Tensor", T([-3, 2, 1, -1, 0]), T([3, 63, 70, 5, 0]))
    check("aten.pow.Tensor_Scalar", T([3, 5], dtype=torch.uint8), 5)
    check("aten.pow.Tensor_Tensor", T([1, -1, -1, 2]), T([-3, -3, -2, -1]))
    check("aten.pow.Tensor_Scalar", FLOATS, 2)
    check("aten.pow.Tensor_Scalar", INTS, 0.5)
    check("aten.pow.Tensor_Tensor", FLOATS, FLOAT_DIVISORS)
    check("aten.pow.Scalar", 2, INTS.abs())


@pytest.mark.parametrize("name", ["hypot", "atan2", "logaddexp", "logaddexp2"])
def test_float_functions(name: str) -> None:
    check(f"aten.{name}.default", FLOATS, FLOAT_DIVISORS)
    check(f"aten.{name}.default", T([INF, -INF, NAN, 0.0]), T([INF, -INF, 1.0, -0.0]))
    check(f"aten.{name}.default", FLOATS.bfloat16(), FLOAT_DIVISORS.bfloat16())


def test_products_with_a_logarithm() -> None:
    left, right = T([0.0, 0.0, 2.0, NAN, 0.0]), T([0.0, NAN, 3.0, 1.0, INF])
    check("aten.xlogy.Tensor", left, right)
    check("aten.xlogy.Scalar_Self", 0, right)
    check("aten.xlogy.Tensor", T([0, 2]), T([0, 3]))
    check("aten.special_xlog1py.default", left, right)


def test_lerp_and_fused_products() -> None:
    for weight in (0.0, 0.3, 0.5, 1.0):
        check("aten.lerp.Scalar", FLOATS[:4], FLOAT_DIVISORS[:4], weight)
    check("aten.lerp.Tensor", FLOATS[:4], FLOAT_DIVISORS[:4], torch.rand(4))
    check("aten.addcmul.default", FLOATS, FLOATS, FLOAT_DIVISORS, value=0.5)
    check("aten.addcmul.default", INTS, INTS, DIVISORS, value=2)
    check("aten.addcdiv.default", FLOATS, FLOATS, FLOAT_DIVISORS, value=-2)


def test_truncated_division_of_unlike_shapes() -> None:
    check(
        "aten.div.Tensor_mode",
        torch.tensor([[-7], [5]]),
        torch.tensor([2, -3]),
        rounding_mode="trunc",
    )
