from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check

Z = torch.randn(3, 4, 5, dtype=torch.complex64)


@pytest.mark.parametrize("values", [Z, torch.arange(60).view(3, 4, 5)])
def test_views_and_copies(values: torch.Tensor) -> None:
    check("aten.clone.default", values)
    check("aten.view.default", values, [4, -1])
    check("aten.permute.default", values, [2, 0, -2])
    check("aten.transpose.int", values, 0, -1)
    check("aten.t.default", values[0])
    check("aten.expand.default", values[:, None], [2, -1, 6, -1, 5])
    check("aten.repeat.default", values, [2, 1, 2, 1])
    check("aten.unsqueeze.default", values, -1)
    check("aten.select.int", values, 1, -1)
    check("aten.slice.Tensor", values, 1, -3, 2**63 - 1, 2)
    check("aten.slice.Tensor", values, 0, 5, 9)
    check("aten.flip.default", values, [0, -1])
    check("aten.tril.default", values, -1)
    check("aten.triu.default", values, 1)


def test_squeeze() -> None:
    values = Z[:1, :, :1]
    check("aten.squeeze.default", values)
    check("aten.squeeze.dim", values, 1)
    check("aten.squeeze.dims", values, [0, 1, 2])


def test_casts_of_complex() -> None:
    check("aten._to_copy.default", Z, dtype=torch.complex128)
    check("aten._to_copy.default", torch.randn(3), dtype=torch.complex64)


def test_writing_into_a_view() -> None:
    check("aten.slice_scatter.default", Z, Z[:, :2], 1, 0, 4, 2)
    check("aten.select_scatter.default", Z, Z[0], 0, -1)
    check("aten.diagonal_scatter.default", Z, torch.randn(3, 4, dtype=torch.complex64), 1, 1, 2)


@pytest.mark.parametrize("offset", [0, 2, -1, 9, -9])
def test_diagonal(offset: int) -> None:
    check("aten.diagonal.default", Z, offset, 0, -1)
    check("aten.diagonal.default", torch.randn(3, 4), offset)


def test_joins_and_splits() -> None:
    check("aten.cat.default", [Z, Z[:, :2]], 1)
    check("aten.cat.default", [torch.empty(0), torch.randn(2, 3)], -1)
    check("aten.cat.default", [torch.randn(2), torch.arange(3)])
    check("aten.stack.default", [Z, Z], -1)
    check("aten.split_with_sizes.default", Z, [1, 3], 1)
    check("aten.split.Tensor", Z, 2, -1)
    check("aten.unbind.int", Z, 1)


def test_roll() -> None:
    check("aten.roll.default", Z, [1, -7], [0, 2])
    check("aten.roll.default", Z, [7])
    check("aten.roll.default", torch.empty(0, 3), [1], [0])


def test_padding() -> None:
    check("aten.constant_pad_nd.default", Z, [1, 2, -1, 0], 3)
    check("aten.constant_pad_nd.default", torch.empty(2, 0), [1, 1], 0.5)


def test_filling() -> None:
    check("aten.full.default", [2, 3], 1 + 2j)
    check("aten.full_like.default", Z, 2)


def test_unfold_and_its_gradient() -> None:
    check("aten.unfold.default", Z, 2, 3, 1)
    check("aten.unfold.default", torch.randn(9), 0, 4, 3)
    check("aten.unfold.default", torch.tensor(3.0), 0, 1, 1)
    check("aten.unfold_backward.default", torch.randn(2, 3, 4), [2, 6], 1, 4, 1)
