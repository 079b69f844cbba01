from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from fx_graphs import capture, run, targets
from neuron_compile.lowering.legalize.keep_signed_zeros import keep_signed_zeros

NUMBERS = [-0.0, 0.0, -float("inf"), float("inf"), float("nan"), -1.5, 0.75, 3.0]
CASES: dict[str, Callable[[Tensor], Tensor]] = {
    "x + 0": lambda x: x + 0,
    "x + 0 * alpha": lambda x: torch.add(x, 0.0, alpha=2),
    "relu": torch.relu,
    "clamp from 0": lambda x: x.clamp(0, 2),
    "clamp_min 0": lambda x: torch.clamp_min(x, 0),
    "clamp to 0": lambda x: x.clamp(max=0.0),
    "clamp_max 0": lambda x: torch.clamp_max(x, 0),
    "relu6": torch.nn.functional.relu6,
    "hardtanh from 0": lambda x: torch.nn.functional.hardtanh(x, 0.0, 1.0),
    "elu": lambda x: torch.nn.functional.elu(x, 1.5),
    "selu": torch.nn.functional.selu,
    "trunc": torch.trunc,
    "x ** 0.5": lambda x: x**0.5,
    "x ** -0.5": lambda x: x**-0.5,
}
KEPT: dict[str, Callable[[Tensor], Tensor]] = {
    "x + 1": lambda x: x + 1,
    "x + -0": lambda x: x + (-0.0),
    "x + y": lambda x: x + x,
    "clamp": lambda x: x.clamp(-1, 1),
    "x ** 3": lambda x: x**3,
}


def bits(tensor: Tensor) -> list[str]:
    return [str(number) for number in tensor.tolist()]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_sign_of_zero_is_that_of_eager(case: str, dtype: torch.dtype) -> None:
    x = torch.tensor(NUMBERS, dtype=dtype)
    module = capture(CASES[case], x)
    before = targets(module)
    keep_signed_zeros(module)
    assert targets(module) != before
    (result,) = run(module, x)
    assert result.dtype == dtype
    assert bits(result) == bits(CASES[case](x))


@pytest.mark.parametrize("case", KEPT)
def test_other_calls_are_left_alone(case: str) -> None:
    module = capture(KEPT[case], torch.ones(3))
    before = targets(module)
    keep_signed_zeros(module)
    assert targets(module) == before


def test_integers_are_left_alone() -> None:
    module = capture(lambda x: torch.relu(x + 0).clamp(0, 3), torch.ones(3, dtype=torch.int64))
    before = targets(module)
    keep_signed_zeros(module)
    assert targets(module) == before
