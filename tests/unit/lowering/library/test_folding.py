from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check, overload

GEOMETRIES = [([2, 3], [1, 1], [0, 0], [1, 1]), ([3, 2], [2, 1], [1, 2], [2, 3])]


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_blocks_and_their_sum(geometry: tuple[list[int], ...]) -> None:
    for image in (torch.randn(2, 3, 7, 8), torch.randn(3, 7, 8)):
        check("aten.im2col.default", image, *geometry)
        columns = torch.randn(overload("aten.im2col.default")(image, *geometry).shape)
        check("aten.col2im.default", columns, [7, 8], *geometry)
