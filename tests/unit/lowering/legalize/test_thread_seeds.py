"""Seeds for graphs that are called."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule
from torch.nn import functional

from neuron_compile.explanation.capture import capture
from neuron_compile.lowering.decompose.leftovers import decompose_leftovers
from neuron_compile.lowering.legalize.copy_graph import copy_graph
from neuron_compile.lowering.legalize.lift_regions import lift_regions
from neuron_compile.lowering.legalize.node_values import placeholders
from neuron_compile.lowering.legalize.regions import (
    functions_of,
    inner_functions,
    operands_of,
    region_calls,
)
from neuron_compile.lowering.legalize.thread_seeds import thread_seeds
from neuron_compile.options import CompileOptions


@torch.compiler.nested_compile_region
def dropped(x: Tensor) -> Tensor:
    return functional.dropout(x, 0.5)


@torch.compiler.nested_compile_region
def plain(x: Tensor) -> Tensor:
    return x.sin()


def lifted(subject: Any) -> GraphModule:
    found = capture(subject, (torch.ones(4),), {}, CompileOptions())
    module = copy_graph(found.graphs[0].module)
    lift_regions(module)
    for function in inner_functions(module).values():
        decompose_leftovers(function)
    thread_seeds(module)
    module.graph.lint()
    return module


def count(module: GraphModule, name: str) -> int:
    return sum(name in str(node.target) for node in module.graph.nodes)


def test_each_call_has_a_seed_of_its_own_from_the_one_that_is_drawn() -> None:
    module = lifted(lambda x: dropped(dropped(x)))
    first, second = (operands_of(call)[-1] for call in region_calls(module))
    assert count(module, "draw_seed") == 1
    assert first.target is second.target
    assert first.args[0] is second.args[0]
    assert first.args[1] != second.args[1]
    (function,) = {id(f): f for call in region_calls(module) for f in functions_of(call)}.values()
    assert count(function, "draw_seed") == 0
    assert len(placeholders(function)) == 2


def test_a_call_without_random_numbers_gets_none() -> None:
    module = lifted(lambda x: plain(x) + functional.dropout(plain(x)))
    assert count(module, "draw_seed") == 0
    assert [len(operands_of(call)) for call in region_calls(module)] == [1, 1]


def test_seeds_are_handed_down() -> None:
    @torch.compiler.nested_compile_region
    def outer(x: Tensor) -> Any:
        return dropped(x) + dropped(x * 2)

    module = lifted(lambda x: outer(outer(x)))
    first, second = region_calls(module)
    (function,) = functions_of(first)
    assert functions_of(second) == [function]
    own = placeholders(function)[-1]
    derived = [operands_of(inner)[-1] for inner in region_calls(function)]
    assert [node.args[0] for node in derived] == [own, own]
    assert derived[0].args[1] != derived[1].args[1]
