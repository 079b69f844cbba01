"""What is computed from constants alone becomes a constant."""

from __future__ import annotations

import torch
from torch import Tensor

from fx_graphs import capture, run, targets
from neuron_compile.lowering.legalize.fold_constants import fold_constants


def folded(function: object, *inputs: Tensor) -> list[str]:
    module = capture(function, *inputs)  # type: ignore[arg-type]
    expected = run(module, *inputs)
    fold_constants(module)
    module.graph.eliminate_dead_code()
    for want, got in zip(expected, run(module, *inputs), strict=True):
        assert got.dtype == want.dtype
        assert torch.equal(got, want)
    return targets(module)


def test_arithmetic_on_one_value_becomes_that_value() -> None:
    assert folded(lambda x: x + (torch.full((2, 3), 2.0) * 3 == 6), torch.ones(2, 3)) == [
        "full",
        "add",
    ]


def test_arithmetic_on_several_values_becomes_a_stored_constant() -> None:
    constant = torch.tensor([1.0, 2.0, 3.0])
    assert folded(lambda x: x + (constant * 2 - 1), torch.ones(3)) == ["add"]


def test_minus_zero_keeps_its_sign() -> None:
    module = capture(lambda x: [x, -torch.full((2,), 0.0)], torch.ones(2))
    fold_constants(module)
    assert run(module, torch.ones(2))[1].signbit().all()


def test_counting_and_large_constants_stay_operators() -> None:
    assert folded(lambda x: x + torch.arange(3), torch.ones(3)) == ["arange", "add"]
    large = folded(lambda x: x + torch.full((100, 100), 1.0) * 2, torch.ones(100))
    assert large == ["full", "mul", "add"]


def test_failure_is_left_to_the_run() -> None:
    module = capture(lambda x: [x, torch.full((2,), 4) // torch.full((2,), 2)], torch.ones(2))
    divisor = module.graph.find_nodes(op="call_function", target=torch.ops.aten.full.default)[1]
    divisor.args = ([2], 0)
    before = targets(module)
    fold_constants(module)
    assert targets(module) == before
