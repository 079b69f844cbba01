"""Complex numbers on the host."""

from __future__ import annotations

import torch
from torch import Tensor

from parity import check_parity

NUMBERS = torch.view_as_complex(torch.tensor([[1.0, 2.0], [-0.5, 0.25], [0.0, -3.0]]))


def test_arithmetic_and_parts() -> None:
    check_parity(lambda x: torch.view_as_real(x * x.conj() + 1j) * 1.0, NUMBERS)

    def parts(x: Tensor) -> tuple[Tensor, ...]:
        return x.abs(), x.real * 1, x.imag * 1, torch.polar(x.abs(), x.angle())

    check_parity(parts, NUMBERS)


def test_modulus_has_a_gradient() -> None:
    check_parity(lambda x: x.abs().sum(), NUMBERS.clone().requires_grad_(), grad=True)


def test_spectrum_and_back() -> None:
    x = torch.randn(8, requires_grad=True)
    check_parity(lambda x: torch.fft.irfft(torch.fft.rfft(x)), x, grad=True, bound=1e-5)


def test_gradient_of_a_product_with_a_number() -> None:
    x = torch.randn(8, requires_grad=True)
    check_parity(lambda x: torch.fft.irfft(torch.fft.rfft(x) * 2j), x, grad=True, bound=1e-5)


def test_lazily_conjugated_argument() -> None:
    check_parity(lambda x: x * 2, NUMBERS.conj())
