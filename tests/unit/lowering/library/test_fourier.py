from __future__ import annotations

import itertools

import pytest
import torch

from unit.lowering.library.against_eager import check

Z = torch.randn(3, 4, 5, dtype=torch.complex64, generator=torch.Generator().manual_seed(0))
DIMS = [[2], [0, 1], [1, 2], [0, 1, 2]]


@pytest.mark.parametrize("dim, normalization", list(itertools.product(DIMS, [0, 1, 2])))
def test_transforms(dim: list[int], normalization: int) -> None:
    for flag in (True, False):
        check("aten._fft_c2c.default", Z, dim, normalization, flag)
        check("aten._fft_r2c.default", Z.real.contiguous(), dim, normalization, flag)
    for size in (2 * Z.shape[dim[-1]] - 2, 2 * Z.shape[dim[-1]] - 1):
        check("aten._fft_c2r.default", Z, dim, normalization, size)


def test_double_precision() -> None:
    check("aten._fft_c2c.default", Z.to(torch.complex128), [1], 1, True)
    check("aten._fft_r2c.default", torch.randn(6, dtype=torch.float64), [0], 0, True)
