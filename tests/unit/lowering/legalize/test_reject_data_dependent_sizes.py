"""Sizes that depend on data are refused, all of them and where they arise."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from fx_graphs import capture
from neuron_compile import DynamicShapesError
from neuron_compile.lowering.legalize.reject_data_dependent_sizes import (
    reject_data_dependent_sizes,
)


def test_only_the_operations_that_create_a_size_are_listed() -> None:
    def function(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return torch.nonzero(x) + 1, torch.nonzero(y).sum() * 2

    module = capture(function, torch.ones(3), torch.ones(4), symbolic=True)
    with pytest.raises(DynamicShapesError) as raised:
        reject_data_dependent_sizes(module)
    assert raised.value.where == ("aten.nonzero.default   (no source line known)",) * 2
    assert raised.value.what == (
        "2 operations with a result whose size depends on data cannot be compiled for neuron"
    )


def test_known_sizes_pass_symbolic_or_not() -> None:
    for symbolic in (False, True):
        module = capture(lambda x: x.sum(0) * x.shape[0], torch.ones(3, 2), symbolic=symbolic)
        before = module.print_readable(print_output=False)
        reject_data_dependent_sizes(module)
        assert module.print_readable(print_output=False) == before
