from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check, run

NAN, INF = float("nan"), float("inf")
SPECIAL = torch.tensor([[1.0, 1.0, NAN, 3.0, NAN], [2.0, -INF, 2.0, INF, INF]])


@pytest.mark.parametrize("operator", ["cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"])
@pytest.mark.parametrize("dim", [0, -1])
def test_scan_of_floats(operator: str, dim: int) -> None:
    check(f"aten.{operator}.default", torch.randn(3, 4), dim)
    check(f"aten.{operator}.default", SPECIAL, dim)
    check(f"aten.{operator}.default", torch.tensor(2.0), dim)
    check(f"aten.{operator}.default", torch.empty(2, 0), dim)


@pytest.mark.parametrize("operator", ["cumsum", "cumprod", "cummax", "cummin"])
@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.bool, torch.int32])
def test_scan_of_integers(operator: str, dtype: torch.dtype) -> None:
    check(f"aten.{operator}.default", torch.tensor([[3, 1, 3, 0], [200, 7, 7, 1]]).to(dtype), 1)


def test_dtype_is_cast_to_before_the_sum() -> None:
    check("aten.cumsum.default", torch.tensor([1.5, 1.5]), 0, dtype=torch.int32)
    check("aten.cumprod.default", torch.tensor([3, 2]), 0, dtype=torch.float64)


def test_cumsum_of_bfloat16_does_not_stall() -> None:
    ones = torch.ones(600, dtype=torch.bfloat16)
    assert run("aten.cumsum.default", [ones], ones, 0)[0][-1].item() == 600


def test_logcumsumexp_does_not_overflow() -> None:
    check("aten.logcumsumexp.default", torch.tensor([1000.0, 1000.0, -2000.0]), 0)
    check("aten.logcumsumexp.default", torch.tensor([-INF, -INF, 0.0, INF]), 0)


@pytest.mark.parametrize("count", [1024, 1025, 5000])
@pytest.mark.parametrize("operator", ["cumsum", "cumprod"])
def test_long_rows(operator: str, count: int) -> None:
    values = 1 + torch.randn(2, count) / 100 * (1 if operator == "cumprod" else 100)
    check(f"aten.{operator}.default", values, 1)
    check(f"aten.{operator}.default", values[0], 0)
    check(f"aten.{operator}.default", torch.randint(-3, 3, (2, count)), -1)
    values[0, 700], values[1, 1000] = INF, NAN
    check(f"aten.{operator}.default", values, 1)


@pytest.mark.parametrize("operator", ["cummax", "cummin"])
@pytest.mark.parametrize("count", [1024, 1100])
def test_extremes_of_long_rows_with_ties(operator: str, count: int) -> None:
    values = torch.randint(-50, 50, (2, count))
    check(f"aten.{operator}.default", values, 1)
    check(f"aten.{operator}.default", values.to(torch.uint8), -1)
    check(f"aten.{operator}.default", values.float().neg(), 1)
    special = values.float()
    special[0, [700, 900]], special[1, 40] = NAN, INF
    check(f"aten.{operator}.default", special, 1)
