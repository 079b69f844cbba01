"""From a functional graph to a program with its calling convention."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from fx_graphs import capture, targets
from neuron_compile import LoweringError
from neuron_compile.lowering import TensorSpec
from neuron_compile.lowering.from_fx import from_fx
from neuron_compile.lowering.program import InputResult


def test_signature_describes_what_the_caller_passes_and_gets() -> None:
    def function(x: Tensor, _unused: Tensor, y: Tensor) -> list[Tensor | None]:
        return [None, x.t() + y, x]

    lowered = from_fx(capture(function, torch.ones(2, 3), torch.ones(1), torch.ones(3, 2)))
    signature = lowered.signature
    assert signature.inputs == (
        TensorSpec((2, 3), "float32", (3, 1)),
        TensorSpec((1,), "float32", (1,)),
        TensorSpec((3, 2), "float32", (2, 1)),
    )
    assert signature.kept_inputs == (0, 2)
    assert signature.result_slots[0] is None
    assert signature.result_slots[2] == InputResult(0)
    (output,) = signature.outputs
    assert output.shape == (3, 2)
    assert signature.seed_count == 0


def test_random_graph_takes_one_seed_whatever_it_draws() -> None:
    lowered = from_fx(capture(lambda x: torch.rand_like(x) + torch.randn_like(x), torch.ones(2)))
    assert lowered.signature.seed_count == 1


def test_callers_graph_is_left_as_it_was() -> None:
    module = capture(lambda x: torch.rand_like(x).detach() + x.double(), torch.ones(2))
    before = module.print_readable(print_output=False)
    from_fx(module)
    assert module.print_readable(print_output=False) == before


def test_float64_is_demoted_inside_and_kept_outside() -> None:
    lowered = from_fx(capture(lambda x: x.sin(), torch.ones(2, dtype=torch.float64)))
    assert [origin.operator for origin in lowered.demoted] == ["aten.sin.default"]
    assert lowered.signature.outputs[0].dtype == "float64"
    assert "f64" not in lowered.program.module
    assert from_fx(capture(lambda x: x.sin(), torch.ones(2))).demoted == ()


def test_transposed_arguments_and_results_cross_as_their_memory_is() -> None:
    lowered = from_fx(capture(lambda x: x * 2, torch.ones(2, 3).t()))
    assert targets(lowered.legal_module) == ["permute", "mul", "permute"]
    assert lowered.signature.inputs[0] == TensorSpec((3, 2), "float32", (1, 3))


def test_origins_are_the_names_in_the_callers_graph() -> None:
    module = capture(lambda x: x.sin() + 1, torch.ones(2))
    lowered = from_fx(module)
    names = {origin.name for origin in lowered.origins}
    assert names >= {"sin", "add"}
    assert [o.operator for o in lowered.origins if o.name == "sin"] == ["aten.sin.default"]


def test_symbolic_sizes_become_their_values() -> None:
    module = capture(lambda x: x.sum(0) * x.shape[0], torch.ones(5, 3), symbolic=True)
    lowered = from_fx(module)
    assert TensorSpec((5, 3), "float32", (3, 1)) in lowered.signature.inputs
    assert "?" not in lowered.program.module


def test_graph_that_returns_no_list_is_our_defect() -> None:
    module = capture(torch.sin, torch.ones(2))
    output = next(iter(reversed(module.graph.nodes)))
    output.args = (output.args[0][0],)
    with pytest.raises(LoweringError, match="does not return a list"):
        from_fx(module)
