"""Hand the forward graph's seed to the backward graph."""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering import random_ops
from neuron_compile.lowering.legalize.node_values import (
    call,
    calls,
    output_node,
    placeholders,
    value,
)

_draw_seed = getattr(torch.ops, random_ops.NAMESPACE).draw_seed.default


def save_seed(forward: GraphModule, backward: GraphModule) -> None:
    """Make a backward graph that draws a seed of its own take the forward graph's instead.

    A partitioner that recomputes everything (a memory budget of zero) recomputes the draw too,
    whatever it is marked as, and would see other random numbers.
    """
    drawn = list(calls(backward, _draw_seed))
    if not drawn:
        return
    tangent = next(n for n in placeholders(backward) if str(n.target).startswith("tangents"))
    with backward.graph.inserting_before(tangent):
        saved = backward.graph.placeholder("saved_seed")
    saved.meta["val"] = drawn[0].meta["val"]
    for node in drawn:
        node.replace_all_uses_with(saved)
        backward.graph.erase_node(node)
    _return_seed(forward)
    backward.recompile()


def _return_seed(forward: GraphModule) -> None:
    output = output_node(forward)
    seed = next(calls(forward, _draw_seed), None)
    if seed is None:
        with forward.graph.inserting_before(output):
            seed = call(forward, output, _draw_seed)
    results = list(output.args[0])  # type: ignore[arg-type]
    # AOTAutograd's order of what is saved: tensors, then numbers.
    position = len(results)
    while position and _is_number(results[position - 1]):
        position -= 1
    results.insert(position, seed)
    output.args = (tuple(results),)
    forward.recompile()


def _is_number(result: object) -> bool:
    return isinstance(result, Node) and isinstance(value(result), torch.SymInt)
