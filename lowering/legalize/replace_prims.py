"""Write the primitives that PyTorch's reference decompositions leave behind as ATen operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.legalize.node_values import call, calls, value

_aten = torch.ops.aten
_prims = torch.ops.prims


def replace_prims(module: GraphModule) -> None:
    """Replace each primitive that has an ATen form, which both later routes know."""
    for node in calls(module, *_FORMS):
        with module.graph.inserting_before(node):
            replacement = _FORMS[node.target](module, node, *node.args, **node.kwargs)
        node.replace_all_uses_with(replacement)
        module.graph.erase_node(node)


def _converted(module: GraphModule, node: Node, source: Node, dtype: torch.dtype) -> Node:
    return call(module, node, _aten._to_copy.default, source, dtype=dtype)


def _squeezed(module: GraphModule, node: Node, source: Node, dimensions: Sequence[int]) -> Node:
    return call(module, node, _aten.squeeze.dims, source, list(dimensions))


def _aliased(module: GraphModule, node: Node, source: Node, *_: Any) -> Node:
    return call(module, node, _aten.alias.default, source)


def _transposed(module: GraphModule, node: Node, source: Node, permutation: Sequence[int]) -> Node:
    return call(module, node, _aten.permute.default, source, list(permutation))


def _reshaped(module: GraphModule, node: Node, source: Node, *_: Any) -> Node:
    return call(module, node, _aten.reshape.default, source, list(value(node).shape))


_FORMS: Final[dict[Any, Callable[..., Node]]] = {
    _prims.convert_element_type.default: _converted,
    _prims.squeeze.default: _squeezed,
    _prims.view_of.default: _aliased,
    _prims.device_put.default: _aliased,
    _prims.transpose.default: _transposed,
    _prims.split_dim.default: _reshaped,
    _prims.collapse.default: _reshaped,
    _prims.collapse_view.default: _reshaped,
}
