from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check

NAMES = [
    "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v",
    "chebyshev_polynomial_w", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w", "hermite_polynomial_h",
    "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
]  # fmt: skip
PLACES = torch.tensor([0.3, -0.7, 1.0, -1.0, 1.5, 0.0, 0.9])


def near(expected: list[torch.Tensor], actual: list[torch.Tensor]) -> None:
    torch.testing.assert_close(actual[0], expected[0], rtol=2e-5, atol=2e-5, equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_polynomials(name: str) -> None:
    degrees = torch.tensor([0.0, 1.0, 2.0, 3.0, 5.0, 9.0, -1.0])
    check(f"aten.special_{name}.default", PLACES, degrees, same=near)
    check(f"aten.special_{name}.default", PLACES[:, None], degrees, same=near)
    check(f"aten.special_{name}.n_scalar", PLACES, 4, same=near)
    check(f"aten.special_{name}.x_scalar", 0.4, degrees.long(), same=near)
