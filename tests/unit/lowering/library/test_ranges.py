from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check


@pytest.mark.parametrize("start, end, steps", [(-3, 3, 7), (0.5, 2, 5), (1, 1, 1), (0, 3, 0)])
@pytest.mark.parametrize("base", [10.0, 2.0, 0.5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_logspace(start: float, end: float, steps: int, base: float, dtype: torch.dtype) -> None:
    check("aten.logspace.default", start, end, steps, base, dtype=dtype)


def test_logspace_is_float32_unless_told() -> None:
    check("aten.logspace.default", 0.0, 1.0, 5)


def test_logspace_of_whole_numbers() -> None:
    check("aten.logspace.default", 0, 3, 4, dtype=torch.int64)
