from __future__ import annotations

import pytest
import torch

from neuron_compile.lowering.errors import UnsupportedOpError
from unit.lowering.library.against_eager import check, run

T = torch.tensor
ROWS = torch.arange(12.0).view(3, 4)
CUBE = torch.arange(24.0).view(2, 3, 4)
MASK = T([[True, False, True, False], [False] * 4, [True, True, False, False]])


def test_index_wraps_negative_and_places_the_result_as_numpy() -> None:
    check("aten.index.Tensor", ROWS, [T([-1, 0, -3])])
    check("aten.index.Tensor", ROWS, [None, T([[-2, 1], [0, -4]])])
    check("aten.index.Tensor", CUBE, [T([1, -1]), None, T([0, 3])])
    check("aten.index.Tensor", CUBE, [None, T([[2], [0]]), T([1, -1])])
    check("aten.index.Tensor", ROWS.bool(), [T([], dtype=torch.int64)])
    check("aten.index.Tensor", ROWS, [T(-1)])


def test_index_by_mask_is_refused() -> None:
    with pytest.raises(UnsupportedOpError, match="depends on data"):
        run("aten.index.Tensor", [torch.empty(4)], ROWS, [MASK])


@pytest.mark.parametrize("accumulate", [True, False])
def test_index_put(accumulate: bool) -> None:
    check("aten.index_put.default", ROWS, [T([-1, 1])], T(9.0), accumulate)
    check("aten.index_put.default", ROWS, [None, T([0, -2])], torch.randn(3, 2), accumulate)
    check(
        "aten.index_put.default", CUBE, [T([1, 0]), None, T([0, 3])], torch.randn(2, 3), accumulate
    )
    check("aten.index_put.default", ROWS.long(), [T([0, 2]), T([1, -1])], T([5, 6]), accumulate)


def test_index_put_accumulates_duplicates_in_float32() -> None:
    many = torch.zeros(300, dtype=torch.int64)
    ones = torch.full((300,), 1.0, dtype=torch.bfloat16)
    (total,) = run("aten.index_put.default", [ones[:2]], ones[:2] * 0, [many], ones, True)
    assert total.tolist() == [300.0, 0.0]


@pytest.mark.parametrize("accumulate", [True, False])
def test_index_put_by_mask(accumulate: bool) -> None:
    check("aten.index_put.default", ROWS, [MASK], T(9.0), accumulate)
    check("aten.index_put.default", ROWS, [MASK], torch.arange(4.0), accumulate)
    check("aten.index_put.default", ROWS, [MASK[:, 0]], torch.randn(2, 4), accumulate)
    check("aten.index_put.default", ROWS, [MASK[:, 0]], torch.randn(1, 4), accumulate)
    check("aten.index_put.default", ROWS, [MASK[:, 0]], torch.randn(4), accumulate)
    check("aten.index_put.default", ROWS, [None, MASK[0]], T(1.0), accumulate)
    check("aten.index_put.default", ROWS, [None, MASK[0]], torch.randn(3, 2), accumulate)
    check("aten.index_put.default", ROWS, [None, MASK[0]], torch.randn(3, 1), accumulate)
    check("aten.index_put.default", ROWS, [MASK[:, 0], T([0, -1])], T([7.0, 8.0]), accumulate)
    check("aten.index_put.default", ROWS, [MASK[:, 0], T([1])], T(7.0), accumulate)
    check("aten.index_put.default", CUBE, [None, MASK], torch.randn(2, 4), accumulate)


def test_index_select_fill_copy_add() -> None:
    check("aten.index_select.default", ROWS, 1, T([3, 0, 0]))
    check("aten.index_select.default", T(3.0), 0, T([0]))
    check("aten.index_fill.int_Scalar", ROWS, 1, T([0, -1]), 2.5)
    check("aten.index_fill.int_Tensor", ROWS.long(), 0, T(1), T(7))
    check("aten.index_fill.int_Scalar", T(3.0), 0, T([0]), 1)
    check("aten.index_copy.default", ROWS, 0, T([2, 0]), torch.randn(2, 4))
    check("aten.index_copy.default", T(1.0), 0, T([0]), T(2.0))
    check("aten.index_add.default", ROWS, 1, T([1, 1]), torch.randn(3, 2), alpha=0.5)
    check("aten.index_add.default", ROWS.to(torch.uint8), 0, T([1]), ROWS[:1].to(torch.uint8) + 250)


def test_take_and_put() -> None:
    check("aten.take.default", ROWS, T([[0, -1], [5, 5]]))
    for accumulate in (True, False):
        check("aten.put.default", ROWS, T([1, -1]), T([3.0, 4.0]), accumulate)
    check("aten.put.default", ROWS, T([1, 1]), T([3.0, 4.0]), True)


def test_masked_scatter_and_its_gradient() -> None:
    check("aten.masked_scatter.default", ROWS, MASK, torch.randn(2, 3))
    check("aten.masked_scatter.default", ROWS, MASK[0], torch.randn(10))
    check("aten.masked_scatter.default", ROWS, ~MASK & MASK, torch.randn(0))
    check("aten.masked_scatter_backward.default", ROWS, MASK, [2, 4])


def test_embedding_and_its_gradient() -> None:
    check("aten.embedding.default", ROWS, T([[0, 2], [1, 1]]))
    grad = torch.randn(2, 3, 4)
    places = T([[0, 2, 2], [1, 2, 4]])
    for padding, by_frequency in ((-1, False), (2, False), (-1, True), (4, True)):
        check("aten.embedding_dense_backward.default", grad, places, 6, padding, by_frequency)
