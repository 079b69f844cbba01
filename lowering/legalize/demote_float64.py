"""Compute in float32 what was written in float64, as Neuron devices do."""

from __future__ import annotations

import operator
from typing import Any, Final

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_any, tree_map_only

from neuron_compile.lowering.legalize.node_values import value
from neuron_compile.lowering.legalize.regions import all_graphs, numbered_nodes, regions
from neuron_compile.lowering.legalize.repropagate import repropagate

_NARROWER: Final = {torch.float64: torch.float32, torch.complex128: torch.complex64}

_CASTS: Final = frozenset(
    {torch.ops.aten._to_copy.default, torch.ops.prims.convert_element_type.default}
)


def demote_float64(module: GraphModule) -> tuple[Node, ...]:
    """Make every float64 value a float32 one (complex128: complex64).

    Inputs change their type too: the runtime casts them on the way in, and results back on the way
    out. Returns the calls that compute with less precision than was written; narrowing casts do
    not.
    """
    nodes = numbered_nodes(module)
    if not any(_is_wide(value(node)) for node in nodes):
        return ()
    computing = tuple(node for node in nodes if _computes_wide(node))
    for graph in all_graphs(module):
        _narrow_literals(graph)
    repropagate(module, lambda dtype: _NARROWER.get(dtype, dtype))
    return computing


def _narrow_literals(module: GraphModule) -> None:
    for node in module.graph.nodes:
        if node.op == "get_attr":
            constant = getattr(module, str(node.target))
            if isinstance(constant, torch.Tensor):
                setattr(module, str(node.target), _demoted(constant))
        node.args, node.kwargs = tree_map_only(
            torch.dtype, lambda dtype: _NARROWER.get(dtype, dtype), (node.args, node.kwargs)
        )


def _computes_wide(node: Node) -> bool:
    # A cast loses nothing that its operand had. Dynamo writes Python floats as casts of a float64.
    # The operations inside of control flow are judged one by one.
    if node.op != "call_function" or node.target in (operator.getitem, regions):
        return False
    if node.target in _CASTS:
        return False
    return _is_wide(value(node)) or any(_is_wide(value(source)) for source in node.all_input_nodes)


def _demoted(tensor: torch.Tensor) -> torch.Tensor:
    narrower = _NARROWER.get(tensor.dtype)
    with unset_fake_temporarily():
        return tensor if narrower is None else tensor.to(narrower)


def _is_wide(result: Any) -> bool:
    return tree_any(lambda leaf: isinstance(leaf, torch.Tensor) and leaf.dtype in _NARROWER, result)
