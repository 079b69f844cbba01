"""Compute in float32 what was written in float64, as Neuron devices do."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch.fx import GraphModule
from torch.utils._pytree import tree_any, tree_map_only

from neuron_compile.lowering.legalize.node_values import value
from neuron_compile.lowering.legalize.repropagate import repropagate

_NARROWER: Final = {torch.float64: torch.float32, torch.complex128: torch.complex64}


def demote_float64(module: GraphModule) -> bool:
    """Make every float64 value a float32 one (complex128: complex64); tell whether there was any.

    Inputs change their type too: the runtime casts them on the way in, and results back on the way
    out.
    """
    if not any(_is_wide(node.meta.get("val")) for node in module.graph.nodes):
        return False
    for node in module.graph.nodes:
        if node.op == "get_attr":
            constant = getattr(module, str(node.target))
            if isinstance(constant, torch.Tensor):
                setattr(module, str(node.target), _demoted(constant))
        node.args, node.kwargs = tree_map_only(
            torch.dtype, lambda dtype: _NARROWER.get(dtype, dtype), (node.args, node.kwargs)
        )
    repropagate(module, _demoted)
    return True


def _demoted(tensor: torch.Tensor) -> torch.Tensor:
    narrower = _NARROWER.get(tensor.dtype)
    return tensor if narrower is None else tensor.to(narrower)


def _is_wide(result: Any) -> bool:
    return tree_any(lambda leaf: isinstance(leaf, torch.Tensor) and leaf.dtype in _NARROWER, result)


def wide_values(module: GraphModule) -> list[str]:
    """Names of the nodes that hold float64 or complex128 values."""
    return [node.name for node in module.graph.nodes if _is_wide(value(node))]
