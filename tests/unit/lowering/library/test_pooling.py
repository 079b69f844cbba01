from __future__ import annotations

from typing import Any

import pytest
import torch

from unit.lowering.library.against_eager import check, overload

NAN, INF = float("nan"), float("inf")
IMAGE = torch.randn(2, 3, 7, 6, generator=torch.Generator().manual_seed(0))
GEOMETRIES: list[tuple[Any, ...]] = [
    ([3, 2],),
    ([3], [2], [1]),
    ([2, 3], [2, 1], [1, 1], [2, 1]),
    ([3], [2], [1], [1], True),
    ([2], [3], [0], [2], True),
    ([2, 2], [], [0, 0], [1, 1], True),
]


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_max_pool2d_and_its_gradient(geometry: tuple[Any, ...]) -> None:
    check("aten.max_pool2d_with_indices.default", IMAGE, *geometry)
    values, indices = overload("aten.max_pool2d_with_indices.default")(IMAGE, *geometry)
    full = [*geometry, *([[], [0], [1], False][len(geometry) - 1 :])]
    check(
        "aten.max_pool2d_with_indices_backward.default",
        torch.randn(values.shape), IMAGE, *full, indices,
    )  # fmt: skip


def test_max_pool2d_special_values() -> None:
    rows = torch.tensor([[[1.0, NAN, 2.0, NAN], [-INF, -INF, -INF, -INF], [3.0, 3.0, 1.0, 1.0]]])
    check("aten.max_pool2d_with_indices.default", rows, [3, 2], [1, 1], [1, 1])
    check("aten.max_pool2d_with_indices.default", rows, [1, 2])
    check("aten.max_pool2d_with_indices.default", (IMAGE * 50).long(), [2], [2], [1])
    check("aten.max_pool2d_with_indices.default", IMAGE.bfloat16(), [2], [2], [1])
    check("aten.max_pool2d.default", IMAGE, [2, 2])
    check("aten.max_pool2d_with_indices.default", torch.empty(0, 2, 4, 4), [2, 2])


def test_max_pool_with_a_large_window() -> None:
    image = torch.randn(1, 2, 20, 11)
    check("aten.max_pool2d_with_indices.default", image, [20, 11])
    check("aten.max_pool2d_with_indices.default", image, [9, 9], [2, 3], [4, 4], [1, 1], True)


@pytest.mark.parametrize("ceil_mode", [True, False])
def test_max_pool3d_and_its_gradient(ceil_mode: bool) -> None:
    volume = torch.randn(2, 2, 5, 4, 6)
    geometry = ([2, 3, 2], [2, 2, 1], [1, 1, 0], [1, 1, 2], ceil_mode)
    check("aten.max_pool3d_with_indices.default", volume, *geometry)
    values, indices = overload("aten.max_pool3d_with_indices.default")(volume, *geometry)
    check(
        "aten.max_pool3d_with_indices_backward.default",
        torch.randn(values.shape), volume, *geometry, indices,
    )  # fmt: skip


def test_unpool() -> None:
    values, indices = overload("aten.max_pool2d_with_indices.default")(IMAGE, [2, 2])
    check("aten.max_unpool2d.default", values, indices, [7, 6])
    check("aten.max_unpool2d.default", values[0], indices[0], [8, 9])
    volume = torch.randn(2, 4, 4, 6)
    values, indices = overload("aten.max_pool3d_with_indices.default")(volume, [2, 2, 2])
    check("aten.max_unpool3d.default", values, indices, [4, 4, 6], [2, 2, 2], [0, 0, 0])
