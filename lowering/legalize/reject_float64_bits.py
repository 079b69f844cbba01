"""Refuse to look at the bits of float64 numbers, which a program does not have."""

from __future__ import annotations

from typing import Final

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.errors import UnsupportedOp, UnsupportedOpError
from neuron_compile.lowering.legalize.node_values import ORIGIN, calls, value
from neuron_compile.lowering.legalize.regions import all_graphs
from neuron_compile.lowering.source_lines import source_line

_WIDE: Final = (torch.float64, torch.complex128)


def reject_float64_bits(module: GraphModule) -> None:
    """Raise `UnsupportedOpError` for every `aten.view.dtype` from or to float64 or complex128.

    Other operations on float64 lose digits in float32; these would give other numbers altogether.
    """
    found = [
        node
        for graph in all_graphs(module)
        for node in calls(graph, torch.ops.aten.view.dtype)
        if value(node).dtype != value(_operand(node)).dtype
        and (value(node).dtype in _WIDE or value(_operand(node)).dtype in _WIDE)
    ]
    if found:
        raise UnsupportedOpError([_refused(node) for node in found])


def _operand(node: Node) -> Node:
    operand = node.args[0]
    assert isinstance(operand, Node)
    return operand


def _refused(node: Node) -> UnsupportedOp:
    return UnsupportedOp(
        str(node.target),
        node.meta.get(ORIGIN, node.name),
        str(value(_operand(node)).dtype).removeprefix("torch."),
        "float64 computes in float32, whose bits are others.",
        source_line(node),
    )
