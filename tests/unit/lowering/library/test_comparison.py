from __future__ import annotations

from typing import Any

import pytest
import torch

from unit.lowering.library.against_eager import check

T = torch.tensor
NAN, INF = float("nan"), float("inf")
FLOATS = (T([NAN, 1.0, -1.0, 0.0, -0.0, INF]), T([0.0, NAN, 2.0, -0.0, 0.0, INF]))
BYTES = (T([200, 3, 128], dtype=torch.uint8), T([100, 3, 127], dtype=torch.uint8))
INTS = (T([-12, 7, 0, 1]), T([18, -21, 5, 0]))


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons(name: str) -> None:
    for left, right in (FLOATS, BYTES, INTS, (BYTES[0], T(200)), (T([1.5]), T([1]))):
        check(f"aten.{name}.Tensor", left, right)
    check(f"aten.{name}.Scalar", BYTES[0], 127.5)
    check(f"aten.{name}.Scalar", FLOATS[0], 0)


def test_equality_of_complex() -> None:
    values = T([1 + 2j, 1 - 2j])
    check("aten.eq.Tensor", values, T([1 + 2j, 1 + 2j]))
    check("aten.ne.Scalar", values, 1 + 2j)
    check("aten.where.self", T([True, False]), values, T(3.0))
    check("aten.masked_fill.Scalar", values, T([True, False]), 3)


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
def test_extremes_of_two(name: str) -> None:
    for left, right in (FLOATS, BYTES, INTS):
        check(f"aten.{name}.default", left, right)


@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_divisors(name: str) -> None:
    check(f"aten.{name}.default", *INTS)
    check(f"aten.{name}.default", *BYTES)
    check(f"aten.{name}.default", T([0]), T([0]))


@pytest.mark.parametrize("name", ["left", "right"])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.uint8, torch.int32])
def test_shifts(name: str, dtype: torch.dtype) -> None:
    values = T([-8, 7, 1, 100, -1, 3, 3]).to(dtype)
    check(f"aten.bitwise_{name}_shift.Tensor", values, T([2, 1, 0, 3, 7, 70, 64]).to(dtype))
    check(f"aten.bitwise_{name}_shift.Tensor_Scalar", values, 2)


def test_bits_and_logic() -> None:
    for name in ("and", "or", "xor"):
        check(f"aten.bitwise_{name}.Tensor", *INTS)
        check(f"aten.bitwise_{name}.Scalar", INTS[0], 6)
        check(f"aten.logical_{name}.default", *FLOATS)
        check(f"aten.logical_{name}.default", INTS[0], T([0.0, 1.0, 0.5, 0.0]))
    check("aten.bitwise_not.default", BYTES[0])
    check("aten.bitwise_not.default", T([True, False]))
    check("aten.logical_not.default", FLOATS[0])


@pytest.mark.parametrize(
    "bounds", [(0.5, None), (None, 1.0), (2.0, 1.0), (-1, 1), (T(0.5), None), (T([2.0]), T(1.0))]
)
def test_clamp(bounds: tuple[Any, Any]) -> None:
    is_tensor = any(isinstance(bound, torch.Tensor) for bound in bounds)
    check("aten.clamp.Tensor" if is_tensor else "aten.clamp.default", FLOATS[0], *bounds)


def test_clamp_of_other_dtypes() -> None:
    check("aten.clamp.default", BYTES[0], 100, 150)
    check("aten.clamp.default", INTS[0], -1.5, 5.5)
    check("aten.clamp_min.Tensor", INTS[0], T(0))
    check("aten.clamp_max.Tensor", FLOATS[0], FLOATS[1])
    check("aten.clamp_min.default", FLOATS[0], 0.5)


def test_signs_neighbours_and_steps() -> None:
    check("aten.copysign.Tensor", *FLOATS)
    check("aten.copysign.Scalar", INTS[0], -0.0)
    check("aten.nextafter.default", *FLOATS)
    check("aten.nextafter.default", T([1.0, 0.0]).bfloat16(), T([2.0, -1.0]).bfloat16())
    check("aten.nextafter.default", T([1.0, 0.0]).double(), T([2.0, -1.0]).double())
    check("aten.heaviside.default", *FLOATS)


def test_membership() -> None:
    check("aten.isin.Tensor_Tensor", INTS[0], T([7, 1, 7]))
    check("aten.isin.Tensor_Tensor", INTS[0], T([], dtype=torch.int64), invert=True)
    check("aten.isin.Tensor_Scalar", FLOATS[0], 1)
    check("aten.isin.Tensor_Tensor", FLOATS[0], FLOATS[1])
    check("aten.isclose.default", *FLOATS)
    check("aten.isclose.default", *FLOATS, equal_nan=True)
    check("aten.isclose.default", *INTS, 0.5, 1.0)
