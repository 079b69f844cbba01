"""Run the operations that cannot be lowered in eager PyTorch, and compile what is between them."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from functorch.compile import make_boxed_func
from torch.fx import GraphModule, Node
from torch.fx.passes.split_module import split_module
from torch.utils._pytree import tree_leaves

from neuron_compile.compile_report import REPORTER
from neuron_compile.compiler import Compiler
from neuron_compile.errors import NeuronCompileWarning, UnsupportedOpError
from neuron_compile.graph import CapturedGraph
from neuron_compile.lowering.legalize.node_values import output_node, value
from neuron_compile.runtime.compiled_graph import CompiledGraph


def compile_around(
    error: UnsupportedOpError, graph: CapturedGraph, compiler: Compiler
) -> Callable[[list[Any]], Sequence[Any]]:
    """A callable that runs the operations of `error` in eager PyTorch and the rest compiled.

    Warns once, with the operations and their lines, and enters them into the report. What turns out
    to be refused in the rest joins them. Raises the error whose operations are not found in the
    graph.
    """
    while True:
        eager = {operation.node for operation in error.operations}
        if not eager <= {node.name for node in graph.module.graph.nodes}:
            raise error
        if compiler.generator.target.is_device:
            eager |= {node.name for node in graph.module.graph.nodes if _has_complex(node)}
        try:
            split = _split(graph, eager, compiler)
        except UnsupportedOpError as further:
            if eager.issuperset(operation.node for operation in further.operations):
                raise
            operations = [*error.operations, *further.operations]
            error = UnsupportedOpError(operations, target=error.target)
        else:
            break
    names = ", ".join(sorted({operation.operator for operation in error.operations}))
    warnings.warn(
        f"{graph.name} runs {len(eager)} operation{'s' * (len(eager) > 1)} in eager PyTorch:\n"
        f"{error}",
        NeuronCompileWarning,
        stacklevel=2,
    )
    REPORTER.note(graph, f"eager: {names}")
    boxed: Callable[[list[Any]], Sequence[Any]] = make_boxed_func(split.forward)
    return boxed


def _split(graph: CapturedGraph, eager: set[str], compiler: Compiler) -> GraphModule:
    """The graph in parts, of which those without operations of `eager` are compiled."""
    parts = _parts(graph.module, eager)
    split = split_module(graph.module, graph.module, parts.__getitem__, keep_original_order=True)
    in_eager = {f"submod_{parts[node]}" for node in parts if node.name in eager}
    for name, part in list(split.named_children()):
        if isinstance(part, GraphModule) and name not in in_eager:
            returns_one = _return_list(part)
            compiled = compiler.compile(CapturedGraph(graph.model, graph.role, part))
            setattr(split, name, _CompiledPart(compiled, returns_one))
    return split


class _CompiledPart(torch.nn.Module):
    """A compiled graph in the place of the submodule it was compiled from."""

    def __init__(self, compiled: CompiledGraph, returns_one: bool) -> None:
        super().__init__()
        self._compiled = compiled
        self._returns_one = returns_one

    def forward(self, *args: Any) -> Any:
        """Take and return what the submodule did."""
        results = self._compiled(list(args))
        return results[0] if self._returns_one else tuple(results)


def _has_complex(node: Node) -> bool:
    """Whether a call takes or gives complex numbers, which no device has. Some calls, such as
    `detach`, become no operation of a program that could be refused."""
    if node.op != "call_function":
        return False
    tensors = [leaf for each in (node, *node.all_input_nodes) for leaf in tree_leaves(value(each))]
    return any(isinstance(leaf, torch.Tensor) and leaf.is_complex() for leaf in tensors)


def _return_list(part: GraphModule) -> bool:
    """Make a graph that returns one value return a list of one; tell whether it did."""
    output = output_node(part)
    returns_one = not isinstance(output.args[0], list | tuple)
    if returns_one:
        output.args = ((output.args[0],),)
        part.recompile()
    return returns_one


def _parts(module: GraphModule, eager: set[str]) -> dict[Node, int]:
    """A number for each call: it rises wherever calls change between compiled and eager."""
    parts: dict[Node, int] = {}
    current, was_eager = 0, False
    for node in module.graph.nodes:
        if node.op != "call_function":
            parts[node] = current
        elif node.target is operator.getitem and isinstance(node.args[0], Node):
            parts[node] = parts[node.args[0]]
        else:
            is_eager = node.name in eager
            current += is_eager or was_eager
            was_eager = is_eager
            parts[node] = current
    return parts
