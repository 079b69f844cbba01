from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check

NAN, INF = float("nan"), float("inf")
SPECIAL = torch.tensor([[1.0, NAN, -INF, 0.0, -0.0, INF], [2.0, 2.0, NAN, NAN, 1.0, 2.0]])
DTYPES = [
    torch.float32, torch.float64, torch.bfloat16, torch.float16,
    torch.int64, torch.int16, torch.uint8, torch.bool,
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_sort_is_stable_in_every_dtype(dtype: torch.dtype, descending: bool) -> None:
    values = torch.tensor([[3, 1, 2, 1, 200, 0], [1, 1, 0, 7, 7, 5]]).to(dtype)
    check("aten.sort.stable", values, stable=True, dim=1, descending=descending)


@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize("descending", [False, True])
def test_sort_puts_nan_last_and_ties_zeros(dim: int, descending: bool) -> None:
    check("aten.sort.stable", SPECIAL, stable=True, dim=dim, descending=descending)


def test_sort_of_scalar_and_empty() -> None:
    check("aten.sort.default", torch.tensor(3.0))
    check("aten.sort.default", torch.empty(2, 0))
    check("aten.sort.stable", torch.empty(0, 3), stable=False, dim=0)


@pytest.mark.parametrize("largest", [True, False])
def test_topk(largest: bool) -> None:
    check("aten.topk.default", torch.randn(3, 7).permute(1, 0), 2, 0, largest)
    check("aten.topk.default", torch.tensor([1.0, NAN, 3.0]), 2, -1, largest)
    check("aten.topk.default", torch.tensor(1.0), 1)
    check("aten.topk.default", torch.randn(3, 4), 0)


@pytest.mark.parametrize("keepdim", [True, False])
def test_kthvalue(keepdim: bool) -> None:
    check("aten.kthvalue.default", torch.randperm(12).view(3, 4), 2, 0, keepdim)
    check("aten.kthvalue.default", torch.tensor([NAN, 1.0, 0.0]), 3, 0, keepdim)
    check("aten.kthvalue.default", torch.tensor(2.0), 1, 0, keepdim)


@pytest.mark.parametrize("operator", ["aten.median.dim", "aten.nanmedian.dim"])
@pytest.mark.parametrize("keepdim", [True, False])
def test_median_of_a_dimension(operator: str, keepdim: bool) -> None:
    distinct = torch.tensor([[4.0, NAN, 1.0, 3.0], [4.0, 2.0, 1.0, 3.0]])
    check(operator, distinct, 1, keepdim)
    check(operator, torch.randperm(15).view(3, 5), -1, keepdim)
    check(operator, torch.tensor(2.0), 0, keepdim)
    check(operator, torch.tensor([[1.0, NAN], [NAN, 5.0]]), 0, keepdim)


@pytest.mark.parametrize("operator", ["aten.median.default", "aten.nanmedian.default"])
def test_median_of_all(operator: str) -> None:
    check(operator, SPECIAL)
    check(operator, torch.randn(4, 5))
    check(operator, torch.empty(0))
    check(operator, torch.full((3,), NAN))
    check(operator, torch.tensor(5))


@pytest.mark.parametrize("keepdim", [True, False])
def test_mode(keepdim: bool) -> None:
    check("aten.mode.default", torch.tensor([[3, 1, 3, 1, 2], [5, 4, 4, 4, 5]]), 1, keepdim)
    check("aten.mode.default", torch.tensor(4), 0, keepdim)
    check("aten.mode.default", torch.tensor([[1.0, 2.0], [1.0, 3.0]]), 0, keepdim)
