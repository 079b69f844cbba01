"""Write a change of a tensor's size as the first elements of its memory in another shape."""

from __future__ import annotations

import math

import torch
from torch.fx import GraphModule

from neuron_compile.lowering.legalize.node_values import call, calls, value

_aten = torch.ops.aten


def replace_resizes(module: GraphModule) -> None:
    """Replace `resize`, which keeps the elements in the order of memory.

    What lies beyond the old elements is undefined in eager and zero here. The operand must be
    contiguous, as it is after any resize; another is left, to be refused.
    """
    for node in calls(module, _aten.resize.default):
        source, shape = node.args[0], [int(size) for size in value(node).shape]
        if not value(source).is_contiguous():
            continue
        count, wanted = value(source).numel(), math.prod(shape)
        with module.graph.inserting_before(node):
            flat = call(module, node, _aten.reshape.default, source, [count])
            if wanted < count:
                flat = call(module, node, _aten.slice.Tensor, flat, 0, 0, wanted)
            elif wanted > count:
                flat = call(module, node, _aten.constant_pad_nd.default, flat, [0, wanted - count])
            resized = call(module, node, _aten.reshape.default, flat, shape)
        node.replace_all_uses_with(resized)
        module.graph.erase_node(node)
