"""Write every tensor made from nothing as `full`."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.legalize.node_values import call, calls, value

_aten = torch.ops.aten

# Operator -> where its value stands among the positional arguments, or the value itself.
_ARGUMENT: Final[dict[Any, int]] = {
    _aten.full.default: 1,
    _aten.full_like.default: 1,
    _aten.new_full.default: 2,
    _aten.scalar_tensor.default: 0,
}
_VALUE: Final = {
    _aten.zeros.default: 0,
    _aten.zeros_like.default: 0,
    _aten._efficientzerotensor.default: 0,
    _aten.new_zeros.default: 0,
    _aten.ones.default: 1,
    _aten.ones_like.default: 1,
    _aten.new_ones.default: 1,
    # Memory that nobody has written: zeros are as good as anything, and the same in every run.
    _aten.empty.memory_format: 0,
    _aten.empty_permuted.default: 0,
    _aten.empty_strided.default: 0,
    _aten.empty_like.default: 0,
    _aten.new_empty.default: 0,
    _aten.new_empty_strided.default: 0,
}


def fill_factories(module: GraphModule) -> None:
    """Replace `zeros`, `ones_like`, `new_full`, `empty_strided` and their kin by `full` with its
    shape and dtype written out."""
    for node in calls(module, *_ARGUMENT, *_VALUE):
        with module.graph.inserting_before(node):
            replacement = _full(module, node, value(node), _fill_value(node))
        node.replace_all_uses_with(replacement)
        module.graph.erase_node(node)


def _full(module: GraphModule, like: Node, filled: torch.Tensor, number: Any) -> Node:
    """The number is brought into the dtype here, since Torch-MLIR keeps the one it is given."""
    shape, dtype = list(filled.shape), filled.dtype
    if dtype is torch.bool:
        number = bool(number)
    elif dtype.is_complex:
        number = complex(number)
    elif dtype.is_floating_point:
        number = float(number)
    else:
        number = int(torch.tensor(number).to(dtype))
    return call(module, like, _aten.full.default, shape, number, dtype=dtype)


def _fill_value(node: Node) -> Any:
    if node.target in _VALUE:
        return _VALUE[node.target]
    position = _ARGUMENT[node.target]
    names: dict[Any, str] = {_aten.scalar_tensor.default: "s"}
    if position < len(node.args):
        return node.args[position]
    return node.kwargs[names.get(node.target, "fill_value")]
