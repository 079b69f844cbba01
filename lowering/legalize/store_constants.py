"""Keep constant tensors in types that have a literal in the torch dialect."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule, Node

from neuron_compile.lowering.legalize.node_values import call, fake_mode_of

_aten = torch.ops.aten

# Torch-MLIR legalizes no unsigned literal, and folds a conversion of a signed one into one.
_SIGNED: Final = {
    torch.uint8: torch.int16,
    torch.uint16: torch.int32,
    torch.uint32: torch.int64,
    torch.uint64: torch.int64,
}


def store_constants(module: GraphModule) -> None:
    """Store an unsigned constant as a wider signed one, and a complex one as pairs of real numbers.

    The function library makes the values out of them that the graph means.
    """
    for node in module.graph.find_nodes(op="get_attr"):
        constant = getattr(module, str(node.target))
        if not isinstance(constant, torch.Tensor):
            continue
        if constant.dtype in _SIGNED:
            with unset_fake_temporarily():
                signed = constant.to(_SIGNED[constant.dtype])
            stored = _constant(module, node, signed)
            _replace(module, node, stored, _aten._to_copy.default, dtype=constant.dtype)
        elif constant.dtype.is_complex:
            with unset_fake_temporarily():
                pairs = torch.view_as_real(constant.resolve_conj())
            _replace(module, node, _constant(module, node, pairs), _aten.view_as_complex.default)


def _constant(module: GraphModule, node: Node, tensor: torch.Tensor) -> Node:
    name = f"{node.target}_stored"
    module.register_buffer(name, tensor, persistent=False)
    with module.graph.inserting_after(node):
        stored = module.graph.get_attr(name)
    stored.meta["val"] = fake_mode_of(module).from_tensor(tensor, static_shapes=True)
    return stored


def _replace(module: GraphModule, node: Node, stored: Node, target: Any, **arguments: Any) -> None:
    with module.graph.inserting_after(stored):
        replacement = call(module, node, target, stored, **arguments)
    node.replace_all_uses_with(replacement)
    module.graph.erase_node(node)
