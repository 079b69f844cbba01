"""Conjugate Python numbers at once.

The gradient of a product with a number conjugates the number, by an operator that takes a tensor.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

_aten = torch.ops.aten
_CONJUGATES: Final = {
    _aten._conj.default,
    _aten._conj_physical.default,
    _aten.conj_physical.default,
}


def conjugate_numbers(module: GraphModule) -> None:
    """Replace each conjugate of a Python number, and copies of it, by the number that it is."""
    for node in list(module.graph.nodes):
        is_conjugate = node.target in _CONJUGATES
        if not is_conjugate and node.target is not _aten.clone.default:
            continue
        if isinstance(node.args[0], Node):
            continue
        number = node.args[0].conjugate() if is_conjugate else node.args[0]

        def inserted(value: Node, node: Node = node, number: Any = number) -> Any:
            return number if value is node else value

        takers = [user for user in node.users if user.op != "output"]
        for user in takers:
            user.args = map_arg(user.args, inserted)
            user.kwargs = map_arg(user.kwargs, inserted)
        if not node.users:
            module.graph.erase_node(node)
