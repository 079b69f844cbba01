"""Take out of a graph's results those that need no computation of their own."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import torch
from torch._ops import OpOverload
from torch.fx import GraphModule, Node

from neuron_compile.lowering.errors import LoweringError
from neuron_compile.lowering.legalize.node_values import output_node, placeholders, spec_of, value
from neuron_compile.lowering.program import (
    ConstantResult,
    CopiedResult,
    InputResult,
    ResultSlot,
    SameResult,
    ViewResult,
)

# On the output node: how many of the first results are the user's. The others are saved for the
# backward graph.
USER_RESULT_COUNT: Final = "neuron_compile_user_result_count"


def strip_results(module: GraphModule) -> tuple[ResultSlot, ...]:
    """Leave each computed tensor once in the graph's results; say where every result comes from.

    Backward graphs return None for inputs without a gradient, forward graphs return inputs that
    are saved for the backward pass: a program has neither. Results that share memory in eager, as
    views of one tensor, are views of one result here too.
    """
    node = output_node(module)
    results = node.args[0]
    if not isinstance(results, list | tuple):
        raise LoweringError("a graph does not return a list", why=f"it returns {results!r}.")
    stripper = _Stripper(module, results, node.meta.get(USER_RESULT_COUNT, len(results)))
    slots = tuple(stripper.slot(position, result) for position, result in enumerate(results))
    node.args = (tuple(stripper.kept),)
    node.meta.pop("val", None)
    return slots


class _Stripper:
    def __init__(self, module: GraphModule, results: Any, user_result_count: int) -> None:
        self.kept: dict[Node, int] = {}
        self._inputs = {node: index for index, node in enumerate(placeholders(module))}
        self._seen: dict[Node, int] = {}
        self._user_result_count = user_result_count
        distinct = {result for result in results if isinstance(result, Node)}
        roots = Counter(_root(result) for result in distinct)
        self._shared_roots = {
            root for root, count in roots.items() if count > 1 and root.op == "call_function"
        }

    def slot(self, position: int, result: Any) -> ResultSlot:
        """Where the result at `position` comes from; a computed one is added to `kept`."""
        if not isinstance(result, Node):
            return None if result is None else ConstantResult(result)
        if result in self._inputs:
            return InputResult(self._inputs[result])
        if not isinstance(value(result), torch.Tensor):
            raise LoweringError(
                "a graph returns a number that is only known at run time",
                why=f"{result.name} = {result.target} is not a tensor.",
            )
        if result in self._seen:
            # One node stands for equal computations; their results in eager are separate tensors,
            # which the user may write to. Saved ones nobody writes to.
            is_users = position < self._user_result_count
            return (CopiedResult if is_users else SameResult)(self._seen[result])
        self._seen[result] = position
        root = _root(result)
        if root in self._shared_roots and root is not result:
            tensor: torch.Tensor = value(result)
            offset = int(tensor.storage_offset())
            return ViewResult(self._keep(root), spec_of(tensor), offset)
        return self._keep(result)

    def _keep(self, node: Node) -> int:
        return self.kept.setdefault(node, len(self.kept))


def _root(node: Node) -> Node:
    """The node whose memory a node's value lies in: itself, unless it is made by views alone."""
    while (source := _viewed(node)) is not None:
        node = source
    return node


def _viewed(node: Node) -> Node | None:
    """The tensor that a node is a view of, or None if it has memory of its own."""
    if node.op != "call_function" or not node.args or not isinstance(node.args[0], Node):
        return None
    source = node.args[0]
    if not isinstance(node.target, OpOverload):
        # An entry of a list of views, such as split gives.
        is_listed = isinstance(value(source), list | tuple)
        return _viewed(source) if is_listed and source.op == "call_function" else None
    returns = node.target._schema.returns
    aliases = any(entry.alias_info and not entry.alias_info.is_write for entry in returns)
    return source if aliases and _share_memory(node, source) else None


def _share_memory(node: Node, source: Node) -> bool:
    """Some operators, such as reshape, may or may not give a view: their fake values tell."""
    ours, theirs = value(node), value(source)
    first = ours[0] if isinstance(ours, list | tuple) else ours
    if not isinstance(first, torch.Tensor) or not isinstance(theirs, torch.Tensor):
        return False
    # The memory of a lazy conjugate, or of a part of a complex number, holds other values.
    if (first.dtype, first.is_conj(), first.is_neg()) != (
        theirs.dtype,
        theirs.is_conj(),
        theirs.is_neg(),
    ):
        return False
    shared: bool = first.untyped_storage()._cdata == theirs.untyped_storage()._cdata
    return shared
