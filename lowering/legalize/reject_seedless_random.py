"""Refuse random operators that do not draw from the program's seed."""

from __future__ import annotations

from typing import Final

import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch.fx import GraphModule, Node

from neuron_compile.lowering import random_ops
from neuron_compile.lowering.errors import UnsupportedOp, UnsupportedOpError
from neuron_compile.lowering.legalize.node_values import ORIGIN
from neuron_compile.lowering.legalize.regions import numbered_nodes
from neuron_compile.lowering.source_lines import source_line

_NO_FORM: Final = "it has no form that is a function of a seed."
_INSIDE: Final = (
    "random numbers are drawn once for a whole program: a branch or an iteration cannot draw its "
    "own. Draw them outside, and pass them in."
)

_draw_seed = getattr(torch.ops, random_ops.NAMESPACE).draw_seed.default


def reject_seedless_random(module: GraphModule) -> None:
    """Raise `UnsupportedOpError` for every random operator that `replace_random_ops` left.

    Torch-MLIR would convert some of them into numbers that ignore `torch.manual_seed`.
    """
    own = set(module.graph.nodes)
    left = [node for node in numbered_nodes(module) if _is_random(node)]
    if left:
        raise UnsupportedOpError(
            [
                UnsupportedOp(
                    str(node.target),
                    node.meta.get(ORIGIN, node.name),
                    "",
                    _NO_FORM if node in own else _INSIDE,
                    source_line(node),
                )
                for node in left
            ]
        )


def _is_random(node: Node) -> bool:
    if node.op != "call_function" or node.target is _draw_seed:
        return False
    if isinstance(node.target, HigherOrderOperator):
        return "rng_state" in node.target.name()
    return (
        isinstance(node.target, OpOverload)
        and torch.Tag.nondeterministic_seeded in node.target.tags
    )
