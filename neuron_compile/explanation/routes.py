"""Which way each operation of a graph takes to StableHLO."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_map
from torch.utils.flop_counter import flop_registry

from neuron_compile.errors import SourceLine
from neuron_compile.explanation.findings import Operation
from neuron_compile.explanation.lower_fully import FullLowering
from neuron_compile.lowering.legalize.node_values import value
from neuron_compile.lowering.legalize.regions import numbered_nodes
from neuron_compile.lowering.source_lines import source_line

TORCH_MLIR: Final = "Torch-MLIR"
LIBRARY: Final = "library"
NOTHING: Final = "nothing"
NONE: Final = "none"

_CALL: Final = re.compile(r"stablehlo\.custom_call @.* loc\((#loc\d*)\)$", re.MULTILINE)
_LOCATION: Final = re.compile(r'^(#loc\d*) = loc\("n(\d+)"\)$', re.MULTILINE)


def operations_of(module: GraphModule, lowering: FullLowering) -> tuple[Operation, ...]:
    """The operators of a captured graph, those with most calls first."""
    routes = _routes(lowering)
    failed = {failure.node for failure in lowering.failures}
    groups: dict[str, list[Node]] = {}
    for node in module.graph.nodes:
        if node.op == "call_function" and node.target is not operator.getitem:
            groups.setdefault(_written(node), []).append(node)
    found = [_operation(name, nodes, routes, failed) for name, nodes in groups.items()]
    return tuple(sorted(found, key=lambda entry: (-entry.count, entry.operator)))


def library_nodes(program: str) -> set[int]:
    """The numbers of the nodes that a torch program calls library functions for."""
    numbers = {name: int(number) for name, number in _LOCATION.findall(program)}
    return {numbers[name] for name in _CALL.findall(program) if name in numbers}


def _routes(lowering: FullLowering) -> dict[str, set[str]]:
    """The routes of what each node of the captured graph has become, by the node's name."""
    routes: dict[str, set[str]] = {}
    if lowering.imported is None or lowering.program is None:
        return routes
    in_library = library_nodes(lowering.program.module)
    nodes = numbered_nodes(lowering.imported.legal_module)
    for number, (node, origin) in enumerate(zip(nodes, lowering.imported.origins, strict=True)):
        if node.op == "call_function" and node.target is not operator.getitem:
            route = LIBRARY if number in in_library else TORCH_MLIR
            routes.setdefault(origin.name, set()).add(route)
    return routes


def _operation(
    name: str, nodes: list[Node], routes: Mapping[str, set[str]], failed: Set[str]
) -> Operation:
    taken = {
        route
        for node in nodes
        for route in ({NONE} if node.name in failed else routes.get(node.name, {NOTHING}))
    }
    if len(taken) > 1:
        taken.discard(NOTHING)
    into = Counter(str(node.target) for node in nodes if str(node.target) != name)
    return Operation(
        operator=name,
        routes=tuple(sorted(taken)),
        into=tuple(sorted(into)),
        count=len(nodes),
        flops=sum(map(flops_of, nodes)),
        places=_places(nodes),
    )


def _written(node: Node) -> str:
    """The operator that was decomposed into this call, or that of the call."""
    original = node.meta.get("original_aten")
    return str(node.target if original is None else original)


def _places(nodes: Iterable[Node]) -> tuple[SourceLine, ...]:
    return tuple(dict.fromkeys(line for node in nodes if (line := source_line(node))))


def flops_of(node: Node) -> int:
    """What PyTorch's counter says about one call: a multiply-add is two, other calls are 0."""
    formula = flop_registry.get(getattr(node.target, "overloadpacket", None))
    if formula is None:
        return 0

    def concrete(argument: Any) -> Any:
        return value(argument) if isinstance(argument, Node) else argument

    args, kwargs = tree_map(concrete, (tuple(node.args), dict(node.kwargs)))
    return int(formula(*args, **kwargs, out_val=value(node)))


def bytes_of(nodes: Iterable[Any]) -> int:
    """Bytes of the tensors that these nodes stand for, each once."""
    return sum(
        value(node).numel() * value(node).element_size()
        for node in dict.fromkeys(nodes)
        if isinstance(node, Node) and isinstance(value(node), torch.Tensor)
    )
