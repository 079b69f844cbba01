"""Results that need no computation are taken out, and remembered."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from fx_graphs import capture
from neuron_compile import LoweringError
from neuron_compile.lowering.legalize.node_values import output_node
from neuron_compile.lowering.legalize.strip_results import strip_results
from neuron_compile.lowering.program import ConstantResult, InputResult


def test_none_inputs_and_python_values_leave_the_graph() -> None:
    def function(x: Tensor, y: Tensor) -> list[Tensor | None]:
        return [None, y, x.sin(), x.cos()]

    module = capture(function, torch.ones(2), torch.ones(2))
    output = output_node(module)
    output.args = ((*output.args[0], 5),)  # type: ignore[misc]
    slots = strip_results(module)
    assert slots == (None, InputResult(1), 0, 1, ConstantResult(5))
    kept = output_node(module).args[0]
    assert [str(node.target) for node in kept] == ["aten.sin.default", "aten.cos.default"]  # type: ignore[union-attr]


def test_number_that_is_computed_is_refused() -> None:
    module = capture(lambda x: [x.sin(), x.shape[0] * 2], torch.ones(3), symbolic=True)
    with pytest.raises(LoweringError, match="only known at run time"):
        strip_results(module)


def test_lazy_conjugate_is_a_result_of_its_own() -> None:
    def function(z: Tensor) -> list[Tensor]:
        computed = z * 2
        return [computed, computed.conj()]

    module = capture(function, torch.tensor([1 + 2j]))
    assert strip_results(module) == (0, 1)
