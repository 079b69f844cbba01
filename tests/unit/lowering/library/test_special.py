from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check

NAN, INF = float("nan"), float("inf")
PLACES = torch.tensor([0.1, 0.5, 1.0, 2.5, 7.0, 30.0, -0.3, -2.7])


@pytest.mark.parametrize("order", [0, 1, 2, 3, 4])
def test_polygamma(order: int) -> None:
    check("aten.polygamma.default", order, PLACES[:6] if order > 1 else PLACES)
    check("aten.polygamma.default", order, PLACES[:6].double())


def test_zeta() -> None:
    check(
        "aten.special_zeta.default",
        torch.tensor([2.0, 1.5, 3.0, 1.0, 0.5]),
        torch.tensor([1.0, 2.5, 0.3, 2.0, 1.0]),
    )
    check("aten.special_zeta.other_scalar", PLACES[3:5], 2)


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_incomplete_gamma(name: str) -> None:
    a = torch.tensor([0.5, 1.0, 10.0, 0.0, 0.0, 2.0, 3.0, -1.0, NAN, INF, 100.0])
    x = torch.tensor([0.2, 3.0, 8.0, 1.0, 0.0, 0.0, INF, 1.0, 1.0, 2.0, 120.0])
    check(f"aten.{name}.default", a, x)
    check(f"aten.{name}.default", a.double(), x.double())


def test_normal_distribution() -> None:
    check(
        "aten.special_ndtri.default", torch.tensor([0.0, 1e-6, 0.1, 0.5, 0.97, 1.0, -0.1, 1.2, NAN])
    )
    check("aten.special_log_ndtr.default", torch.tensor([-30.0, -5.0, -1.0, 0.0, 2.0, 8.0, INF]))


def test_scaled_complementary_error_function() -> None:
    places = torch.tensor([-5.0, -1.0, -0.1, 0.0, 0.3, 1.0, 5.0, 30.0, 1e4, INF, NAN])
    check("aten.special_erfcx.default", places)
    check("aten.special_erfcx.default", places.double())


def test_multivariate_gamma() -> None:
    check("aten.mvlgamma.default", torch.tensor([3.0, 5.5]), 3)
