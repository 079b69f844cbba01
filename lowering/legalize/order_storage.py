"""Give `as_strided` its operand in the order of its storage, which is what it reads."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.errors import UnsupportedOp, UnsupportedOpError
from neuron_compile.lowering.layout import PhysicalLayout, physical_layout
from neuron_compile.lowering.legalize.node_values import ORIGIN, call, calls, spec_of, value
from neuron_compile.lowering.source_lines import source_line

_aten = torch.ops.aten

_VIEWS: Final = (_aten.as_strided.default, _aten.as_strided_copy.default)
_SCATTERS: Final = (_aten.as_strided_scatter.default,)
# Torch-MLIR's importer rewrites the operator by this name into an index of its own, which takes the
# operand in its logical order.
_IMPORTED: Final[dict[Any, Any]] = {_aten.as_strided.default: _aten.as_strided_copy.default}


def order_storage(module: GraphModule) -> None:
    """Permute the operand of each `as_strided` and `as_strided_scatter` to its physical array.

    Raises `UnsupportedOpError`, with all of them, where the storage holds more than the operand: a
    tensor with gaps, or one that begins after its storage.
    """
    refused: list[UnsupportedOp] = []
    for node in calls(module, *_VIEWS, *_SCATTERS):
        source = node.args[0]
        layout = _whole_layout(value(source))
        if layout is None:
            refused.append(_refusal(node))
        else:
            _rewrite(module, node, layout)
    if refused:
        raise UnsupportedOpError(refused)


def _whole_layout(tensor: torch.Tensor) -> PhysicalLayout | None:
    spec = spec_of(tensor)
    if tensor.storage_offset() != 0 or 0 in spec.strides:
        return None
    return physical_layout(spec)


def _rewrite(module: GraphModule, node: Node, layout: PhysicalLayout) -> None:
    with module.graph.inserting_before(node):
        physical = call(module, node, _aten.permute.default, node.args[0], list(layout.order))
        # Under its own strides the permuted view is what the operator would be applied to.
        contiguous = value(physical).contiguous()
        physical.meta["val"] = contiguous
        target: Any = _IMPORTED.get(node.target, node.target)
        result = call(module, node, target, physical, *node.args[1:], **node.kwargs)
        if node.target in _SCATTERS:
            inverse = [layout.order.index(dim) for dim in range(len(layout.order))]
            result = call(module, node, _aten.permute.default, result, inverse)
    node.replace_all_uses_with(result)
    module.graph.erase_node(node)


def _refusal(node: Node) -> UnsupportedOp:
    spec = spec_of(value(node.args[0]))
    return UnsupportedOp(
        str(node.target),
        node.meta.get(ORIGIN, node.name),
        f"{spec.dtype}{list(spec.shape)} of strides {list(spec.strides)}",
        "its operand does not fill its storage, and a program sees the operand alone.",
        source_line(node),
    )
