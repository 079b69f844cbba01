"""Bring PyTorch's control flow into the one form of `regions`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
import torch._higher_order_ops  # makes the operators known by name
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from neuron_compile.lowering.errors import LoweringError
from neuron_compile.lowering.legalize.copy_graph import copy_graph
from neuron_compile.lowering.legalize.node_values import (
    ORIGIN,
    concrete,
    output_node,
    placeholders,
    value,
)
from neuron_compile.lowering.legalize.regions import CALL, COND, SCAN, WHILE, regions

_hop = torch.ops.higher_order
_SYMBOLIC: Final = (torch.SymInt, torch.SymFloat, torch.SymBool)


@dataclass(frozen=True)
class _Form:
    """The arguments of a call of `regions` that stands for a call of another operator. Operands
    from `first_free` on may be Python numbers."""

    kind: str
    functions: Sequence[Node]
    operands: Sequence[Any]
    counts: tuple[int, ...] = ()
    first_free: int = 0


def lift_regions(module: GraphModule) -> None:
    """Replace each call of `cond`, `while_loop`, `scan`, `map` and `invoke_subgraph` by one of
    `regions`, in the graph and in the functions of such calls, which become copies.

    Numbers that are passed to a function are written into it; results that are None or a known
    number are taken out. Nodes inside carry the name of the graph's own node that they belong to.
    """
    _Lifter().lift(module)


class _Lifter:
    def __init__(self) -> None:
        self._copies: dict[tuple[Any, ...], tuple[str, GraphModule]] = {}

    def lift(self, module: GraphModule) -> None:
        for node in list(module.graph.nodes):
            if node.op == "call_function" and node.target in _FORMS:
                self._replace(module, node, _FORMS[node.target](node))

    def _replace(self, module: GraphModule, node: Node, form: _Form) -> None:
        numbers = {
            position: number
            for position, operand in enumerate(form.operands)
            if position >= form.first_free and (number := _number(operand)) is not None
        }
        operands = [o for position, o in enumerate(form.operands) if position not in numbers]
        live = [position for position, result in enumerate(value(node)) if _is_computed(result)]
        with module.graph.inserting_before(node):
            functions = [
                self._function(module, node, form, index, numbers, live)
                for index in range(len(form.functions))
            ]
            arguments = (form.kind, form.counts, tuple(functions), tuple(operands))
            call = module.graph.call_function(regions, arguments)
        call.meta = dict(node.meta)
        call.meta["val"] = [value(node)[position] for position in live]
        _take_results(node, call, live)
        module.graph.erase_node(node)

    def _function(
        self,
        module: GraphModule,
        node: Node,
        form: _Form,
        index: int,
        numbers: Mapping[int, Any],
        live: Sequence[int],
    ) -> Node:
        original: GraphModule = module.get_submodule(str(form.functions[index].target))  # type: ignore[assignment]
        # The first operand of a condition is not passed on.
        inner = {p - (form.kind == COND): number for p, number in numbers.items()}
        gives_results = not (form.kind == WHILE and index == 0)
        kept = tuple(live) if gives_results else (0,)
        key = (id(original), tuple(inner.items()), kept)
        if key not in self._copies:
            function = copy_graph(original)
            _belong_to(function, node)
            _write_in(function, inner)
            _return_tensors(function, kept)
            name = f"region_{len(self._copies)}"
            self._copies[key] = (name, function)
            self.lift(function)
            function.graph.eliminate_dead_code()
        name, function = self._copies[key]
        setattr(module, name, function)
        reference = module.graph.get_attr(name)
        # `regions` computes its fake results with it.
        reference.meta["val"] = function
        return reference


def _number(operand: Any) -> Any:
    """The Python number that an operand is known to be; None if it is a tensor."""
    symbol = value(operand)
    if isinstance(symbol, bool | int | float):
        return symbol
    if isinstance(symbol, _SYMBOLIC) and not free_unbacked_symbols(symbol):
        return concrete(symbol)
    return None


def _is_computed(result: Any) -> bool:
    return result is not None and _number(result) is None


def _belong_to(function: GraphModule, call: Node) -> None:
    for node in function.graph.nodes:
        node.meta[ORIGIN] = call.meta[ORIGIN]
        if not node.meta.get("stack_trace") and "stack_trace" in call.meta:
            node.meta["stack_trace"] = call.meta["stack_trace"]


def _write_in(function: GraphModule, numbers: Mapping[int, Any]) -> None:
    for position, placeholder in enumerate(placeholders(function)):
        if position in numbers:
            placeholder.replace_all_uses_with(numbers[position])
            function.graph.erase_node(placeholder)


def _return_tensors(function: GraphModule, kept: Sequence[int]) -> None:
    node = output_node(function)
    returned = node.args[0]
    results = returned if isinstance(returned, list | tuple) else (returned,)
    node.args = (tuple(results[position] for position in kept),)
    node.meta.pop("val", None)


def _take_results(old: Node, new: Node, live: Sequence[int]) -> None:
    graph = old.graph
    for user in list(old.users):
        if user.target is not operator.getitem:
            raise LoweringError(
                "the results of control flow are not taken apart", why=f"by {user.format_node()}"
            )
        position: Any = user.args[1]
        if position in live:
            user.args = (new, live.index(position))
            continue
        known = value(old)[position]
        user.replace_all_uses_with(None if known is None else _number(known))  # type: ignore[arg-type]
        graph.erase_node(user)


def _cond(node: Node) -> _Form:
    choice, *functions, operands = node.args
    known = _number(choice)
    if known is not None:
        return _Form(CALL, [functions[0 if known else 1]], operands)  # type: ignore[list-item,arg-type]
    return _Form(COND, functions, [choice, *operands], first_free=1)  # type: ignore[arg-type,misc]


def _while(node: Node) -> _Form:
    condition, body, carried, others = node.args
    count = len(carried)  # type: ignore[arg-type]
    return _Form(WHILE, [condition, body], [*carried, *others], (count,), count)  # type: ignore[list-item,misc]


def _scan(node: Node) -> _Form:
    function, carried, stacked, others = node.args
    counts = (len(carried), len(stacked))  # type: ignore[arg-type]
    operands = [*carried, *stacked, *others]  # type: ignore[misc]
    return _Form(SCAN, [function], operands, counts, sum(counts))  # type: ignore[list-item]


def _map(node: Node) -> _Form:
    function, stacked, others = node.args
    counts = (0, len(stacked))  # type: ignore[arg-type]
    return _Form(SCAN, [function], [*stacked, *others], counts, sum(counts))  # type: ignore[list-item,misc]


def _invoke(node: Node) -> _Form:
    # The second argument is a name.
    function, _, *operands = node.args
    return _Form(CALL, [function], operands)  # type: ignore[list-item]


_FORMS: Final[dict[Any, Callable[[Node], _Form]]] = {
    _hop.cond: _cond,
    _hop.while_loop: _while,
    _hop.scan: _scan,
    _hop.map_impl: _map,
    _hop.invoke_subgraph: _invoke,
}
