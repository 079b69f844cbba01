from __future__ import annotations

import itertools

import pytest
import torch

from unit.lowering.library.against_eager import check

GENERATOR = torch.Generator().manual_seed(0)
IMAGE = torch.randn(2, 3, 5, 4, generator=GENERATOR)
GRID = torch.rand(2, 6, 3, 2, generator=GENERATOR) * 5 - 2.5
VOLUME = torch.randn(1, 2, 3, 4, 5, generator=GENERATOR)
GRID3D = torch.rand(1, 2, 3, 4, 3, generator=GENERATOR) * 5 - 2.5


def close(expected: list[torch.Tensor], actual: list[torch.Tensor]) -> None:
    """Equal but for the order in which the many terms of a gradient are added."""
    for want, got in zip(expected, actual, strict=True):
        torch.testing.assert_close(got, want, atol=5e-5, rtol=1e-5)


CASES = list(itertools.product([0, 1, 2], [0, 1, 2], [True, False]))


@pytest.mark.parametrize("mode, padding, align", CASES)
def test_grid_sampler_2d(mode: int, padding: int, align: bool) -> None:
    check("aten.grid_sampler_2d.default", IMAGE, GRID, mode, padding, align)
    grad = torch.randn(2, 3, 6, 3)
    check(
        "aten.grid_sampler_2d_backward.default",
        grad,
        IMAGE,
        GRID,
        mode,
        padding,
        align,
        [True, True],
        same=close,
    )


@pytest.mark.parametrize("mode, padding, align", [case for case in CASES if case[0] < 2])
def test_grid_sampler_3d(mode: int, padding: int, align: bool) -> None:
    check("aten.grid_sampler_3d.default", VOLUME, GRID3D, mode, padding, align)
    grad = torch.randn(1, 2, 2, 3, 4)
    check(
        "aten.grid_sampler_3d_backward.default",
        grad, VOLUME, GRID3D, mode, padding, align, [True, True], same=close,
    )  # fmt: skip


def test_positions_on_the_border_and_far_outside() -> None:
    edge = torch.tensor([[[[-1.0, 1.0], [1.0, -1.0], [0.0, 0.0], [1e6, -1e6]]]]).expand(2, 1, 4, 2)
    for padding in (0, 1):
        for align in (True, False):
            check("aten.grid_sampler_2d.default", IMAGE, edge, 0, padding, align)
            grad = torch.randn(2, 3, 1, 4)
            check(
                "aten.grid_sampler_2d_backward.default",
                grad, IMAGE, edge, 0, padding, align, [True, True], same=close,
            )  # fmt: skip
