"""Every operation of a graph that is refused, whichever stage refuses it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from torch.fx import GraphModule, Node

from neuron_compile.errors import NeuronCompileError, UnsupportedOp, UnsupportedOpError
from neuron_compile.lowering.legalize.copy_graph import copy_graph
from neuron_compile.lowering.legalize.node_values import output_node, placeholders


def name_all_refused(
    module: GraphModule, error: UnsupportedOpError, attempt: Callable[[GraphModule], Any]
) -> UnsupportedOpError:
    """`error`, with the operations that other stages would have refused had they been reached.

    Each pass names all that it refuses and ends the compilation; so those are cut out of the graph
    and `attempt` is made again, until it finds no more.
    """
    places = {node.name: place for place, node in enumerate(module.graph.nodes)}
    # Several operations inside of control flow are of one node.
    found: dict[str, list[UnsupportedOp]] = {}
    latest: UnsupportedOpError | None = error
    while latest:
        new = [op for op in latest.operations if op.node in places and op.node not in found]
        if not new:
            break
        for op in new:
            found.setdefault(op.node, []).append(op)
        latest = _refusal(attempt, without(module, found))
    elsewhere = [op for op in error.operations if op.node not in places]
    in_order = [op for name in sorted(found, key=places.__getitem__) for op in found[name]]
    if len(in_order) + len(elsewhere) == len(error.operations):
        return error
    return UnsupportedOpError([*in_order, *elsewhere], target=error.target)


def without(module: GraphModule, names: Iterable[str]) -> GraphModule:
    """A copy of a graph that takes as further inputs what the named calls gave, and does not return
    it."""
    cut = copy_graph(module)
    wanted = frozenset(names)
    given: set[Node] = set()
    for node in [n for n in cut.graph.nodes if n.op == "call_function" and n.name in wanted]:
        parts = [user for user in node.users if user.target is operator.getitem]
        given.update(_enter(cut, part) for part in parts or [node])
        if parts:
            cut.graph.erase_node(node)
    output = output_node(cut)
    results = output.args[0]
    assert isinstance(results, list | tuple)
    output.args = ([None if result in given else result for result in results],)
    cut.graph.eliminate_dead_code()
    for unused in [node for node in given if not node.users]:
        cut.graph.erase_node(unused)
    cut.recompile()
    return cut


def _enter(module: GraphModule, node: Node) -> Node:
    """Make a call an input, which is returned."""
    entered = placeholders(module)
    before = entered[-1].next if entered else next(iter(module.graph.nodes))
    with module.graph.inserting_before(before):
        given = module.graph.placeholder(f"{node.name}_given")
    given.meta = dict(node.meta)
    node.replace_all_uses_with(given)
    module.graph.erase_node(node)
    return given


def _refusal(
    attempt: Callable[[GraphModule], Any], module: GraphModule
) -> UnsupportedOpError | None:
    try:
        attempt(module)
    except UnsupportedOpError as error:
        return error
    except NeuronCompileError:
        return None  # the first error is the one to tell
    return None
