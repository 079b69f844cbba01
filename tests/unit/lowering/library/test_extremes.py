from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check

NAN = float("nan")
MANY_NAN = torch.tensor([[1.0, NAN, 2.0], [3.0, 2.0, 2.0], [3.0, NAN, NAN]])
DTYPES = [torch.float32, torch.bfloat16, torch.int64, torch.int8, torch.uint8, torch.bool]


@pytest.mark.parametrize("operator", ["aten.max.dim", "aten.min.dim"])
@pytest.mark.parametrize("keepdim", [True, False])
def test_value_and_first_index(operator: str, keepdim: bool) -> None:
    for dim in (0, -1):
        check(operator, MANY_NAN, dim, keepdim)
    check(operator, torch.tensor(2.0), 0, keepdim)
    check(operator, torch.tensor([0.0, -0.0]), 0, keepdim)


@pytest.mark.parametrize("operator", ["max.dim", "min.dim", "argmax.default", "argmin.default"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_compares_as_itself(operator: str, dtype: torch.dtype) -> None:
    if dtype is torch.bool and operator.startswith("arg"):
        return  # eager refuses it
    check(f"aten.{operator}", torch.tensor([[1, 200, 3], [128, 127, 0]]).to(dtype), 1)


@pytest.mark.parametrize("operator", ["aten.argmax.default", "aten.argmin.default"])
def test_argument_of_the_extreme(operator: str) -> None:
    check(operator, MANY_NAN)
    check(operator, MANY_NAN, None, True)
    check(operator, MANY_NAN, 0, True)
    check(operator, torch.tensor(3), 0)
    check(operator, torch.empty(0, 2), 1)


@pytest.mark.parametrize("operator", ["aten.amax.default", "aten.amin.default"])
def test_extreme_over_dimensions(operator: str) -> None:
    check(operator, MANY_NAN, [0, 1])
    check(operator, MANY_NAN, [-1], True)
    check(operator, MANY_NAN)
    check(operator, torch.tensor(2.0), [0], True)
    check(operator, torch.tensor([3, 200, 129], dtype=torch.uint8), [0])
    check(operator, torch.tensor([True, False]), [0])


def test_both_extremes() -> None:
    check("aten.aminmax.default", MANY_NAN, dim=1, keepdim=True)
    check("aten.aminmax.default", torch.tensor([3, 250], dtype=torch.uint8))
    check("aten.max.default", MANY_NAN)
    check("aten.min.default", torch.tensor(2))
