"""16-bit arithmetic with numbers, and composite functions, round once as in eager."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from fx_graphs import capture, run, targets
from neuron_compile.lowering.legalize.widen_low_precision import widen_low_precision

aten = torch.ops.aten
LOW = [torch.bfloat16, torch.float16]

WIDENED: dict[str, Callable[[Tensor], Tensor]] = {
    "number that 16 bits cannot hold": lambda x: x * 3.14159,
    "scaled sum": lambda x: aten.add.Tensor(x, x, alpha=3),
    "power": lambda x: x.abs() ** 2.5,
    "gelu": lambda x: aten.gelu(x),
}


@pytest.mark.parametrize("dtype", LOW)
@pytest.mark.parametrize("case", WIDENED)
def test_widened_call_gives_eagers_bits(case: str, dtype: torch.dtype) -> None:
    x = torch.linspace(-3, 3, 41).to(dtype)
    module = capture(WIDENED[case], x)
    widen_low_precision(module)
    assert "_to_copy" in targets(module)
    (result,) = run(module, x)
    assert result.dtype == dtype
    torch.testing.assert_close(result, WIDENED[case](x), rtol=0, atol=0)


def test_exact_numbers_and_wide_tensors_stay() -> None:
    low = capture(lambda x: x * 2 + x - 0.5, torch.ones(2, dtype=torch.bfloat16))
    wide = capture(lambda x: x * 3.14159, torch.ones(2))
    for module in (low, wide):
        before = targets(module)
        widen_low_precision(module)
        assert targets(module) == before
