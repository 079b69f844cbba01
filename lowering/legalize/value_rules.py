"""What an operator requires of the numbers in its operands, and what eager says if they are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering import checked_ops, random_ops  # noqa: F401 - define operators
from neuron_compile.lowering.legalize.node_values import call, value

_aten = torch.ops.aten
_ours = getattr(torch.ops, random_ops.NAMESPACE)


@dataclass(frozen=True, slots=True)
class ValueRule:
    """`failed(module, node)` adds nodes to the graph that compute a bool scalar, true where the
    node's call would have raised `exception` with `message`. Rules of equal `key` are the same."""

    key: tuple[Any, ...]
    exception: str
    message: str
    failed: Callable[[GraphModule, Node], Node]


def value_rules(node: Node) -> Iterator[ValueRule]:
    """What eager would require of the operands of a call, index bounds apart."""
    rule = _RULES.get(node.target)
    result = value(node)
    if rule is not None and result.numel():
        yield from rule(node)


def _integer_division(node: Node) -> Iterator[ValueRule]:
    result = value(node)
    if result.is_floating_point() or result.is_complex():
        return
    divisor: Any = node.args[1]

    def failed(module: GraphModule, node: Node) -> Node:
        if not isinstance(divisor, Node):
            return call(module, node, _aten.full.default, [], divisor == 0, dtype=torch.bool)
        return _any(module, node, call(module, node, _aten.eq.Scalar, divisor, 0))

    yield ValueRule((divisor, "zero"), "RuntimeError", "ZeroDivisionError", failed)


def _between(operand: Any, low: float | None, high: float | None, message: str) -> ValueRule:
    """Every element of `operand` lies in [`low`, `high`], where given; NaN does not."""
    bounds = [(_aten.ge.Scalar, low), (_aten.le.Scalar, high)]

    def failed(module: GraphModule, node: Node) -> Node:
        first, *others = (
            call(module, node, compare, operand, bound)
            for compare, bound in bounds
            if bound is not None
        )
        inside = first
        for other in others:
            inside = call(module, node, _aten.logical_and.default, inside, other)
        return _any(module, node, call(module, node, _aten.logical_not.default, inside))

    return ValueRule((operand, low, high), "RuntimeError", message, failed)


def _bernoulli(node: Node) -> Iterator[ValueRule]:
    text = "Expected p_in >= 0 && p_in <= 1 to be true, but got false."
    yield _between(node.args[2], 0, 1, text)


def _multinomial(node: Node) -> Iterator[ValueRule]:
    weights: Any = node.args[2]
    largest = torch.finfo(value(weights).dtype).max
    text = "probability tensor contains either `inf`, `nan` or element < 0"
    yield _between(weights, 0, largest, text)

    def failed(module: GraphModule, node: Node) -> Node:
        some = call(module, node, _aten.gt.Scalar, weights, 0)
        some = call(module, node, _aten.any.dim, some, -1)
        return _any(module, node, call(module, node, _aten.logical_not.default, some))

    text = "invalid multinomial distribution (sum of probabilities <= 0)"
    yield ValueRule((weights, "sum"), "RuntimeError", text, failed)


def _poisson(node: Node) -> Iterator[ValueRule]:
    text = "invalid Poisson rate, expected rate to be non-negative"
    yield _between(node.args[2], 0, None, text)


def _scaled_normal(node: Node) -> Iterator[ValueRule]:
    text = "normal expects all elements of std >= 0.0"
    yield _between(node.args[2], 0, None, text)


def _one_hot(node: Node) -> Iterator[ValueRule]:
    classes, count = node.args[0], int(node.args[1])  # type: ignore[arg-type]
    text = "Class values must be non-negative."
    yield _between(classes, 0, None, text)
    text = "Class values must be smaller than num_classes."
    yield _between(classes, None, count - 1, text)


def _any(module: GraphModule, node: Node, condition: Node) -> Node:
    return call(module, node, _aten.any.default, condition)


_RULES: Final[dict[Any, Callable[[Node], Iterator[ValueRule]]]] = {
    **dict.fromkeys(
        (
            _aten.floor_divide.default,
            _aten.floor_divide.Scalar,
            _aten.remainder.Tensor,
            _aten.remainder.Scalar,
            _aten.remainder.Scalar_Tensor,
            _aten.fmod.Tensor,
            _aten.fmod.Scalar,
            _aten.div.Tensor_mode,
            _aten.div.Scalar_mode,
        ),
        _integer_division,
    ),
    _ours.bernoulli.default: _bernoulli,
    _ours.multinomial.default: _multinomial,
    _ours.poisson.default: _poisson,
    _ours.scaled_normal.default: _scaled_normal,
    _ours.one_hot.default: _one_hot,
}
