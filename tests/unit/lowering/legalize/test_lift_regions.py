"""PyTorch's control flow in one form."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch._higher_order_ops
from torch import Tensor, nn
from torch.fx import GraphModule

from fx_graphs import capture
from neuron_compile.explanation.capture import capture as captured_graphs
from neuron_compile.lowering.legalize.copy_graph import copy_graph
from neuron_compile.lowering.legalize.lift_regions import lift_regions
from neuron_compile.lowering.legalize.node_values import ORIGIN, placeholders, value
from neuron_compile.lowering.legalize.regions import (
    function_names,
    functions_of,
    operands_of,
    region_calls,
    results_of,
)
from neuron_compile.options import CompileOptions

hop = torch.ops.higher_order


def lifted(module: GraphModule) -> GraphModule:
    copied = copy_graph(module)
    lift_regions(copied)
    copied.graph.eliminate_dead_code()
    copied.graph.lint()
    return copied


def as_traced(function: Any, *args: Any) -> list[GraphModule]:
    found = captured_graphs(function, args, {}, CompileOptions())
    return [graph.module for graph in found.graphs]


def test_a_branch_keeps_its_operands_and_the_graph_it_came_from() -> None:
    def function(x: Tensor, y: Tensor) -> Any:
        return hop.cond(x.sum() > 0, lambda x, y: (x * y,), lambda x, y: (x - y,), (x, y))

    module = capture(function, torch.ones(2), torch.ones(2))
    before = str(module.graph)
    (call,) = region_calls(lifted(module))
    assert call.args[0] == "cond"
    assert len(operands_of(call)) == 3
    assert str(module.graph) == before
    for inner in functions_of(call):
        assert {node.meta[ORIGIN] for node in inner.graph.nodes} == {"cond"}


@pytest.mark.parametrize("known", [True, False])
def test_a_choice_that_is_known_is_made(known: bool) -> None:
    module = capture(
        lambda x: hop.cond(x.sum() > 0, lambda x: (x.sin(),), lambda x: (x.cos(),), (x,)),
        torch.ones(2),
    )
    (node,) = module.graph.find_nodes(op="call_function", target=hop.cond)
    node.args = (known, *node.args[1:])
    (call,) = region_calls(lifted(module))
    (function,) = functions_of(call)
    assert call.args[0] == "call"
    assert ("sin" if known else "cos") in str(function.graph)


def test_a_number_that_is_passed_is_written_into_the_function() -> None:
    module = capture(
        lambda x: hop.cond(x.sum() > 0, lambda x: (x.sin(),), lambda x: (x.cos(),), (x,)),
        torch.ones(2),
    )
    (node,) = module.graph.find_nodes(op="call_function", target=hop.cond)
    node.args = (*node.args[:3], (*node.args[3], 7))
    for name in (node.args[1].target, node.args[2].target):
        graph = getattr(module, name).graph
        (used,) = graph.find_nodes(op="output")
        with graph.inserting_after(next(iter(graph.nodes))):
            number = graph.placeholder("number")
        with graph.inserting_before(used):
            scaled = graph.call_function(torch.ops.aten.mul.Tensor, (used.args[0][0], number))
        scaled.meta["val"] = used.args[0][0].meta["val"]
        used.args = ((scaled,),)
    (call,) = region_calls(lifted(module))
    assert len(operands_of(call)) == 2
    for function in functions_of(call):
        assert len(placeholders(function)) == 1
        (result,) = results_of(function)
        assert result.args[1] == 7


def test_results_that_are_none_are_taken_out() -> None:
    module = capture(
        lambda x: hop.cond(x.sum() > 0, lambda x: (x.sin(),), lambda x: (x.cos(),), (x,)),
        torch.ones(2),
    )
    (node,) = module.graph.find_nodes(op="call_function", target=hop.cond)
    (result,) = node.users
    node.meta["val"] = [None, value(result)]
    result.args = (node, 1)
    for name in (node.args[1].target, node.args[2].target):
        (output,) = getattr(module, name).graph.find_nodes(op="output")
        output.args = ((None, *output.args[0]),)
    (call,) = region_calls(lifted(module))
    (taken,) = call.users
    assert taken.args == (call, 0)
    assert value(call) == [value(result)]
    assert [len(results_of(function)) for function in functions_of(call)] == [1, 1]


def test_a_graph_that_is_called_twice_stays_one() -> None:
    class Layers(nn.Module):
        def forward(self, x: Tensor) -> Any:
            @torch.compiler.nested_compile_region
            def region(x: Tensor) -> Tensor:
                return x.sin() * 2

            return region(region(x))

    (module,) = as_traced(Layers(), torch.ones(2))
    first, second = region_calls(lifted(module))
    assert function_names(first) == function_names(second)
