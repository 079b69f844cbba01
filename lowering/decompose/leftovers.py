"""Operators that were not decomposed when a graph was traced.

PyTorch hands a nested region on as it is where it stands inside of other control flow.
"""

from __future__ import annotations

import operator
from typing import Any

from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_flatten, tree_unflatten

from neuron_compile.lowering.decompose.table import decomposition_table
from neuron_compile.lowering.legalize.node_values import (
    fake_mode_of,
    inherit_source,
    output_node,
    placeholders,
    value,
)


def decompose_leftovers(module: GraphModule) -> None:
    """Replace each operator in the graph that has a decomposition by it."""
    table = decomposition_table()
    for node in list(module.graph.nodes):
        if node.op == "call_function" and node.target in table:
            _expand(module, node)


def _expand(module: GraphModule, node: Node) -> None:
    leaves, form = tree_flatten((node.args, node.kwargs))
    operands = [leaf for leaf in leaves if isinstance(leaf, Node)]

    def called(*tensors: Any) -> Any:
        given = iter(tensors)
        filled = [next(given) if isinstance(leaf, Node) else leaf for leaf in leaves]
        args, kwargs = tree_unflatten(filled, form)
        return node.target(*args, **kwargs)  # type: ignore[operator]

    with fake_mode_of(module):
        traced = make_fx(called, decomposition_table())(*map(value, operands))
    copies: dict[Node, Node] = dict(zip(placeholders(traced), operands, strict=True))
    with module.graph.inserting_before(node):
        for part in traced.graph.nodes:
            if part.op not in ("placeholder", "output"):
                copies[part] = module.graph.node_copy(part, copies.__getitem__)
                inherit_source(copies[part], node)
            if part.op == "get_attr":
                name = f"{node.name}_{part.target}"
                setattr(module, name, getattr(traced, str(part.target)))
                copies[part].target = name
    _replace(node, output_node(traced).args[0], copies)


def _replace(node: Node, results: Any, copies: dict[Node, Node]) -> None:
    graph = node.graph
    if isinstance(results, Node):
        node.replace_all_uses_with(copies[results])
    else:
        for user in list(node.users):
            assert user.target is operator.getitem
            result = results[user.args[1]]
            user.replace_all_uses_with(None if result is None else copies[result])  # type: ignore[arg-type]
            graph.erase_node(user)
    graph.erase_node(node)
