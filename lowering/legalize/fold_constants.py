"""Compute what depends on nothing."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_map_only

from neuron_compile.lowering.legalize.node_values import call, fake_mode_of, value

_full = torch.ops.aten.full.default
_SIZE_LIMIT: Final = 4096


def fold_constants(module: GraphModule) -> None:
    """Replace small tensors that are computed from constants alone by constants.

    Torch-MLIR folds them too, and gets some wrong. One value throughout is written as `full`.
    """
    known: dict[Node, Tensor] = {}
    for node in list(module.graph.nodes):
        result = _evaluate(module, node, known)
        if result is None:
            continue
        known[node] = result
        if node.all_input_nodes:
            with module.graph.inserting_before(node):
                replacement = _constant(module, node, result)
            known[replacement] = result
            node.replace_all_uses_with(replacement)
            module.graph.erase_node(node)


def _evaluate(module: GraphModule, node: Node, known: dict[Node, Tensor]) -> Tensor | None:
    result = value(node)
    if not isinstance(result, Tensor) or result.numel() > _SIZE_LIMIT:
        return None
    if node.op == "get_attr":
        constant = getattr(module, str(node.target))
        return constant if isinstance(constant, Tensor) else None
    if not _is_pure(node) or any(source not in known for source in node.all_input_nodes):
        return None
    # An iota is shorter than the numbers in it.
    if not node.all_input_nodes and node.target is not _full:
        return None
    args, kwargs = tree_map_only(Node, known.__getitem__, (node.args, node.kwargs))
    try:
        with unset_fake_temporarily(), torch.no_grad():
            computed: Any = node.target(*args, **kwargs)  # type: ignore[operator]
    except (RuntimeError, IndexError):
        # What eager would raise for is raised when the program runs, if it is reached.
        return None
    return computed if isinstance(computed, torch.Tensor) else None


def _is_pure(node: Node) -> bool:
    if node.op != "call_function" or not isinstance(node.target, OpOverload):
        return False
    # Operators of our own have no kernel, and those of other libraries need not be functions.
    is_aten = node.target.namespace in ("aten", "prims")
    return is_aten and torch.Tag.nondeterministic_seeded not in node.target.tags


def _constant(module: GraphModule, like: Node, result: Tensor) -> Node:
    with unset_fake_temporarily():
        dense = result.detach().resolve_conj().resolve_neg().contiguous().clone()
        number = _single_value(dense)
    if number is not None:
        return call(module, like, _full, list(dense.shape), number, dtype=dense.dtype)
    name = f"_folded_{like.name}"
    module.register_buffer(name, dense, persistent=False)
    node = module.graph.get_attr(name)
    node.meta["val"] = fake_mode_of(module).from_tensor(dense, static_shapes=True)
    return node


def _single_value(dense: Tensor) -> bool | int | float | complex | None:
    """The one number that all elements are, to the bit."""
    if dense.numel() == 0:
        return 0
    first = dense.reshape(-1)[0]
    if not bool((dense == first).all()):
        return None
    if dense.dtype.is_complex or (dense.dtype.is_floating_point and bool(first == 0)):
        parts = torch.view_as_real(dense) if dense.dtype.is_complex else dense
        if bool(torch.signbit(parts).any()):
            return None
    number: bool | int | float | complex = first.item()
    return number
