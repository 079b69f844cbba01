from __future__ import annotations

from typing import Any

import pytest
import torch

from neuron_compile.lowering.errors import UnsupportedOpError
from unit.lowering.library.against_eager import check

IMAGE = torch.randn(2, 3, 5, 6, generator=torch.Generator().manual_seed(0))
SIZES = [[7, 5], [10, 12], [3, 6]]
LINEAR = ["upsample_bilinear2d", "upsample_bicubic2d", "_upsample_bilinear2d_aa"]
LINEAR += ["_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa"]


def check_both(name: str, image: torch.Tensor, size: list[int], *options: Any) -> None:
    check(f"aten.{name}.default", image, size, *options)
    grad = torch.randn(*image.shape[:2], *size).to(image.dtype)
    check(f"aten.{name}_backward.default", grad, size, list(image.shape), *options)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["upsample_nearest", "_upsample_nearest_exact"])
def test_nearest(name: str, size: list[int]) -> None:
    check_both(name + "2d", IMAGE, size)
    check_both(name + "1d", IMAGE[0], size[1:])
    check_both(name + "3d", IMAGE[None], [2, *size])
    check_both(name + "2d", IMAGE, size, size[0] / 5 + 0.1, None)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("name", LINEAR)
def test_linear_and_cubic(name: str, size: list[int], align: bool) -> None:
    check_both(name, IMAGE, size, align)


def test_scales_are_used_where_they_are_given() -> None:
    for name in LINEAR:
        check_both(name, IMAGE, [7, 9], False, 1.5, 1.55)
    check_both("upsample_linear1d", IMAGE[0], [9], False, 1.55)
    check_both("upsample_trilinear3d", IMAGE[None], [4, 7, 9], True, None, 1.5, 1.55)
    check_both("upsample_trilinear3d", IMAGE[None], [4, 7, 9], False)


def test_other_dtypes() -> None:
    check("aten.upsample_bilinear2d.default", IMAGE.bfloat16(), [7, 9], False)
    check_both("upsample_bicubic2d", IMAGE.double(), [7, 9], False)
    whole = (IMAGE * 40 + 128).clamp(0, 255).to(torch.uint8)
    check("aten.upsample_nearest2d.default", whole, [7, 9])
    with pytest.raises(UnsupportedOpError, match="fixed point"):
        check("aten.upsample_bilinear2d.default", whole, [7, 9], False)


def test_strong_reduction_is_smoothed_over_many_elements() -> None:
    check_both("_upsample_bilinear2d_aa", torch.randn(1, 1, 40, 50), [2, 3], False)


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize(("size", "count"), [(8, 16), (9, 6), (12, 4), (7, 7), (30, 12)])
def test_maps_that_repeat_themselves(name: str, size: int, count: int) -> None:
    check_both(name, torch.randn(1, 2, 4, size), [6, count], False)
    check_both(name, torch.randn(1, 2, 4, size), [6, count], False, 1.5, count / size)
    check("aten.upsample_nearest1d.default", torch.randn(1, 2, size), [count])
