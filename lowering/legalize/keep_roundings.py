"""Keep the rounding between operators where XLA would compute two as one.

LLVM contracts `a * b + c` to one rounding, and XLA writes `a / b / c` as `a / (b * c)`. Eager
rounds the result of each operator, and where terms cancel the difference is all that is left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.legalize.node_values import call, calls, value

_aten = torch.ops.aten

# The rounding costs a comparison for each element: nothing beside the call of a program up to this
# size, and up to half of the time of a loop that computes little on more.
SIZE_LIMIT: Final = 4096

_PRODUCTS: Final = frozenset({_aten.mul.Tensor, _aten.mul.Scalar, _aten.pow.Tensor_Scalar})
_SUMS: Final = frozenset(
    {
        *(_aten.add.Tensor, _aten.add.Scalar, _aten.sub.Tensor, _aten.sub.Scalar),
        *(_aten.rsub.Scalar, _aten.rsub.Tensor),
        *(_aten.sum.default, _aten.sum.dim_IntList, _aten.mean.default, _aten.mean.dim),
    }
)
_QUOTIENTS: Final = frozenset({_aten.div.Tensor, _aten.div.Scalar})
# XLA looks through these.
_MOVEMENTS: Final = frozenset(
    {
        *(_aten.neg.default, _aten.clone.default, _aten.alias.default, _aten.detach.default),
        *(_aten.view.default, _aten.reshape.default, _aten._unsafe_view.default),
        *(_aten.expand.default, _aten.permute.default, _aten.transpose.int, _aten.t.default),
        *(_aten.squeeze.default, _aten.squeeze.dim, _aten.squeeze.dims, _aten.unsqueeze.default),
        *(_aten.slice.Tensor, _aten.select.int),
    }
)


def keep_roundings(module: GraphModule) -> None:
    """Put between a small product and a sum of it, and between two small quotients, what no
    compiler sees through: a choice of NaN where the first is NaN."""
    for node in calls(module, *_PRODUCTS, *_QUOTIENTS):
        result = value(node)
        if result.dtype not in (torch.float32, torch.float64) or result.numel() > SIZE_LIMIT:
            continue
        followers = _QUOTIENTS if node.target in _QUOTIENTS else _SUMS
        if any(user.target in followers for user in _users(node)):
            _round(module, node)


def _users(node: Node) -> Iterator[Node]:
    for user in node.users:
        if user.target in _MOVEMENTS:
            yield from _users(user)
        else:
            yield user


def _round(module: GraphModule, node: Node) -> None:
    users = list(node.users)
    with module.graph.inserting_after(node):
        is_nan = call(module, node, _aten.isnan.default, node)
    with module.graph.inserting_after(is_nan):
        nan = call(module, node, _aten.full.default, [], math.nan, dtype=value(node).dtype)
    with module.graph.inserting_after(nan):
        rounded = call(module, node, _aten.where.self, is_nan, nan, node)
    for user in users:
        user.replace_input_with(node, rounded)
