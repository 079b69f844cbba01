from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check, run

T = torch.tensor
ROWS = torch.arange(12.0).view(3, 4)
PLACES = T([[0, 2, 2], [1, 0, 1]])
REDUCTIONS = ["sum", "prod", "mean", "amax", "amin"]


def test_gather() -> None:
    check("aten.gather.default", ROWS, 0, T([[0, 2, 1], [1, 1, 0]]))
    check("aten.gather.default", ROWS, -1, T([[3], [0]]))
    check("aten.gather.default", T(5.0), 0, T([0, 0]))
    check("aten.gather.default", T(5.0), 0, T(0))
    check("aten.gather.default", ROWS, 1, torch.empty(0, 3, dtype=torch.int64))


def test_scatter() -> None:
    check("aten.scatter.src", ROWS, 1, PLACES, torch.randn(3, 4))
    check("aten.scatter.value", ROWS.long(), 0, T([[0, 2], [1, 1]]), 7)
    check("aten.scatter.reduce", ROWS, 1, PLACES, torch.randn(3, 4), reduce="add")
    check("aten.scatter.value_reduce", ROWS, 1, PLACES, 3, reduce="multiply")
    check("aten.scatter_add.default", ROWS, 1, PLACES, torch.randn(3, 4))
    check("aten.scatter_add.default", T(1.0), 0, T([0, 0]), T([2.0, 3.0]))


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_scatter_reduce(reduce: str, include_self: bool, dtype: torch.dtype) -> None:
    source = T([[5.0, 2.0, 3.0], [7.0, 1.0, 4.0]]).to(dtype)
    check(
        "aten.scatter_reduce.two", ROWS.to(dtype), 0, T([[0, 2, 2], [0, 0, 2]]), source, reduce,
        include_self=include_self,
    )  # fmt: skip


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_scatter_reduce_keeps_nan(reduce: str) -> None:
    source = T([1.0, float("nan"), -2.0])
    check("aten.scatter_reduce.two", T([1.0, 2.0]), 0, T([0, 0, 1]), source, reduce)


def test_scatter_add_of_bfloat16_does_not_stall() -> None:
    ones = torch.ones(600, dtype=torch.bfloat16)
    zero = torch.zeros(1, dtype=torch.bfloat16)
    (total,) = run("aten.scatter_add.default", [zero], zero, 0, torch.zeros(600).long(), ones)
    assert total.item() == 600


@pytest.mark.parametrize("reduce", ["prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_index_reduce(reduce: str, include_self: bool) -> None:
    source = torch.randn(3, 3)
    check(
        "aten.index_reduce.default",
        ROWS,
        1,
        T([0, 3, 0]),
        source,
        reduce,
        include_self=include_self,
    )
