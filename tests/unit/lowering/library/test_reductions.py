from __future__ import annotations

from typing import Any

import pytest
import torch

from unit.lowering.library.against_eager import check

ROWS = torch.tensor([[1.5, -2.0, 3.0], [0.5, 0.25, 7.0]])
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "operator", ["aten.sum.dim_IntList", "aten.mean.dim", "aten.nansum.default"]
)
def test_sums(operator: str) -> None:
    for dim in ([0], [-1, 0], None):
        check(operator, ROWS, dim, True)
    check(operator, torch.tensor([NAN, 1.0]), [0])
    check(operator, torch.tensor(3.0), [0], True)
    check(operator, torch.empty(0, 2), [0])
    check(operator, torch.empty(0, 2), [1])


def test_integer_sums_are_int64() -> None:
    check("aten.sum.default", torch.tensor([200, 100], dtype=torch.uint8))
    check("aten.sum.dim_IntList", torch.tensor([True, True]), [0])
    check("aten.sum.default", torch.tensor([1.7, 1.7]), dtype=torch.int64)
    check("aten.prod.default", torch.tensor([200, 100], dtype=torch.uint8))
    check("aten.prod.dim_int", torch.tensor([[2.0, NAN], [3.0, 4.0]]), 0, True)
    check("aten.prod.default", torch.empty(0))
    check("aten.trace.default", torch.tensor([[200, 1], [1, 100]], dtype=torch.uint8))
    check("aten.trace.default", torch.randn(3, 2))


def test_low_precision_is_accumulated_in_float32() -> None:
    many = torch.full((8192,), 0.2, dtype=torch.bfloat16)
    check("aten.sum.default", many)
    check("aten.mean.default", many)


@pytest.mark.parametrize("operator", ["var", "std", "var_mean", "std_mean"])
@pytest.mark.parametrize("correction", [0, 1, None, 2.5, 3])
def test_variance(operator: str, correction: Any) -> None:
    check(f"aten.{operator}.correction", ROWS, [1], correction=correction)
    check(f"aten.{operator}.correction", ROWS, None, correction=correction, keepdim=True)
    check(f"aten.{operator}.correction", torch.tensor(2.0), [0], correction=correction)
    check(f"aten.{operator}.correction", torch.empty(0, 2), [0], correction=correction)


def test_all_and_any() -> None:
    for name in ("all", "any"):
        for values in (torch.tensor([[True, False], [True, True]]), torch.tensor([[0, 3]]), ROWS):
            check(f"aten.{name}.default", values)
            check(f"aten.{name}.dim", values, 0, True)
            check(f"aten.{name}.dims", values, [0, 1])
        check(f"aten.{name}.dim", torch.tensor(5), 0)
        check(f"aten.{name}.default", torch.empty(0))


def test_logsumexp() -> None:
    check("aten.logsumexp.default", ROWS, [0, 1])
    check("aten.logsumexp.default", torch.tensor([[-INF, -INF], [1000.0, INF]]), [1], True)
    check("aten.logsumexp.default", torch.tensor(3.0), [0])
    check("aten.logsumexp.default", torch.tensor([1, 2]), [0])


@pytest.mark.parametrize("order", [0, 1, 2, 3.5, -1, INF, -INF])
def test_vector_norm(order: float) -> None:
    check("aten.linalg_vector_norm.default", ROWS, order, [1], True)
    check("aten.linalg_vector_norm.default", torch.tensor([[0.0, -3.0]]), order)
    check("aten.linalg_vector_norm.default", torch.tensor(-3.0), order)
    check("aten.linalg_vector_norm.default", ROWS.bfloat16(), order, dtype=torch.float64)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8, torch.bool])
def test_hash(dtype: torch.dtype) -> None:
    values = torch.tensor([[1.0, -2.0, 3.0], [0.0, -0.0, 7.0]]).to(dtype)
    check("aten.hash_tensor.default", values)
    check("aten.hash_tensor.default", values, [1], keepdim=True)
    check("aten.hash_tensor.default", values, [0])
