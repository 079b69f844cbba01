from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from fx_graphs import capture, run, targets
from neuron_compile.lowering.legalize.keep_roundings import SIZE_LIMIT, keep_roundings

ROUNDED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "a product is added": lambda x, y: x * y + x,
    "a product is subtracted from": lambda x, y: x * y - 1,
    "a product is subtracted": lambda x, y: x - (x * y),
    "a square is subtracted": lambda x, y: 1 - x**2,
    "products are summed": lambda x, y: (x * y).sum(0),
    "products are averaged": lambda x, y: (x * y).mean(),
    "a product is moved on the way": lambda x, y: -(x * y).reshape(2, -1).t()[:2] + 1,
    "a quotient is divided": lambda x, y: x / y / y,
    "a quotient divides": lambda x, y: x / (-(x / y)),
}
LEFT: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "a product alone": lambda x, y: x * y,
    "a product of a product": lambda x, y: x * y * y,
    "a quotient is added": lambda x, y: x / y + x,
    "a product is divided": lambda x, y: x * y / y,
}


def inputs(dtype: torch.dtype = torch.float32, size: int = 12) -> tuple[Tensor, Tensor]:
    numbers = torch.linspace(-2, 3, 2 * size).to(dtype)
    return numbers[:size], numbers[size:]


@pytest.mark.parametrize("case", ROUNDED)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_choice_of_nan_stands_between(case: str, dtype: torch.dtype) -> None:
    module = capture(ROUNDED[case], *inputs(dtype))
    keep_roundings(module)
    assert targets(module).count("isnan") == targets(module).count("where") == 1
    (result,) = run(module, *inputs(dtype))
    expected = ROUNDED[case](*inputs(dtype))
    assert result.dtype == expected.dtype
    assert torch.equal(result, expected)


@pytest.mark.parametrize("case", LEFT)
def test_nothing_stands_where_nothing_is_lost(case: str) -> None:
    module = capture(LEFT[case], *inputs())
    before = targets(module)
    keep_roundings(module)
    assert targets(module) == before


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int64, torch.complex64])
def test_other_dtypes_are_left(dtype: torch.dtype) -> None:
    module = capture(lambda x, y: x * y + x, *inputs(dtype))
    keep_roundings(module)
    assert "where" not in targets(module)


@pytest.mark.parametrize(("size", "is_rounded"), [(SIZE_LIMIT, True), (SIZE_LIMIT + 1, False)])
def test_large_products_are_left(size: int, is_rounded: bool) -> None:
    module = capture(lambda x, y: x * y + x, *inputs(size=size))
    keep_roundings(module)
    assert ("where" in targets(module)) is is_rounded


def test_nan_and_infinity_are_kept() -> None:
    x = torch.tensor([float("nan"), float("inf"), -0.0, 2.0])
    module = capture(lambda x, y: x * y + 0.5, x, x)
    keep_roundings(module)
    assert torch.equal(run(module, x, x)[0].nan_to_num(7.0), (x * x + 0.5).nan_to_num(7.0))
