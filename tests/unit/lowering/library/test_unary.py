from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check

T = torch.tensor
NAN, INF = float("nan"), float("inf")
FLOATS = T([NAN, INF, -INF, 0.0, -0.0, 0.3, -0.7, 2.5, -3.5, 1.0, -1.0, 30.0])
COMPLEX = torch.randn(8, dtype=torch.complex64, generator=torch.Generator().manual_seed(0))
BOTH = [
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan",
    "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "sigmoid",
    "reciprocal", "sgn", "angle",
]  # fmt: skip
REAL = ["erf", "erfc", "erfinv", "lgamma", "digamma", "sinc", "sign", "special_entr"]


@pytest.mark.parametrize("name", BOTH + REAL)
def test_of_real_numbers(name: str) -> None:
    check(f"aten.{name}.default", FLOATS)
    check(f"aten.{name}.default", FLOATS.double())
    check(f"aten.{name}.default", FLOATS[3:].bfloat16())
    check(f"aten.{name}.default", T([0, 1, 2]))


@pytest.mark.parametrize("name", [*BOTH, "abs", "neg", "square", "isnan", "isinf", "isfinite"])
def test_of_complex_numbers(name: str) -> None:
    check(f"aten.{name}.default", COMPLEX)
    check(f"aten.{name}.default", T([0j, 1 + 0j, -1 + 0j, 2j]))


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round"])
def test_rounding(name: str) -> None:
    check(f"aten.{name}.default", T([0.5, 1.5, -0.5, 2.3, -2.7, NAN, INF]))
    check(f"aten.{name}.default", T([3, -2]))


def test_rounding_to_decimals() -> None:
    values = T([123.456, -0.05, 15.0, 2.5])
    for decimals in (2, -1, 0):
        check("aten.round.decimals", values, decimals=decimals)


def test_mantissa_and_exponent() -> None:
    check("aten.frexp.Tensor", T([0.0, 1.0, -3.7, 1e-40, 1e30, 0.5]))
    check("aten.frexp.Tensor", T([8.0, -0.1]).bfloat16())
