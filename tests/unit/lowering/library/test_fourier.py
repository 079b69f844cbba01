from __future__ import annotations

import itertools

import pytest
import torch

from unit.lowering.library.against_eager import check, run

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


@pytest.mark.parametrize("normalization", [0, 1, 2])
def test_many_dimensions_in_any_order(normalization: int) -> None:
    values = torch.randn(2, 3, 4, 5, 6)
    spectrum = torch.complex(values, values.flip(0))
    for dims in ([0], [1, 3], [4, 0, 2], [3, 1, 0, 2], [0, 1, 2, 3, 4]):
        check("aten._fft_c2c.default", spectrum, dims, normalization, True, same=close)
        check("aten._fft_c2c.default", spectrum, dims, normalization, False, same=close)
        check("aten._fft_r2c.default", values, dims, normalization, True, same=close)
        check("aten._fft_r2c.default", values, dims, normalization, False, same=close)
        half = torch.ops.aten._fft_r2c(values, dims, 0, True)
        size = values.shape[dims[-1]]
        check("aten._fft_c2r.default", half, dims, normalization, size, same=close)


def close(expected: list[torch.Tensor], actual: list[torch.Tensor]) -> None:
    torch.testing.assert_close(actual[0], expected[0].contiguous(), rtol=1e-4, atol=1e-4)


def test_an_empty_batch_is_one_although_eager_fails() -> None:
    empty, real = torch.empty(0, 4, dtype=torch.complex64), torch.empty(0, 4)
    for operator, wanted, arguments in (
        ("aten._fft_c2c.default", empty, (empty, [1], 1, True)),
        ("aten._fft_r2c.default", empty[:, :3], (real, [1], 0, True)),
        ("aten._fft_c2r.default", torch.empty(0, 6), (empty, [1], 2, 6)),
    ):
        (found,) = run(operator, [wanted], *arguments)
        assert found.shape == wanted.shape
