"""float64 computes in float32, complex128 in complex64."""

from __future__ import annotations

import pytest
import torch

from fx_graphs import capture, run
from neuron_compile.lowering.legalize.demote_float64 import demote_float64

NARROWER = {torch.float64: torch.float32, torch.complex128: torch.complex64}


@pytest.mark.parametrize("wide", NARROWER)
def test_inputs_constants_and_casts_become_narrow(wide: torch.dtype) -> None:
    constant = torch.tensor([0.5, 2.0]).to(wide)
    module = capture(lambda x: x.to(wide) * constant, torch.ones(2))
    assert [node.target for node in demote_float64(module)] == [torch.ops.aten.mul.Tensor]
    assert demote_float64(module) == ()
    (result,) = run(module, torch.ones(2))
    assert result.dtype == NARROWER[wide]
    assert result.tolist() == [0.5, 2.0]


def test_graph_without_wide_values_is_left_alone() -> None:
    module = capture(lambda x: x.half() + 1, torch.ones(2))
    before = module.print_readable(print_output=False)
    assert not demote_float64(module)
    assert module.print_readable(print_output=False) == before


def test_callers_constant_stays_wide() -> None:
    constant = torch.tensor([0.5], dtype=torch.float64)
    demote_float64(capture(lambda x: x + constant, torch.ones(1)))
    assert constant.dtype == torch.float64
