from __future__ import annotations

import torch

from unit.lowering.library.against_eager import check

FLAT = torch.arange(24.0)


def test_as_strided() -> None:
    check("aten.as_strided.default", FLAT, [2, 3], [1, 5], 4)
    check("aten.as_strided.default", FLAT.long(), [3, 2], [0, 7])
    check("aten.as_strided.default", FLAT, [], [], 9)
    check("aten.as_strided.default", FLAT, [0, 2], [1, 1])


def test_as_strided_scatter() -> None:
    check("aten.as_strided_scatter.default", FLAT, torch.randn(2, 3), [2, 3], [1, 5], 4)
