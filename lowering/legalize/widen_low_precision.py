"""Compute in float32 what eager computes in float32 and rounds to 16 bits once."""

from __future__ import annotations

import math
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_leaves, tree_map

from neuron_compile.lowering.legalize.node_values import call, calls, value

_aten = torch.ops.aten

_LOW: Final = (torch.bfloat16, torch.float16)

# A number beside a tensor keeps its own precision in eager's kernels, as does the sum or product
# with it until the end.
_WITH_NUMBERS: Final = (
    _aten.add.Tensor,
    _aten.add.Scalar,
    _aten.sub.Tensor,
    _aten.sub.Scalar,
    _aten.rsub.Scalar,
    _aten.mul.Tensor,
    _aten.mul.Scalar,
)
# Several steps in Torch-MLIR or XLA, one kernel in eager.
_COMPOSITE: Final = (
    # XLA multiplies by a reciprocal, which it would round to 16 bits.
    _aten.div.Tensor,
    _aten.div.Scalar,
    _aten.gelu.default,
    _aten.gelu_backward.default,
    _aten.silu.default,
    _aten.elu.default,
    _aten.softplus.default,
    _aten.hardswish.default,
    _aten.hardsigmoid.default,
    _aten.pow.Tensor_Scalar,
    _aten.pow.Tensor_Tensor,
    _aten.pow.Scalar,
    _aten.tan.default,
    _aten.sinh.default,
    _aten.cosh.default,
    _aten.asin.default,
    _aten.acos.default,
    _aten.atan.default,
    _aten.exp2.default,
    _aten.log2.default,
    _aten.log10.default,
)


def widen_low_precision(module: GraphModule) -> None:
    """Convert the operands of such calls to float32, and their results back.

    XLA fuses the conversions into the arithmetic, which it does in float32 anyway.
    """
    for node in calls(module, *_WITH_NUMBERS, *_COMPOSITE):
        dtype = _result_dtype(node)
        if dtype in _LOW and (node.target not in _WITH_NUMBERS or _has_finer_number(node, dtype)):
            _widen(module, node)


def _result_dtype(node: Node) -> torch.dtype | None:
    result = value(node)
    return result.dtype if isinstance(result, torch.Tensor) else None


def _has_finer_number(node: Node, dtype: torch.dtype) -> bool:
    numbers = [leaf for leaf in tree_leaves((node.args, node.kwargs)) if isinstance(leaf, float)]
    scale = node.kwargs.get("alpha", 1)
    return bool(scale != 1) or any(_is_finer(number, dtype) for number in numbers)


def _is_finer(number: float, dtype: torch.dtype) -> bool:
    return math.isfinite(number) and float(torch.tensor(number, dtype=dtype)) != number


def _widen(module: GraphModule, node: Node) -> None:
    def wide(argument: Any) -> Any:
        if isinstance(argument, Node) and value(argument).dtype in _LOW:
            return call(module, node, _aten._to_copy.default, argument, dtype=torch.float32)
        return argument

    with module.graph.inserting_before(node):
        args, kwargs = tree_map(wide, (node.args, dict(node.kwargs)))
        widened = call(module, node, node.target, *args, **kwargs)  # type: ignore[arg-type]
        dtype = value(node).dtype
        narrowed = call(module, node, _aten._to_copy.default, widened, dtype=dtype)
    node.replace_all_uses_with(narrowed)
    module.graph.erase_node(node)
