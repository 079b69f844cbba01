"""Give a graph's inputs and results their physical, dense row-major form."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.layout import input_layout, physical_layout
from neuron_compile.lowering.legalize.node_values import call, output_node, placeholders, value
from neuron_compile.lowering.program import TensorSpec

_aten = torch.ops.aten


def cross_boundary(
    module: GraphModule, inputs: Sequence[TensorSpec], results: Sequence[TensorSpec]
) -> None:
    """Permute each input from its physical array, and each result to its own.

    `inputs` and `results` are what PyTorch sees; a permuted tensor then crosses without a copy.
    A tensor without a physical layout crosses as a contiguous copy, which the runtime makes.
    """
    for placeholder, spec in zip(placeholders(module), inputs, strict=True):
        _enter(module, placeholder, spec)
    node = output_node(module)
    leaving = list(node.args[0])  # type: ignore[arg-type]
    with module.graph.inserting_before(node):
        left = [_leave(module, n, s) for n, s in zip(leaving, results, strict=True)]
    node.args = (tuple(left),)


def _enter(module: GraphModule, placeholder: Node, spec: TensorSpec) -> None:
    layout = input_layout(spec)
    if layout is None or layout.is_identity:
        return
    logical = value(placeholder)
    users = list(placeholder.users)
    with logical.fake_mode:
        placeholder.meta["val"] = torch.empty(layout.shape, dtype=logical.dtype)
    inverse = _inverse(layout.order)
    with module.graph.inserting_after(placeholder):
        entered = call(module, placeholder, _aten.permute.default, placeholder, inverse)
    for user in users:
        user.replace_input_with(placeholder, entered)


def _leave(module: GraphModule, node: Node, spec: TensorSpec) -> Node:
    layout = physical_layout(spec)
    if layout is None:
        return node
    for dim, (size, stride) in enumerate(zip(spec.shape, spec.strides, strict=True)):
        if stride == 0 and size > 1:
            node = call(module, node, _aten.slice.Tensor, node, dim, 0, 1, 1)
    if not layout.is_identity:
        node = call(module, node, _aten.permute.default, node, list(layout.order))
    return node


def _inverse(order: Sequence[int]) -> list[int]:
    inverse = [0] * len(order)
    for position, dim in enumerate(order):
        inverse[dim] = position
    return inverse
