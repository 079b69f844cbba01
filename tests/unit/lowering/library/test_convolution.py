from __future__ import annotations

from typing import Any

import pytest
import torch

from unit.lowering.library.against_eager import check, overload

# Spatial size, kernel, groups, stride, padding, dilation, transposed, output padding.
CASES: list[tuple[Any, ...]] = [
    ([9], [3], 1, [2], [1], [1], False, [0]),
    ([7, 8], [3, 2], 2, [2, 1], [1, 0], [1, 2], False, [0, 0]),
    ([5, 4, 6], [2, 3, 2], 1, [1, 2, 2], [0, 1, 1], [1, 1, 1], False, [0, 0, 0]),
    ([5], [3], 2, [3], [1], [2], True, [2]),
    ([4, 5], [3, 2], 2, [2, 3], [1, 0], [1, 2], True, [1, 0]),
    ([3, 4, 2], [2, 2, 3], 1, [2, 1, 2], [1, 0, 1], [1, 1, 1], True, [0, 0, 1]),
    # Kernels that neither overlap nor leave gaps.
    ([4, 5], [1, 1], 1, [1, 1], [0, 0], [2, 1], False, [0, 0]),
    ([7, 9], [2, 3], 1, [2, 3], [0, 0], [1, 1], False, [0, 0]),
    ([7], [3], 1, [3], [0], [1], False, [0]),
    ([4, 3, 4], [2, 3, 1], 1, [2, 3, 1], [0, 0, 0], [1, 1, 1], False, [0, 0, 0]),
    ([4, 3], [2, 3], 1, [2, 3], [0, 0], [1, 1], True, [0, 0]),
    ([3, 2, 3], [2, 1, 3], 1, [2, 1, 3], [0, 0, 0], [1, 1, 1], True, [0, 0, 0]),
    ([4], [2], 1, [2], [0], [1], True, [0]),
]


@pytest.mark.parametrize("case", CASES)
def test_convolution_and_its_gradients(case: tuple[Any, ...]) -> None:
    size, kernel, groups, stride, padding, dilation, transposed, extra = case
    image = torch.randn(2, 4, *size)
    weight = torch.randn(*((4, 3) if transposed else (6, 4 // groups)), *kernel)
    channels = 3 * groups if transposed else 6
    geometry = (stride, padding, dilation, transposed, extra, groups)
    check("aten.convolution.default", image, weight, torch.randn(channels), *geometry)
    grad = torch.randn(overload("aten.convolution.default")(image, weight, None, *geometry).shape)
    for mask in ([True, True, True], [True, False, False], [False, True, False]):
        check(
            "aten.convolution_backward.default",
            grad, image, weight, [channels], *geometry, mask,
            same=None if mask[0] and mask[1] else compare_present(mask),
        )  # fmt: skip


def compare_present(mask: list[bool]) -> Any:
    def compare(expected: list[torch.Tensor], actual: list[torch.Tensor]) -> None:
        assert len(actual) == sum(mask)
        for want, got in zip(expected, actual, strict=True):
            torch.testing.assert_close(got, want)

    return compare


def test_bias_gradient_of_bfloat16_is_accumulated_in_float32() -> None:
    image, weight = torch.ones(2, 3, 16, 16).bfloat16(), torch.ones(2, 3, 1, 1).bfloat16()
    grad = torch.full((2, 2, 16, 16), 0.2).bfloat16()
    geometry = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    check(
        "aten.convolution_backward.default", grad, image, weight, [2], *geometry, [True, True, True]
    )


def test_convolution_of_no_rows() -> None:
    geometry = ([1], [0], [1], False, [0], 1)
    check("aten.convolution.default", torch.randn(0, 3, 5), torch.randn(2, 3, 2), None, *geometry)
