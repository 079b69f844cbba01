"""Tensors made from nothing are all written as `full`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from fx_graphs import capture, run, targets
from neuron_compile.lowering.legalize.fill_factories import fill_factories

CASES: dict[str, Callable[[Tensor], Tensor]] = {
    "zeros": lambda x: torch.zeros(2, 3),
    "ones of integers": lambda x: torch.ones(4, dtype=torch.int32),
    "zeros_like": torch.zeros_like,
    "ones_like of bools": lambda x: torch.ones_like(x, dtype=torch.bool),
    "full": lambda x: torch.full((2,), 2.5),
    "full truncated": lambda x: torch.full((2,), 2.7, dtype=torch.int64),
    "full of bools": lambda x: torch.full((2,), 3, dtype=torch.bool),
    "full_like": lambda x: torch.full_like(x, -1),
    "new_full": lambda x: x.new_full((2,), 7),
    "new_ones": lambda x: x.new_ones(2, 2),
    "new_zeros": lambda x: x.new_zeros(1),
    "scalar": lambda x: torch.scalar_tensor(3.0),
    "unsigned": lambda x: torch.full((2,), 200, dtype=torch.uint8),
    "complex": lambda x: torch.full((2,), 1 + 2j),
}


@pytest.mark.parametrize("case", CASES)
def test_value_shape_and_type_stay(case: str) -> None:
    function, x = CASES[case], torch.ones(2, 3)
    module = capture(function, x)
    fill_factories(module)
    assert set(targets(module)) <= {"full", "prims", "prims.convert_element_type"}
    result, expected = run(module, x)[0], function(x)
    assert result.dtype == expected.dtype
    assert torch.equal(result, expected)


def test_memory_that_nobody_wrote_is_the_same_in_every_run() -> None:
    module = capture(lambda x: torch.empty_like(x) * 0 + torch.empty(2, 3), torch.ones(2, 3))
    fill_factories(module)
    assert torch.equal(run(module, torch.ones(2, 3))[0], torch.zeros(2, 3))
