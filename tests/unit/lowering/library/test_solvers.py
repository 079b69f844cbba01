from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check

GENERATOR = torch.Generator().manual_seed(0)
DTYPES = [torch.float32, torch.float64, torch.complex64]


def matrix(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype, generator=GENERATOR)


def regular(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return matrix(*shape, dtype=dtype) + 4 * torch.eye(shape[-1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_triangular(dtype: torch.dtype) -> None:
    values, right = regular(2, 3, 3, dtype=dtype), matrix(2, 3, 2, dtype=dtype)
    for upper in (True, False):
        for unit in (True, False):
            check(
                "aten.linalg_solve_triangular.default",
                values,
                right,
                upper=upper,
                unitriangular=unit,
            )
            check("aten.triangular_solve.default", right, values, upper, True, unit)
        check("aten.linalg_solve_triangular.default", values, right.mT, upper=upper, left=False)
        check("aten.linalg_solve_triangular.default", values[0], right, upper=upper)


@pytest.mark.parametrize("dtype", DTYPES)
def test_general_systems(dtype: torch.dtype) -> None:
    values, right = regular(2, 3, 3, dtype=dtype), matrix(2, 3, 2, dtype=dtype)
    check("aten._linalg_solve_ex.default", values, right)
    check("aten._linalg_solve_ex.default", values, right.mT, left=False)
    check("aten._linalg_solve_ex.default", values, right[..., 0])
    check("aten._linalg_solve_ex.default", values[0], right[0, :, 0])
    check("aten.linalg_inv_ex.default", values)
    check("aten.linalg_inv_ex.default", torch.empty(0, 0, dtype=dtype))
    packed, pivots, _ = torch.linalg.lu_factor_ex(values)
    for use_adjoint in (True, False):
        check("aten.linalg_lu_solve.default", packed, pivots, right, adjoint=use_adjoint)
        check(
            "aten.linalg_lu_solve.default",
            packed,
            pivots,
            right.mT,
            left=False,
            adjoint=use_adjoint,
        )
    check("aten.linalg_lu_solve.default", packed[0], pivots[0], right)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [True, False])
def test_cholesky_systems(dtype: torch.dtype, upper: bool) -> None:
    root = regular(2, 3, 3, dtype=dtype)
    factor = torch.linalg.cholesky(root @ root.mH, upper=upper)
    check("aten.cholesky_solve.default", matrix(2, 3, 2, dtype=dtype), factor, upper)
    check("aten.cholesky_inverse.default", factor, upper)


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponential(dtype: torch.dtype) -> None:
    check("aten.linalg_matrix_exp.default", matrix(2, 3, 3, dtype=dtype))
    check("aten.linalg_matrix_exp.default", 0.01 * matrix(3, 3, dtype=dtype))
    check("aten.linalg_matrix_exp.default", torch.empty(2, 0, 0, dtype=dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_product_with_reflectors(dtype: torch.dtype) -> None:
    reflectors, tau = torch.geqrf(matrix(4, 3, dtype=dtype))
    for transpose in (True, False):
        check("aten.ormqr.default", reflectors, tau, matrix(4, 2, dtype=dtype), True, transpose)
        check("aten.ormqr.default", reflectors, tau, matrix(2, 4, dtype=dtype), False, transpose)


def test_pseudoinverse() -> None:
    low_rank = matrix(2, 4, 2) @ matrix(2, 2, 3)
    check("aten.linalg_pinv.atol_rtol_tensor", low_rank)
    check("aten.linalg_pinv.atol_rtol_float", low_rank, rtol=0.1)
    check(
        "aten.linalg_pinv.atol_rtol_tensor",
        low_rank,
        atol=torch.tensor(0.5),
        rtol=torch.tensor([0.1, 0.2]),
    )
    check("aten.linalg_pinv.atol_rtol_tensor", low_rank @ low_rank.mT, hermitian=True)
    check("aten.linalg_pinv.atol_rtol_tensor", torch.empty(0, 3))
