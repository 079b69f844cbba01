"""Functional ATen graphs with fake values, as AOTAutograd hands them to the backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch.func import functionalize
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

Decompositions = dict[Any, Callable[..., Any]]


def capture(
    function: Callable[..., Any],
    *inputs: Any,
    symbolic: bool = False,
    decompositions: Decompositions | None = None,
) -> GraphModule:
    """The graph of a function, whose result is made a list.

    With `symbolic`, sizes of 2 and more become symbols.
    """

    def listed(*args: Any) -> list[Any]:
        result = function(*args)
        return list(result) if isinstance(result, list | tuple) else [result]

    mode: Literal["fake", "symbolic"] = "symbolic" if symbolic else "fake"
    traced = make_fx(
        functionalize(listed, remove="mutations"),
        decompositions,
        tracing_mode=mode,
        _allow_non_fake_inputs=True,
    )
    with torch.no_grad():
        return traced(*inputs)


def targets(module: GraphModule) -> list[str]:
    """The operators that a graph calls, in order, without `aten.` and overload."""
    return [
        str(node.target).removeprefix("aten.").partition(".")[0]
        for node in module.graph.nodes
        if node.op == "call_function"
    ]


def run(module: GraphModule, *inputs: Any) -> list[Any]:
    """What the graph computes now, with its metadata checked against it."""
    module.graph.lint()
    module.recompile()
    return list(module(*inputs))
