"""Where terms cancel, what is left is the roundings of each operator: those of eager."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from parity import check_parity

CASES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "a product less another": lambda x, y: x * y - 0.3 * x,
    "a square less one": lambda x, y: 1 - (x / x.abs() + x * 1e-7) ** 2,
    "quotients of a quotient": lambda x, y: x / y / y - x / (y * y),
    "a difference of products": lambda x, y: x * y - y * x.flip(0),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_left_of_small_tensors_is_exact(case: str) -> None:
    torch.manual_seed(5)
    x, y = torch.randn(6, 20), torch.randn(6, 20)
    check_parity(CASES[case], x, y, bound=0.0)


@pytest.mark.parametrize("shape", [(2, 2), (4, 3), (3, 5, 2)])
def test_small_products_of_matrices_are_exact(shape: tuple[int, ...]) -> None:
    torch.manual_seed(6)
    x = torch.randn(shape)
    check_parity(lambda x: x @ x.mT @ x, x, bound=0.0)


def test_gradient_of_a_running_logarithm() -> None:
    x = torch.tensor([[100.0, -3.0, 99.0, 2.0], [5.0, 80.0, 1.0, -90.0]]).requires_grad_()
    check_parity(lambda x: x.logcumsumexp(1), x, grad=True, bound=1e-6)
