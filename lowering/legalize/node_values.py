"""What passes need to know and to write about an FX node's value (`meta["val"]`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_map_only

from neuron_compile.lowering.program import TensorSpec

# Where a node's name in the graph as captured is kept while passes rewrite it.
ORIGIN = "neuron_compile_origin"

# What a new node inherits from the one it stands in for: the user's line, for error messages.
_SOURCE_FIELDS = (ORIGIN, "stack_trace", "nn_module_stack", "source_fn_stack", "original_aten")


def value(node: Any) -> Any:
    """The fake value of a node; anything that is not a node is its own value."""
    return node.meta.get("val") if isinstance(node, Node) else node


def spec_of(tensor: torch.Tensor) -> TensorSpec:
    """Shape, dtype name and strides of a tensor whose sizes are all known."""
    return TensorSpec(
        tuple(int(size) for size in tensor.shape),
        str(tensor.dtype).removeprefix("torch."),
        tuple(int(stride) for stride in tensor.stride()),
    )


def concrete(symbol: Any) -> bool | int | float:
    """The value of a symbolic number that is known."""
    if isinstance(symbol, torch.SymBool):
        return bool(symbol)
    return float(symbol) if isinstance(symbol, torch.SymFloat) else int(symbol)


def fake_mode_of(module: GraphModule) -> FakeTensorMode:
    """The fake mode of the graph's values, or a new one if it has none."""
    for node in module.graph.nodes:
        found = node.meta.get("val")
        if isinstance(found, FakeTensor):
            return found.fake_mode
    return FakeTensorMode()


def call(
    module: GraphModule, like: Node, target: Callable[..., Any], *args: Any, **kwargs: Any
) -> Node:
    """Add a call at the graph's insertion point, with its fake value, in the name of `like`."""
    node = module.graph.call_function(target, args, kwargs)
    inherit_source(node, like)
    evaluate(node, fake_mode_of(module))
    return node


def inherit_source(node: Node, like: Node) -> None:
    """Give `node` the source line of `like`."""
    for field in _SOURCE_FIELDS:
        if field in like.meta:
            node.meta[field] = like.meta[field]


def evaluate(node: Node, mode: FakeTensorMode) -> None:
    """Set a call node's fake value from those of its arguments."""
    args, kwargs = tree_map_only(Node, value, (node.args, node.kwargs))
    assert callable(node.target)
    with mode:
        node.meta["val"] = node.target(*args, **kwargs)
    node.meta.pop("tensor_meta", None)


def output_node(module: GraphModule) -> Node:
    """The graph's output node."""
    node: Node = next(iter(reversed(module.graph.nodes)))
    assert node.op == "output"
    return node


def placeholders(module: GraphModule) -> list[Node]:
    """The graph's placeholders in order."""
    return module.graph.find_nodes(op="placeholder")


def calls(module: GraphModule, *targets: Any) -> Iterator[Node]:
    """Call nodes whose target is one of `targets`, in graph order, safe to rewrite meanwhile."""
    wanted = frozenset(targets)
    for node in list(module.graph.nodes):
        if node.op == "call_function" and node.target in wanted:
            yield node
