"""Write small products of matrices as ATen computes them: term by term.

ATen multiplies small matrices in plain loops, each product rounded before it is added, where XLA's
loops round once for both.
"""

from __future__ import annotations

import math
from typing import Final

import torch
from torch.fx import GraphModule

from neuron_compile.lowering.legalize.node_values import call, calls, value

_aten = torch.ops.aten

# Multiplications for one matrix. From here on ATen calls a BLAS, which contracts as XLA does.
_LOOP_LIMIT: Final = 400
# Multiplications for all matrices together: so few cost nothing beside the call of a program.
_TERM_LIMIT: Final = 1024


def spell_small_products(module: GraphModule) -> None:
    """Rewrite each `mm` and `bmm` of few multiplications as products and a sum of them."""
    for node in calls(module, _aten.mm.default, _aten.bmm.default):
        left, right = node.args
        result = value(node)
        terms = result.numel() * value(left).shape[-1]
        batch = math.prod(result.shape[:-2])
        if result.dtype not in (torch.float32, torch.float64) or not terms:
            continue
        if terms >= _LOOP_LIMIT * batch or terms > _TERM_LIMIT:
            continue
        with module.graph.inserting_before(node):
            columns = call(module, node, _aten.unsqueeze.default, left, -1)
            rows = call(module, node, _aten.unsqueeze.default, right, -3)
            product = call(module, node, _aten.mul.Tensor, columns, rows)
            total = call(module, node, _aten.sum.dim_IntList, product, [-2])
        node.replace_all_uses_with(total)
        module.graph.erase_node(node)
