"""Refuse graphs in which a size is only known at run time."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch._higher_order_ops.while_loop import while_loop_op
from torch.fx import GraphModule
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils._pytree import tree_leaves

from neuron_compile.lowering.errors import DynamicShapesError
from neuron_compile.lowering.legalize.regions import numbered_nodes
from neuron_compile.lowering.source_lines import source_line

_CARRY_TENSORS: Final = (
    "carry tensors without dimensions through a loop, and not Python numbers, which are sizes to "
    "PyTorch; "
)


def reject_data_dependent_sizes(module: GraphModule) -> None:
    """Raise `DynamicShapesError`, with all such operations and their lines, if there are any."""
    found = [n for n in numbered_nodes(module) if _creates_unknown(n.meta.get("val"), n)]
    places = [f"{n.target}   {source_line(n) or '(no source line known)'}" for n in found]
    if places:
        raise DynamicShapesError(
            f"{len(places)} operation{'s' * (len(places) > 1)} with a result whose size depends on "
            "data cannot be compiled for neuron",
            where=places,
            why="a program has one shape for each tensor, fixed when it is compiled.",
            hint=(_CARRY_TENSORS if any(n.target is while_loop_op for n in found) else "")
            + "use a form with a fixed size (torch.where for boolean masks, a padded result "
            "with a count), or keep the operation out of the compiled region with "
            "torch.compiler.disable.",
        )


def _creates_unknown(result: Any, node: torch.fx.Node) -> bool:
    unknown: set[Any] = set()
    for leaf in tree_leaves(result):
        if isinstance(leaf, torch.Tensor | torch.SymInt | torch.SymFloat | torch.SymBool):
            unknown |= free_unbacked_symbols(leaf)
    if not unknown or node.op != "call_function":
        return False
    known: set[Any] = set()
    for source in node.all_input_nodes:
        for leaf in tree_leaves(source.meta.get("val")):
            if isinstance(leaf, torch.Tensor | torch.SymInt | torch.SymFloat | torch.SymBool):
                known |= free_unbacked_symbols(leaf)
    return bool(unknown - known)
