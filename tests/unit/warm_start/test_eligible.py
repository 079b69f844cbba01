"""Which graphs may be taken from a cache by what they look like."""

from __future__ import annotations

import operator
from typing import Any

import pytest
import torch
from torch.fx import Graph, GraphModule

from neuron_compile.lowering import random_ops
from neuron_compile.warm_start.eligible import is_settled


def calling(target: Any) -> GraphModule:
    graph = Graph()
    graph.output(graph.call_function(target, (graph.placeholder("x"),)))
    return GraphModule({}, graph)


@pytest.mark.parametrize(
    "target", [torch.sin, operator.neg, torch.ops.aten.sin.default, torch.ops.aten.sin]
)
def test_operators_of_pytorch(target: Any) -> None:
    assert is_settled(calling(target))


def test_operators_of_others() -> None:
    operators = getattr(torch.ops, random_ops.NAMESPACE)
    assert not is_settled(calling(operators.poisson.default))
    assert not is_settled(calling(operators.poisson))


def test_operators_of_others_in_a_part() -> None:
    graph = Graph()
    graph.output(graph.call_module("part", (graph.placeholder("x"),)))
    operators = getattr(torch.ops, random_ops.NAMESPACE)
    assert not is_settled(GraphModule({"part": calling(operators.poisson)}, graph))
