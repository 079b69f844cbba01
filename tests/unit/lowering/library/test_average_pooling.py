from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

from unit.lowering.library.against_eager import check, overload

IMAGE = torch.randn(2, 3, 7, 6, generator=torch.Generator().manual_seed(0))
CASES = list(itertools.product([True, False], [True, False], [None, 3]))


@pytest.mark.parametrize("ceil_mode, include_pad, divisor", CASES)
@pytest.mark.parametrize("geometry", [([3, 2], [2, 2], [1, 1]), ([2, 3], [3, 1], [0, 1])])
def test_avg_pool2d_and_its_gradient(
    geometry: Any, ceil_mode: bool, include_pad: bool, divisor: int | None
) -> None:
    options = (*geometry, ceil_mode, include_pad, divisor)
    check("aten.avg_pool2d.default", IMAGE, *options)
    grad = torch.randn(overload("aten.avg_pool2d.default")(IMAGE, *options).shape)
    check("aten.avg_pool2d_backward.default", grad, IMAGE, *options)


@pytest.mark.parametrize("ceil_mode, include_pad, divisor", CASES)
def test_avg_pool3d_and_its_gradient(
    ceil_mode: bool, include_pad: bool, divisor: int | None
) -> None:
    volume = torch.randn(2, 2, 5, 4, 6)
    options = ([2, 3, 2], [2, 2, 1], [1, 1, 0], ceil_mode, include_pad, divisor)
    check("aten.avg_pool3d.default", volume, *options)
    grad = torch.randn(overload("aten.avg_pool3d.default")(volume, *options).shape)
    check("aten.avg_pool3d_backward.default", grad, volume, *options)


def test_avg_pool_defaults_dtypes_and_infinities() -> None:
    check("aten.avg_pool2d.default", IMAGE[0], [2])
    check("aten.avg_pool2d.default", IMAGE.bfloat16(), [2], [], [1])
    check("aten.avg_pool2d.default", (IMAGE * 90).long(), [3, 3])
    check(
        "aten.avg_pool2d.default", torch.tensor([[[1.0, float("inf"), 2.0, 3.0]]]), [1, 2], [1, 1]
    )
    check("aten.avg_pool1d.default", IMAGE[0], [3], [2], [1], True, False)
