"""Operators that were not decomposed when a graph was traced.

PyTorch hands a nested region on as it is where it stands inside of other control flow, and
`flex_attention` where autograd has been before.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from torch._higher_order_ops.flex_attention import flex_attention
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_flatten, tree_unflatten

from neuron_compile.lowering.decompose.flex_attention import attention
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
        if node.op != "call_function":
            continue
        if node.target is flex_attention:
            _expand(module, node, attention)
        elif node.target in table:
            # The rule itself may give what only the dispatcher can take.
            _expand(module, node, node.target)


def _expand(module: GraphModule, node: Node, rule: Callable[..., Any]) -> None:
    leaves, form = tree_flatten((node.args, node.kwargs))
    leaves = [_graph(module, leaf) or leaf for leaf in leaves]
    operands = [leaf for leaf in leaves if isinstance(leaf, Node)]

    def called(*tensors: Any) -> Any:
        given = iter(tensors)
        filled = [next(given) if isinstance(leaf, Node) else leaf for leaf in leaves]
        args, kwargs = tree_unflatten(filled, form)
        return rule(*args, **kwargs)

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


def _graph(module: GraphModule, leaf: Any) -> GraphModule | None:
    """The graph that an argument names."""
    if not isinstance(leaf, Node) or leaf.op != "get_attr":
        return None
    found = getattr(module, str(leaf.target))
    return found if isinstance(found, GraphModule) else None


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
