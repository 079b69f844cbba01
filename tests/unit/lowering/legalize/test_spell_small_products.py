from __future__ import annotations

import pytest
import torch

from fx_graphs import capture, run, targets
from neuron_compile.lowering.legalize.spell_small_products import spell_small_products

SPELLED = [((2, 4), (4, 3)), ((1, 9), (9, 1)), ((37, 3, 3), (37, 3, 3))]
# As many multiplications as ATen gives to a BLAS; more elements than cost nothing; none at all.
LEFT = [((10, 4), (4, 10)), ((38, 3, 3), (38, 3, 3)), ((3, 0), (0, 3)), ((0, 3), (3, 2))]


@pytest.mark.parametrize(("left", "right"), SPELLED)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_small_products_are_sums(
    left: tuple[int, ...], right: tuple[int, ...], dtype: torch.dtype
) -> None:
    x, y = torch.randn(left, dtype=dtype), torch.randn(right, dtype=dtype)
    module = capture(torch.matmul, x, y)
    spell_small_products(module)
    assert not {"mm", "bmm"} & set(targets(module))
    (result,) = run(module, x, y)
    assert result.dtype == dtype
    torch.testing.assert_close(result, x @ y)


@pytest.mark.parametrize(("left", "right"), LEFT)
def test_others_are_left(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    module = capture(torch.matmul, torch.randn(left), torch.randn(right))
    before = targets(module)
    spell_small_products(module)
    assert targets(module) == before


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int64, torch.complex64])
def test_other_dtypes_are_left(dtype: torch.dtype) -> None:
    x = torch.ones(2, 2).to(dtype)
    module = capture(torch.mm, x, x)
    spell_small_products(module)
    assert "mm" in targets(module)
