from __future__ import annotations

from typing import Any

import pytest
import torch
from scipy import special

from unit.lowering.library.against_eager import check, run

NAMES = [
    "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1",
    "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1", "spherical_bessel_j0", "airy_ai", "i0e", "i1", "i1e",
]  # fmt: skip
PLACES = torch.cat([torch.linspace(-12, 12, 97), torch.tensor([20.0, 40.0, -20.0, 1e-3])])
EDGES = torch.tensor([0.0, float("nan"), float("inf"), -1.0])


def near(expected: list[torch.Tensor], actual: list[torch.Tensor]) -> None:
    torch.testing.assert_close(actual[0], expected[0], rtol=3e-5, atol=2e-5, equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_bessel_functions(name: str) -> None:
    for places in (PLACES, PLACES.double()):
        check(f"aten.special_{name}.default", places, same=near)
    if name != "airy_ai":
        check(f"aten.special_{name}.default", EDGES, same=near)
    check(f"aten.special_{name}.default", torch.tensor([1, 2, 10]), same=near)


def test_i0_in_low_precision() -> None:
    check("aten.i0.default", torch.tensor([0.0, 1.0, -3.0]).bfloat16())


@pytest.mark.parametrize(
    "name, exact",
    [
        ("bessel_j0", special.j0), ("bessel_j1", special.j1), ("bessel_y0", special.y0),
        ("bessel_y1", special.y1), ("modified_bessel_k0", special.k0),
        ("modified_bessel_k1", special.k1), ("airy_ai", lambda x: special.airy(x)[0]),
    ],
)  # fmt: skip
def test_double_precision_is_that_of_scipy(name: str, exact: Any) -> None:
    """Eager is off by up to 2e-6 in float64, so it cannot be the measure."""
    places = torch.cat([torch.linspace(0.01, 12, 97), torch.tensor([20.0, 40.0])]).double()
    places = torch.cat([places, -places]) if name == "airy_ai" else places
    (found,) = run(f"aten.special_{name}.default", [places], places)
    wanted = torch.from_numpy(exact(places.numpy()))
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-13)
