"""Refuse element types that a program cannot hold."""

from __future__ import annotations

from typing import Final

import torch
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_leaves

from neuron_compile.lowering.dtypes import ELEMENT_TYPES
from neuron_compile.lowering.errors import UnsupportedOp, UnsupportedOpError
from neuron_compile.lowering.legalize.node_values import ORIGIN, value
from neuron_compile.lowering.source_lines import source_line

# In the table of element types, but without a type in Torch-MLIR's dialect.
_NOT_IN_TORCH_DIALECT: Final = frozenset({"uint16", "uint64"})


def reject_unknown_dtypes(module: GraphModule) -> None:
    """Raise `UnsupportedOpError`, with all operations that make such a tensor, if there are any."""
    refused = []
    for node in module.graph.nodes:
        names = sorted({name for name in _dtype_names(node) if not _is_known(name)})
        if names and node.op != "output":
            refused.append(
                UnsupportedOp(
                    str(node.target),
                    node.meta.get(ORIGIN, node.name),
                    ", ".join(names),
                    f"programs have no elements of type {' or '.join(names)}.",
                    source_line(node),
                )
            )
    if refused:
        raise UnsupportedOpError(refused)


def _dtype_names(node: Node) -> list[str]:
    tensors = [leaf for leaf in tree_leaves(value(node)) if isinstance(leaf, torch.Tensor)]
    return [str(tensor.dtype).removeprefix("torch.") for tensor in tensors]


def _is_known(name: str) -> bool:
    return name in ELEMENT_TYPES and name not in _NOT_IN_TORCH_DIALECT
