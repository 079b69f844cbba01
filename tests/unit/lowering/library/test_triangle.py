from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check, run

SHAPES = pytest.mark.parametrize(
    "row, col, offset",
    [(3, 3, 1), (4, 7, -2), (7, 4, 2), (1, 5, 2), (5, 1, -9), (0, 3, 0), (3, 0, 0), (2, 3, 9)],
)


@SHAPES
@pytest.mark.parametrize("operator", ["aten.triu_indices.default", "aten.tril_indices.default"])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_places_are_eagers(
    operator: str, row: int, col: int, offset: int, dtype: torch.dtype
) -> None:
    check(operator, row, col, offset, dtype=dtype)


def test_places_are_counted_exactly_beyond_what_float32_holds() -> None:
    size = 5900  # 17 million places
    expected = torch.triu_indices(size, size)
    (actual,) = run("aten.triu_indices.default", [expected], size, size, 0, dtype=torch.int64)
    assert torch.equal(actual, expected)
