"""What passes know of nodes, and what new nodes inherit."""

from __future__ import annotations

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Graph, GraphModule

from fx_graphs import capture, targets
from neuron_compile.lowering import TensorSpec
from neuron_compile.lowering.legalize.node_values import (
    call,
    calls,
    fake_mode_of,
    output_node,
    placeholders,
    spec_of,
    value,
)

aten = torch.ops.aten


def graph() -> GraphModule:
    return capture(lambda x, y: x.sin() + y.sin(), torch.ones(2, 3), torch.ones(2, 3))


def test_value_of_a_node_is_its_fake_tensor_and_of_anything_else_itself() -> None:
    (first, _) = placeholders(graph())
    assert isinstance(value(first), FakeTensor)
    assert value(3) == 3


def test_spec_has_logical_shape_and_real_strides() -> None:
    tensor = torch.empty(3, 2, dtype=torch.bfloat16).t()
    assert spec_of(tensor) == TensorSpec((2, 3), "bfloat16", (1, 2))


def test_new_call_has_a_value_and_the_place_of_the_node_it_stands_for() -> None:
    module = graph()
    like = next(calls(module, aten.add.Tensor))
    like.meta["stack_trace"] = "here"
    with module.graph.inserting_before(like):
        made = call(module, like, aten.permute.default, like.args[0], [1, 0])
    assert made.meta["val"].shape == (3, 2)
    assert made.meta["val"].fake_mode is fake_mode_of(module)
    assert made.meta["stack_trace"] == "here"


def test_calls_are_found_by_target_and_may_be_erased_meanwhile() -> None:
    module = graph()
    for node in calls(module, aten.sin.default):
        node.replace_all_uses_with(node.args[0])  # type: ignore[arg-type]
        module.graph.erase_node(node)
    assert targets(module) == ["add"]
    assert output_node(module).op == "output"


def test_graph_without_values_gets_a_mode_of_its_own() -> None:
    assert fake_mode_of(GraphModule(torch.nn.Module(), Graph())) is not None
