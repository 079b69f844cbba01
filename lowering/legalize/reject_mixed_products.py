"""Refuse products of tensors of different dtypes, as eager does."""

from __future__ import annotations

from typing import Final

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.errors import UnsupportedOp, UnsupportedOpError
from neuron_compile.lowering.legalize.node_values import ORIGIN, calls, value
from neuron_compile.lowering.source_lines import source_line

_aten = torch.ops.aten

# Operators whose kernels take one dtype; fake tensors do not check it.
_PRODUCTS: Final = (
    _aten.mm.default,
    _aten.bmm.default,
    _aten.addmm.default,
    _aten.baddbmm.default,
    _aten.mv.default,
    _aten.dot.default,
    _aten.convolution.default,
)


def reject_mixed_products(module: GraphModule) -> None:
    """Raise `UnsupportedOpError` for every matrix product or convolution of mixed dtypes.

    A program would compute them, in a type that the user has not asked for.
    """
    mixed = [node for node in calls(module, *_PRODUCTS) if len(_dtypes(node)) > 1]
    if mixed:
        raise UnsupportedOpError(
            [
                UnsupportedOp(
                    str(node.target),
                    node.meta.get(ORIGIN, node.name),
                    "",
                    f"dtypes differ, {' and '.join(_dtypes(node))}, which eager refuses too.",
                    source_line(node),
                    "cast one of the operands, or use torch.autocast.",
                )
                for node in mixed
            ]
        )


def _dtypes(node: Node) -> list[str]:
    return sorted(
        {str(value(operand).dtype).removeprefix("torch.") for operand in node.all_input_nodes}
    )
