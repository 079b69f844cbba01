from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check

NAN = float("nan")


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64, torch.bfloat16, torch.int64])
def test_products(dtype: torch.dtype) -> None:
    def array(*shape: int) -> torch.Tensor:
        values = torch.randn(*shape, dtype=dtype if dtype.is_complex else torch.float32)
        return (values * 3).to(dtype)

    check("aten.mm.default", array(3, 4), array(4, 2))
    check("aten.bmm.default", array(2, 3, 4), array(2, 4, 2))
    check("aten.mv.default", array(3, 4), array(4))
    check("aten.dot.default", array(4), array(4))
    check("aten.vdot.default", array(4), array(4))
    for scale in ({}, {"beta": 2, "alpha": 3}, {"beta": 0}):
        check("aten.addmm.default", array(2), array(3, 4), array(4, 2), **scale)
        check("aten.addmv.default", array(3), array(3, 4), array(4), **scale)
        check("aten.baddbmm.default", array(2, 3, 2), array(2, 3, 4), array(2, 4, 2), **scale)
        if dtype is not torch.bfloat16:  # eager rounds after each batch, which cancels digits
            check("aten.addbmm.default", array(3, 2), array(2, 3, 4), array(2, 4, 2), **scale)
        check("aten.addr.default", array(3, 2), array(3), array(2), **scale)


def test_beta_of_zero_drops_nan_and_empty_products_are_zero() -> None:
    check("aten.addmm.default", torch.full((2,), NAN), torch.randn(3, 4), torch.randn(4, 2), beta=0)
    check("aten.mm.default", torch.empty(2, 0), torch.empty(0, 3))


@pytest.mark.parametrize("p", [0, 1, 2, 2.5, float("inf"), float("-inf")])
def test_distance(p: float) -> None:
    check("aten.dist.default", torch.randn(3, 1), torch.randn(4), p)


def test_trilinear() -> None:
    left, middle, right = torch.randn(5, 3), torch.randn(2, 3, 4), torch.randn(5, 4)
    check("aten._trilinear.default", left, middle, right, [1, 3], [0], [1, 2], [2, 3])
    check("aten._trilinear.default", left, middle, right, [1, 3], [0], [1, 2], [])
    one = torch.randn(1, 3)
    check("aten._trilinear.default", one, middle, right, [1, 3], [0], [1, 2], [0, 2])
