"""The one form of control flow."""

from __future__ import annotations

from typing import Any

import torch
import torch._higher_order_ops
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule

from fx_graphs import capture
from neuron_compile.lowering.legalize.copy_graph import copy_graph
from neuron_compile.lowering.legalize.lift_regions import lift_regions
from neuron_compile.lowering.legalize.regions import (
    SCAN,
    WHILE,
    all_graphs,
    function_names,
    inner_functions,
    numbered_nodes,
    region_calls,
    regions,
)

hop = torch.ops.higher_order


def branch_in_a_loop(x: Tensor) -> Any:
    def body(step: Tensor, x: Tensor) -> Any:
        (moved,) = hop.cond(x.sum() > 0, lambda x: (x - 1,), lambda x: (x + 1,), (x,))
        return step + 1, moved

    start = torch.zeros((), dtype=torch.int64)
    return hop.while_loop(lambda step, _: step < 3, body, (start, x), ())


def lifted(function: Any, *inputs: Tensor) -> GraphModule:
    module = copy_graph(capture(function, *inputs))
    lift_regions(module)
    return module


def test_functions_come_after_those_they_call_and_the_graph_last() -> None:
    module = lifted(branch_in_a_loop, torch.ones(2))
    (loop,) = region_calls(module)
    condition, body = function_names(loop)
    functions = inner_functions(module)
    (branch,) = region_calls(functions[body])
    assert list(functions) == [condition, *function_names(branch), body]
    assert all_graphs(module) == [*functions.values(), module]


def test_numbers_begin_with_the_nodes_of_the_graph_itself() -> None:
    module = lifted(branch_in_a_loop, torch.ones(2))
    own = list(module.graph.nodes)
    numbered = numbered_nodes(module)
    assert numbered[: len(own)] == own
    assert len(numbered) == sum(len(graph.graph.nodes) for graph in all_graphs(module))


def test_fake_results_follow_the_operands_dtypes_into_the_functions() -> None:
    module = lifted(branch_in_a_loop, torch.ones(2))
    (loop,) = region_calls(module)
    functions = list(inner_functions(module).values())
    with FakeTensorMode():
        step, result = regions(
            WHILE,
            (2,),
            [getattr(module, name) for name in function_names(loop)],
            [torch.ones((), dtype=torch.int64), torch.ones(2, dtype=torch.bfloat16)],
        )
    assert (step.dtype, result.dtype) == (torch.int64, torch.bfloat16)
    for function in functions[1:3]:
        assert next(iter(function.graph.nodes)).meta["val"].dtype is torch.bfloat16


def test_fake_results_of_a_scan_are_carried_and_stacked() -> None:
    def function(start: Tensor, x: Tensor) -> Any:
        return hop.scan(lambda c, x: [c + x, (c * x).sum()], [start], [x], ())

    module = lifted(function, torch.ones(3), torch.ones(5, 3))
    (scan,) = region_calls(module)
    with FakeTensorMode():
        carried, stacked = regions(
            SCAN,
            (1, 1),
            [getattr(module, *function_names(scan))],
            [torch.ones(3), torch.ones(7, 3)],
        )
    assert (carried.shape, stacked.shape) == ((3,), (7,))
