"""Rules that round once agree with the kernels, which do too."""

from __future__ import annotations

import pytest
import torch

from neuron_compile.lowering.decompose.low_precision import rounded_once


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("operator", list(rounded_once()), ids=str)
def test_result_is_the_kernels(operator: torch._ops.OpOverload, dtype: torch.dtype) -> None:
    x = torch.linspace(-4, 4, 60, dtype=torch.float64).view(6, 10)
    output = (x.log_softmax(1) if "log" in str(operator) else x.softmax(1)).to(dtype)
    gradient = torch.cos(3 * x).to(dtype)
    expected = operator(gradient, output, 1, dtype)
    result = rounded_once()[operator](gradient, output, 1, dtype)
    assert result.dtype == dtype
    torch.testing.assert_close(result, expected)
