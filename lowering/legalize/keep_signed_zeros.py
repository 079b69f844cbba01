"""Write calls whose result may be -0.0 so that no later stage loses the sign."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.legalize.node_values import call, calls, value

_aten = torch.ops.aten


def keep_signed_zeros(module: GraphModule) -> None:
    """Rewrite the additions, bounds, truncations and roots of real floating-point tensors that
    Torch-MLIR and XLA simplify as if -0.0 were 0.0.

    `x + 0` is 0.0 at -0.0, not `x`; of equal zeros a bound keeps the element, where StableHLO's
    maximum takes the positive one, of which Torch-MLIR makes `elu` too; a root of -0.0 is -0.0,
    where its power is 0.0.
    """
    for node in calls(module, *_REWRITES):
        result = value(node)
        operand = node.args[0]
        if not isinstance(operand, Node) or not result.is_floating_point() or not result.numel():
            continue
        if value(operand).dtype != result.dtype or value(operand).shape != result.shape:
            continue
        with module.graph.inserting_before(node):
            replacement = _REWRITES[node.target](_Writer(module, node), *node.args, **node.kwargs)
        if replacement is not None:
            node.replace_all_uses_with(replacement)
            module.graph.erase_node(node)


class _Writer:
    def __init__(self, module: GraphModule, node: Node) -> None:
        self._module, self._node = module, node

    def __call__(self, target: Callable[..., Any], *args: Any, **kwargs: Any) -> Node:
        return call(self._module, self._node, target, *args, **kwargs)

    def chosen(self, compare: Any, operand: Node, bound: float) -> Node:
        """The bound where the operand compares so with it, else the operand."""
        number = self(_aten.full.default, [], float(bound), dtype=value(operand).dtype)
        condition = self(compare, operand, float(bound))
        return self(_aten.where.self, condition, number, operand)


def _add(writer: _Writer, operand: Node, other: Any, alpha: float = 1, **_: Any) -> Node | None:
    if isinstance(other, Node) or other * alpha != 0 or math.copysign(1.0, other * alpha) < 0:
        return None
    return writer.chosen(_aten.eq.Scalar, operand, 0.0)


def _relu(writer: _Writer, operand: Node) -> Node:
    return writer.chosen(_aten.lt.Scalar, operand, 0.0)


def _clamp(
    writer: _Writer,
    operand: Node,
    min: float | None = None,  # noqa: A002 - as the operator calls it
    max: float | None = None,  # noqa: A002
) -> Node | None:
    if min != 0 and max != 0:
        return None
    if min is not None:
        operand = writer.chosen(_aten.lt.Scalar, operand, min)
    return operand if max is None else writer.chosen(_aten.gt.Scalar, operand, max)


def _clamp_max(writer: _Writer, operand: Node, bound: float) -> Node | None:
    return _clamp(writer, operand, max=bound)


def _hardtanh(writer: _Writer, operand: Node, low: float = -1.0, high: float = 1.0) -> Node | None:
    return _clamp(writer, operand, low, high)


def _elu(writer: _Writer, operand: Node, *scales: float) -> Node:
    is_zero = writer(_aten.eq.Scalar, operand, 0.0)
    return writer(_aten.where.self, is_zero, operand, writer(_aten.elu.default, operand, *scales))


def _truncated(writer: _Writer, operand: Node) -> Node:
    is_below = writer(_aten.lt.Scalar, operand, 0.0)
    up, down = writer(_aten.ceil.default, operand), writer(_aten.floor.default, operand)
    return writer(_aten.where.self, is_below, up, down)


def _power(writer: _Writer, operand: Node, exponent: float) -> Node | None:
    if exponent == 0.5:
        return writer(_aten.sqrt.default, operand)
    return writer(_aten.rsqrt.default, operand) if exponent == -0.5 else None


_REWRITES: Final[dict[Any, Callable[..., Node | None]]] = {
    _aten.add.Tensor: _add,
    _aten.add.Scalar: _add,
    _aten.relu.default: _relu,
    _aten.clamp.default: _clamp,
    _aten.clamp_min.default: _clamp,
    _aten.clamp_max.default: _clamp_max,
    _aten.hardtanh.default: _hardtanh,
    _aten.elu.default: _elu,
    _aten.trunc.default: _truncated,
    _aten.pow.Tensor_Scalar: _power,
}
