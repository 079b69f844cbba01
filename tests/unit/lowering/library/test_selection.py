from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import run

NAN, INF = float("nan"), float("inf")
NEGATIVE_NAN = torch.tensor(NAN).copysign(torch.tensor(-1.0)).item()
SPECIAL = torch.tensor([-0.0, 0.0, NEGATIVE_NAN, NAN, 5.0, -5.0, INF, -INF, 1e-40, -1e-40])


def check(values: torch.Tensor, k: int, largest: bool, dim: int = -1) -> None:
    """The first `k` of a stable sort, values and places."""
    order, places = torch.sort(values, dim=dim, stable=True, descending=largest)
    wanted = [part.narrow(dim, 0, k) for part in (order, places)]
    found = run("aten.topk.default", wanted, values, k, dim, largest)
    torch.testing.assert_close(found[0], wanted[0].contiguous(), equal_nan=True)
    assert found[1].tolist() == wanted[1].tolist()


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(
    "dtype",
    [
        *(torch.float32, torch.bfloat16, torch.float16, torch.float64),
        *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8),
    ],
)
def test_every_dtype_with_many_ties(largest: bool, dtype: torch.dtype) -> None:
    values = torch.randint(0, 100, (3, 700)).to(dtype)
    for k in (1, 3, 5, 100, 699):
        check(values, k, largest)
    check(values.mT.contiguous(), 4, largest, dim=0)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("count", [20, 400])
def test_zeros_and_nan_of_either_sign_are_equal(largest: bool, count: int) -> None:
    values = torch.cat([SPECIAL, torch.ones(count - len(SPECIAL))])[torch.randperm(count)]
    for k in (1, 2, 3, 5):
        check(values, k, largest)


def test_the_last_numbers_of_their_type() -> None:
    for largest in (True, False):
        check(torch.full((300,), -INF), 2, largest)
        check(torch.full((300,), NAN), 2, largest)
        check(torch.full((300,), -(2**31), dtype=torch.int32), 2, largest)


def test_a_length_that_no_block_divides() -> None:
    check(torch.randn(4, 257), 2, True)
    check(-torch.arange(1025.0), 3, False)


def test_nothing() -> None:
    check(torch.randn(3, 50), 0, True)
    check(torch.empty(0, 50), 2, True)
