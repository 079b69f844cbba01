from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import overload, run

KINDS = [(torch.float32, False), (torch.complex64, False), (torch.complex64, True)]


def matrices(dtype: torch.dtype, hermitian: bool, size: int) -> torch.Tensor:
    """An indefinite one, one without a diagonal, and one whose upper triangle must not count."""
    torch.manual_seed(size)
    plain = torch.randn(3, size, size, dtype=dtype)
    whole = plain + (plain.mH if hermitian else plain.mT)
    whole[1].fill_diagonal_(0)
    whole[2] += torch.randn(size, size, dtype=dtype).triu(1)
    return whole


@pytest.mark.parametrize(("dtype", "hermitian"), KINDS)
@pytest.mark.parametrize("size", [1, 2, 9])
def test_factors_pivots_and_solutions(dtype: torch.dtype, hermitian: bool, size: int) -> None:
    whole = matrices(dtype, hermitian, size)
    expected = overload("aten.linalg_ldl_factor_ex.default")(whole, hermitian=hermitian)
    found = run("aten.linalg_ldl_factor_ex.default", expected, whole, hermitian=hermitian)
    for actual, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(actual, wanted, rtol=1e-4, atol=1e-4)
    assert (expected[1] < 0).any() or size == 1

    packed, pivots, info = expected
    regular = (info == 0).nonzero()[:, 0]
    right = torch.randn(len(regular), size, 2, dtype=dtype)
    call = (packed[regular], pivots[regular], right)
    wanted = overload("aten.linalg_ldl_solve.default")(*call, hermitian=hermitian)
    (actual,) = run("aten.linalg_ldl_solve.default", [wanted], *call, hermitian=hermitian)
    torch.testing.assert_close(actual, wanted, rtol=1e-3, atol=1e-3)


def test_number_of_the_first_pivot_that_is_0() -> None:
    whole = torch.diag(torch.tensor([2.0, 0.0, 3.0, 0.0]))
    expected = overload("aten.linalg_ldl_factor_ex.default")(whole)
    packed, pivots, info = run("aten.linalg_ldl_factor_ex.default", expected, whole)
    assert info == expected[2] == 2
    assert torch.equal(packed, expected[0])
    assert torch.equal(pivots, expected[1])


def test_nothing() -> None:
    for shape in ((0, 0), (0, 2, 2)):
        expected = overload("aten.linalg_ldl_factor_ex.default")(torch.zeros(shape))
        found = run("aten.linalg_ldl_factor_ex.default", expected, torch.zeros(shape))
        for actual, wanted in zip(found, expected, strict=True):
            assert (actual.shape, actual.dtype) == (wanted.shape, wanted.dtype)
