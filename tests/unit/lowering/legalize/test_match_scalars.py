"""A number is compared in the type in which eager compares it."""

from __future__ import annotations

import torch

from fx_graphs import capture, run, targets
from neuron_compile.lowering.legalize.match_scalars import match_scalars


def test_integer_beside_floats_is_written_as_a_float() -> None:
    module = capture(lambda x: x == 1, torch.ones(2))
    match_scalars(module)
    (node,) = module.graph.find_nodes(op="call_function", target=torch.ops.aten.eq.Scalar)
    assert type(node.args[1]) is float


def test_integers_beside_a_float_are_converted() -> None:
    x = torch.tensor([1, 2, 3])
    module = capture(lambda x: x > 1.5, x)
    match_scalars(module)
    assert targets(module) == ["_to_copy", "gt"]
    assert run(module, x)[0].tolist() == [False, True, True]


def test_bools_beside_an_integer_are_converted() -> None:
    x = torch.tensor([True, False])
    module = capture(lambda x: x == 1, x)
    match_scalars(module)
    assert targets(module) == ["_to_copy", "eq"]
    assert run(module, x)[0].tolist() == [True, False]


def test_equal_kinds_stay() -> None:
    module = capture(lambda x: x < 3, torch.tensor([1, 5]))
    match_scalars(module)
    assert targets(module) == ["lt"]
