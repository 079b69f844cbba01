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


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
@pytest.mark.parametrize(
    ("start", "end", "steps"), [(4.3, 1, 50), (0, 9.9, 7), (3, 3, 1), (2, 8, 0), (7, 0, 50)]
)
def test_linspace_of_whole_numbers(
    start: float, end: float, steps: int, dtype: torch.dtype
) -> None:
    check("aten.linspace.default", start, end, steps, dtype=dtype)


def test_linspace_between_tensors() -> None:
    low, high = torch.tensor(4.3), torch.tensor(-3)
    check("aten.linspace.Tensor_Tensor", low, high, 50, dtype=torch.int64)
    check("aten.linspace.Tensor_Tensor", torch.tensor(50), high.abs() - 2, 50, dtype=torch.uint8)
    check("aten.linspace.Tensor_Scalar", low, 9, 5, dtype=torch.int64)
    check("aten.linspace.Scalar_Tensor", -2, high, 1, dtype=torch.int64)


def test_bounds_of_logspace_of_whole_numbers_are_whole() -> None:
    check("aten.logspace.default", 2, 1.2, 2, dtype=torch.int64)
    check("aten.logspace.default", 4.3, 0, 4, 3.0, dtype=torch.int64)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64])
def test_arange_of_whole_numbers(dtype: torch.dtype) -> None:
    check("aten.arange.default", 5.5, dtype=dtype)
    check("aten.arange.start", 1.5, 4, dtype=dtype)
    check("aten.arange.start_step", 0, 0, 3, dtype=dtype)


def test_arange_of_unsigned_numbers_wraps_around() -> None:
    check("aten.arange.start_step", 2.1, -2.9, -1.0, dtype=torch.uint8)
