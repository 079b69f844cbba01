"""Turn the graph's draw of a seed into an input."""

from __future__ import annotations

import torch
from torch.fx import GraphModule

from neuron_compile.lowering import random_ops
from neuron_compile.lowering.errors import LoweringError
from neuron_compile.lowering.legalize.node_values import calls, placeholders

_draw_seed = getattr(torch.ops, random_ops.NAMESPACE).draw_seed.default


def lift_seed(module: GraphModule) -> bool:
    """Make the seed the graph's last input; tell whether it needs one."""
    draws = list(calls(module, _draw_seed))
    if not draws:
        return False
    if len(draws) > 1:
        raise LoweringError("a graph draws more than one seed", why="this is a defect of ours.")
    (draw,) = draws
    with (
        module.graph.inserting_after(placeholders(module)[-1])
        if placeholders(module)
        else module.graph.inserting_before(next(iter(module.graph.nodes)))
    ):
        seed = module.graph.placeholder("seed")
    seed.meta["val"] = draw.meta["val"]
    draw.replace_all_uses_with(seed)
    module.graph.erase_node(draw)
    return True
