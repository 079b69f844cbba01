from __future__ import annotations

from typing import Any

import pytest
import torch

from unit.lowering.library.against_eager import check, overload, run

GENERATOR = torch.Generator().manual_seed(0)
DTYPES = [torch.float32, torch.float64, torch.complex64]


def matrix(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype, generator=GENERATOR)


def positive(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    root = matrix(*shape, dtype=dtype)
    return root @ root.mH + torch.eye(shape[-1])


def computed(
    operator: str, *args: Any, **kwargs: Any
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    expected = list(overload(operator)(*args, **kwargs))
    return expected, run(operator, expected, *args, **kwargs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [True, False])
def test_cholesky(dtype: torch.dtype, upper: bool) -> None:
    check("aten.linalg_cholesky_ex.default", positive(2, 4, 4, dtype=dtype), upper=upper)
    check("aten.cholesky.default", positive(3, 3, dtype=dtype), upper)
    check("aten.linalg_cholesky_ex.default", torch.empty(2, 0, 0, dtype=dtype), upper=upper)


def test_cholesky_names_the_first_bad_minor() -> None:
    values = torch.stack(
        [
            torch.diag(torch.tensor(d))
            for d in ([1.0, 2.0, -1.0], [-1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 0.0, 1.0])
        ]
    )
    _, info = run(
        "aten.linalg_cholesky_ex.default", [values, torch.empty(4, dtype=torch.int32)], values
    )
    assert info.tolist() == [3, 1, 0, 2]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 4, 3), (3, 5), (3, 3)])
def test_qr_and_its_parts(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    values = matrix(*shape, dtype=dtype)
    for mode in ("reduced", "complete", "r"):
        check("aten.linalg_qr.default", values, mode)
    check("aten.geqrf.default", values)
    reflectors, tau = torch.geqrf(values)
    if shape[-2] >= shape[-1]:
        check("aten.linalg_householder_product.default", reflectors, tau)


def test_qr_of_empty() -> None:
    for mode in ("reduced", "complete", "r"):
        check("aten.linalg_qr.default", torch.empty(3, 0), mode)
        check("aten.linalg_qr.default", torch.empty(0, 3), mode)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [True, False])
def test_svd(dtype: torch.dtype, full: bool) -> None:
    for shape in ((2, 4, 3), (3, 5)):
        values = matrix(*shape, dtype=dtype)
        expected, (u, s, vh) = computed("aten._linalg_svd.default", values, full)
        torch.testing.assert_close(s, expected[1])
        count = s.shape[-1]
        torch.testing.assert_close(
            u[..., :count] * s[..., None, :].to(dtype) @ vh[..., :count, :],
            values,
            atol=1e-5,
            rtol=1e-5,
        )
        torch.testing.assert_close(
            u.mH @ u, torch.eye(u.shape[-1], dtype=dtype).expand_as(u.mH @ u), atol=1e-5, rtol=0
        )
    check("aten._linalg_svd.default", torch.empty(2, 0, dtype=dtype), full)


def test_singular_values_alone() -> None:
    check("aten._linalg_svd.default", matrix(4, 3), False, False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_eigh(dtype: torch.dtype, triangle: str) -> None:
    values = matrix(2, 4, 4, dtype=dtype)
    part = values.tril() if triangle == "L" else values.triu().mH
    whole = part + part.tril(-1).mH
    whole.diagonal(dim1=-2, dim2=-1).copy_(whole.diagonal(dim1=-2, dim2=-1).real)
    expected, (found, vectors) = computed("aten._linalg_eigh.default", values, triangle)
    torch.testing.assert_close(found, expected[0])
    torch.testing.assert_close(
        whole @ vectors, vectors * found[..., None, :].to(dtype), atol=1e-4, rtol=1e-4
    )
    check("aten._linalg_eigh.default", values, triangle, False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eig(dtype: torch.dtype) -> None:
    values = matrix(2, 4, 4, dtype=dtype)
    (_, _), (found, vectors) = computed("aten.linalg_eig.default", values)
    torch.testing.assert_close(
        values.to(found.dtype) @ vectors, vectors * found[..., None, :], atol=1e-4, rtol=1e-4
    )
    torch.testing.assert_close(vectors.norm(dim=-2), torch.ones(2, 4, dtype=found.real.dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 4, 4), (3, 5), (5, 3), (2, 0, 0)])
def test_lu(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    values = matrix(*shape, dtype=dtype)
    check("aten.linalg_lu_factor_ex.default", values)
    check("aten.linalg_lu.default", values)
    packed, pivots, _ = torch.linalg.lu_factor_ex(values)
    for data, places in ((True, True), (True, False), (False, True)):
        check("aten.lu_unpack.default", packed, pivots, data, places)
    if shape[-1] == shape[-2]:
        check("aten._linalg_det.default", values)
        check("aten._linalg_slogdet.default", values)
        check("aten._linalg_det.default", values.mT)
        check("aten._linalg_slogdet.default", values.mT)


def test_singular_matrices() -> None:
    values = torch.tensor([[1.0, 2.0], [2.0, 4.0]])
    for operator in ("aten.linalg_lu_factor_ex", "aten._linalg_det", "aten._linalg_slogdet"):
        check(f"{operator}.default", values)
