"""One graph to StableHLO, past every operation that has no lowering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from neuron_compile.cache.blobs import Blobs
from neuron_compile.errors import NeuronCompileError, UnsupportedOp, UnsupportedOpError
from neuron_compile.lower_graph import lower_graph
from neuron_compile.lowering import TorchProgram
from neuron_compile.lowering.from_fx import FxLowering, from_fx
from neuron_compile.lowering.legalize.copy_graph import copy_graph
from neuron_compile.lowering.legalize.node_values import value
from neuron_compile.target import Target
from neuron_compile.workers.runner import ActionRunner


@dataclass(frozen=True, slots=True)
class FullLowering:
    """`failures` are the operations that were cut out of the graph for what is left to be lowered;
    `program` is what came nearest to StableHLO. `problem` is an error about the graph as a whole,
    with which lowering ended; then `blobs` is None."""

    imported: FxLowering | None
    program: TorchProgram | None
    blobs: Blobs | None
    failures: tuple[UnsupportedOp, ...]
    problem: str = ""


def lower_fully(module: GraphModule, runner: ActionRunner, target: Target) -> FullLowering:
    """Lower a graph, cutting out what fails until all is known that does."""
    failures: list[UnsupportedOp] = []
    own = {node.name for node in module.graph.nodes}
    imported: FxLowering | None = None
    programs: list[TorchProgram] = []

    def lower(program: TorchProgram) -> Blobs:
        programs.append(program)
        return runner.lower(program)

    def ended(blobs: Blobs | None, problem: str = "") -> FullLowering:
        last = programs[-1] if programs else None
        return FullLowering(imported, last, blobs, tuple(failures), problem)

    while True:
        try:
            imported = from_fx(module, rounds_as_eager=not target.is_device)
            return ended(lower_graph(imported, lower, runner.convert, target))
        except UnsupportedOpError as error:
            # Several operations inside of control flow are of one node.
            rest = without(module, {operation.node for operation in error.operations})
            failures += [operation for operation in error.operations if operation.node in own]
            if rest is None:
                return ended(None)
            module = rest
        except NeuronCompileError as error:
            return ended(None, str(error))


def without(module: GraphModule, names: set[str]) -> GraphModule | None:
    """A copy of the graph in which the results of the named nodes are arguments; None if it has
    none of them.

    Of an argument that is named itself, because no program can hold its type, nothing is left: the
    nodes that take it are cut out in its place.
    """
    rest = copy_graph(module)
    named = [node for node in rest.graph.nodes if node.name in names]
    if not named:
        return None
    arguments = [node for node in named if node.op == "placeholder"]
    takers = {user for node in arguments for user in node.users}
    first = next(iter(rest.graph.nodes))
    for node in [node for node in rest.graph.nodes if node in takers or node in named]:
        if node in arguments:
            continue
        if node.op == "output":
            node.args = (_without_arguments(node.args[0], arguments),)
            continue
        for result in _results(node):
            with rest.graph.inserting_before(first):
                argument = rest.graph.placeholder(f"result_of_{result.name}")
            argument.meta["val"] = value(result)
            result.replace_all_uses_with(argument)
    rest.graph.eliminate_dead_code()
    for node in arguments:
        rest.graph.erase_node(node)
    rest.recompile()
    return rest


def _without_arguments(results: Any, arguments: list[Node]) -> Any:
    """What a graph returns, with None in the place of `arguments`."""
    return pytree.tree_map(lambda result: None if result in arguments else result, results)


def _results(node: Node) -> list[Node]:
    """The nodes that stand for the tensors a call gives."""
    if isinstance(value(node), torch.Tensor):
        return [node]
    return [user for user in node.users if isinstance(value(user), torch.Tensor)]
