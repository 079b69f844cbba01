"""Pooling, padding and resampling at their borders."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from parity import check_parity


@pytest.mark.parametrize("include_pad", [False, True])
@pytest.mark.parametrize("ceil", [False, True])
def test_divisors_of_average_pooling(ceil: bool, include_pad: bool) -> None:
    x = torch.randn(1, 2, 6, 8, requires_grad=True)
    check_parity(
        lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=ceil, count_include_pad=include_pad),
        x,
        grad=True,
    )
    volume = torch.randn(1, 1, 5, 6, 7, requires_grad=True)
    check_parity(
        lambda x: F.avg_pool3d(x, 3, 2, 1, ceil_mode=ceil, count_include_pad=include_pad),
        volume,
        grad=True,
    )


def test_given_divisor() -> None:
    x = torch.randn(1, 2, 6, 8, requires_grad=True)
    check_parity(lambda x: F.avg_pool2d(x, 2, divisor_override=3), x, grad=True)


def test_adaptive_pooling_of_uneven_sizes() -> None:
    x = torch.randn(1, 2, 7, 8, requires_grad=True)
    check_parity(lambda x: F.adaptive_avg_pool2d(x, (3, 5)), x, grad=True)
    check_parity(lambda x: F.adaptive_max_pool2d(x, (3, 5)), x, grad=True)


@pytest.mark.parametrize("mode", ["reflect", "circular", "replicate", "constant"])
def test_padding(mode: str) -> None:
    x = torch.randn(1, 2, 4, 5, requires_grad=True)
    check_parity(lambda x: F.pad(x, (2, 1, 0, 3), mode=mode), x, grad=True)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(7, 5), (9, 3)])
def test_resampling_to_uneven_sizes(mode: str, size: tuple[int, int]) -> None:
    x = torch.randn(1, 2, 4, 4, requires_grad=True)
    check_parity(lambda x: F.interpolate(x, size=size, mode=mode), x, grad=True)


def test_aligned_corners_and_grids() -> None:
    x = torch.randn(1, 2, 4, 4, requires_grad=True)
    check_parity(
        lambda x: F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=True),
        x,
        grad=True,
    )
    grid = torch.rand(1, 3, 3, 2) * 2 - 1
    check_parity(lambda x, g: F.grid_sample(x, g, align_corners=False), x, grid, grad=True)
