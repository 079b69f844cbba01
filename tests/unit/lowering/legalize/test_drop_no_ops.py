"""Calls that only pass their input on go; conjugates of complex numbers stay."""

from __future__ import annotations

import torch

from fx_graphs import capture, run, targets
from neuron_compile.lowering.legalize.drop_no_ops import drop_no_ops

aten = torch.ops.aten


def test_passing_on_is_dropped_and_the_work_stays() -> None:
    module = capture(lambda x: aten.alias(aten.detach(x).sin()).detach() + 1, torch.ones(2))
    drop_no_ops(module)
    assert targets(module) == ["sin", "add"]
    torch.testing.assert_close(run(module, torch.ones(2))[0], torch.ones(2).sin() + 1)


def test_conjugate_of_real_numbers_is_dropped_that_of_complex_ones_is_not() -> None:
    real = capture(lambda x: aten._conj_physical(x) + 1, torch.ones(2))
    drop_no_ops(real)
    assert targets(real) == ["add"]
    numbers = torch.tensor([1 + 2j])
    whole = capture(lambda x: aten._conj_physical(x), numbers)
    drop_no_ops(whole)
    assert run(whole, numbers)[0].tolist() == [1 - 2j]
