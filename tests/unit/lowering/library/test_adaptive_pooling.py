from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check, overload

NAN, INF = float("nan"), float("inf")
IMAGE = torch.randn(2, 3, 7, 6, generator=torch.Generator().manual_seed(0))
VOLUME = torch.randn(2, 5, 4, 7, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("output", [[3, 5], [7, 6], [1, 1], [9, 4]])
def test_adaptive_pool2d_and_gradients(output: list[int]) -> None:
    check("aten._adaptive_avg_pool2d.default", IMAGE, output)
    check("aten.adaptive_max_pool2d.default", IMAGE, output)
    grad = torch.randn(2, 3, *output)
    check("aten._adaptive_avg_pool2d_backward.default", grad, IMAGE)
    indices = overload("aten.adaptive_max_pool2d.default")(IMAGE, output)[1]
    check("aten.adaptive_max_pool2d_backward.default", grad, IMAGE, indices)


def test_adaptive_pool3d_and_gradients() -> None:
    output = [2, 3, 5]
    check("aten._adaptive_avg_pool3d.default", VOLUME, output)
    check("aten.adaptive_max_pool3d.default", VOLUME, output)
    grad = torch.randn(2, *output)
    check("aten._adaptive_avg_pool3d_backward.default", grad, VOLUME)
    indices = overload("aten.adaptive_max_pool3d.default")(VOLUME, output)[1]
    check("aten.adaptive_max_pool3d_backward.default", grad, VOLUME, indices)


def test_adaptive_pool1d() -> None:
    check("aten.adaptive_avg_pool1d.default", IMAGE[0], [4])
    check("aten.adaptive_max_pool1d.default", IMAGE[0], [4])


def test_adaptive_pool_special_values() -> None:
    rows = torch.tensor([[[1.0, NAN, 2.0, NAN], [-INF, -INF, -INF, -INF], [3.0, INF, 1.0, 1.0]]])
    for output in ([1, 2], [3, 3], [3, 1]):
        check("aten._adaptive_avg_pool2d.default", rows, output)
        check("aten.adaptive_max_pool2d.default", rows, output)
    check("aten._adaptive_avg_pool2d.default", IMAGE.bfloat16(), [2, 4])


@pytest.mark.parametrize("output", [[3, 2], [1, 5]])
def test_fractional_max_pool2d_and_gradient(output: list[int]) -> None:
    samples = torch.rand(2, 3, 2)
    check("aten.fractional_max_pool2d.default", IMAGE, [2, 2], output, samples)
    values, indices = overload("aten.fractional_max_pool2d.default")(IMAGE, [2, 2], output, samples)
    check(
        "aten.fractional_max_pool2d_backward.default",
        torch.randn(values.shape), IMAGE, [2, 2], output, indices,
    )  # fmt: skip


def test_fractional_max_pool3d_and_gradient() -> None:
    samples, sizes = torch.rand(1, 2, 3), ([2, 3, 2], [2, 1, 4])
    check("aten.fractional_max_pool3d.default", VOLUME, *sizes, samples)
    values, indices = overload("aten.fractional_max_pool3d.default")(VOLUME, *sizes, samples)
    check(
        "aten.fractional_max_pool3d_backward.default",
        torch.randn(values.shape), VOLUME, *sizes, indices,
    )  # fmt: skip
