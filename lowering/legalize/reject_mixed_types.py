"""Refuse products of tensors of unlike types, as eager does and tracing does not."""

from __future__ import annotations

from typing import Final

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.errors import UnsupportedOp, UnsupportedOpError
from neuron_compile.lowering.legalize.node_values import ORIGIN, calls, value
from neuron_compile.lowering.source_lines import source_line

_aten = torch.ops.aten

_PRODUCTS: Final = (
    _aten.mm.default,
    _aten.bmm.default,
    _aten.addmm.default,
    _aten.baddbmm.default,
    _aten.mv.default,
    _aten.dot.default,
    _aten.convolution.default,
)


def reject_mixed_types(module: GraphModule) -> None:
    """Raise `UnsupportedOpError`, with all such products, if there are any."""
    refused = []
    for node in calls(module, *_PRODUCTS):
        operands = [argument for argument in node.args if isinstance(argument, Node)]
        names = sorted({str(value(operand).dtype) for operand in operands})
        if len(names) > 1:
            refused.append(
                UnsupportedOp(
                    str(node.target),
                    node.meta.get(ORIGIN, node.name),
                    ", ".join(names),
                    f"its operands are of types {' and '.join(names)}; eager refuses that too.",
                    source_line(node),
                    "convert one of them with tensor.to(dtype).",
                )
            )
    if refused:
        raise UnsupportedOpError(refused)
