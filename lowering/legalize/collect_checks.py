"""Compute, beside a graph's results, the conditions for which eager execution would have raised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.legalize.index_rules import IndexBound, index_bounds
from neuron_compile.lowering.legalize.node_values import call, output_node, value
from neuron_compile.lowering.legalize.region_checks import take_region_checks
from neuron_compile.lowering.legalize.value_rules import ValueRule, value_rules
from neuron_compile.lowering.program import RuntimeCheck
from neuron_compile.lowering.source_lines import source_line

_aten = torch.ops.aten


@dataclass(frozen=True)
class _Condition:
    """`write(module)` adds the nodes of a bool scalar that is true where `check` has failed; equal
    keys mean equal conditions."""

    key: tuple[Any, ...]
    node: Node
    check: RuntimeCheck
    write: Callable[[GraphModule], Node]


def collect_checks(module: GraphModule) -> tuple[RuntimeCheck, ...]:
    """Add one bool vector to the end of the graph's results, true where a check has failed.

    Checked are index tensors against the sizes they index, and operands against what their
    operator refuses: integer divisors of zero, probabilities above 1. An index that does not depend
    on the graph's arguments is PyTorch's own and is not checked. Returns what each entry of the
    vector means; without any check there is no such result.
    """
    variable = _variable_nodes(module)
    found: dict[tuple[Any, ...], _Condition] = {}
    for node in module.graph.nodes:
        if node.op == "call_function":
            for condition in _conditions(node, variable):
                found.setdefault(condition.key, condition)
    inner_checks, vectors = take_region_checks(module)
    if not found and not vectors:
        return ()
    output = output_node(module)
    with module.graph.inserting_before(output):
        failed = [
            call(module, c.node, _aten.reshape.default, c.write(module), [1])
            for c in found.values()
        ]
        failed += vectors
        vector = failed[0] if len(failed) == 1 else _concatenated(module, failed)
    output.args = ((*output.args[0], vector),)  # type: ignore[misc]
    return (*(condition.check for condition in found.values()), *inner_checks)


def _concatenated(module: GraphModule, parts: list[Node]) -> Node:
    return call(module, parts[0], _aten.cat.default, parts)


def _variable_nodes(module: GraphModule) -> set[Node]:
    """The nodes that depend on an argument of the graph."""
    variable: set[Node] = set()
    for node in module.graph.nodes:
        if node.op == "placeholder" or not variable.isdisjoint(node.all_input_nodes):
            variable.add(node)
    return variable


def _conditions(node: Node, variable: set[Node]) -> Iterator[_Condition]:
    for bound in index_bounds(node):
        if bound.index in variable and value(bound.index).numel():
            yield _out_of_range(node, bound)
    for rule in value_rules(node):
        yield _refused(node, rule)


def _out_of_range(node: Node, bound: IndexBound) -> _Condition:
    def write(module: GraphModule) -> Node:
        low = call(module, node, _aten.lt.Scalar, bound.index, bound.low)
        high = call(module, node, _aten.ge.Scalar, bound.index, bound.size)
        either = call(module, node, _aten.logical_or.default, low, high)
        return call(module, node, _aten.any.default, either)

    check = RuntimeCheck(bound.exception, _with_place(bound.message, node))
    return _Condition((bound.index, bound.low, bound.size), node, check, write)


def _refused(node: Node, rule: ValueRule) -> _Condition:
    check = RuntimeCheck(rule.exception, _with_place(rule.message, node))
    return _Condition(rule.key, node, check, lambda module: rule.failed(module, node))


def _with_place(message: str, node: Node) -> str:
    line = source_line(node)
    return f"{message}\n  {line}" if line else message
