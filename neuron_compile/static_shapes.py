"""Static shapes: asked for, enforced, and made so where the user left the choice open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from neuron_compile.errors import DynamicShapesError

_WHY = (
    "a program has one shape for each tensor, fixed when it is compiled; every new shape is "
    "compiled anew."
)
_HINT = (
    "pass dynamic=False to torch.compile (or leave it unset), and pad or bucket inputs so that the "
    "number of different shapes stays small."
)


def require_static_shapes(gm: GraphModule, example_inputs: Sequence[Any]) -> None:
    """Fix every symbolic size to its present value under a guard, so that each shape gets a graph.

    Raises `DynamicShapesError` if the user asked for dynamic shapes: by `dynamic=True`, which is
    visible to a backend only through Dynamo's configuration, or by marking a dimension.
    """
    arguments = gm.graph.find_nodes(op="placeholder")
    marked = [
        place
        for node, example in zip(arguments, example_inputs, strict=True)
        for place in _marked(node, example)
    ]
    if not torch._dynamo.config.assume_static_by_default:
        symbolic = [
            place for node in gm.graph.find_nodes(op="placeholder") for place in _symbolic(node)
        ]
        raise DynamicShapesError(
            "dynamic=True is not supported by backend neuron",
            where=marked or symbolic,
            why=_WHY,
            hint=_HINT,
        )
    if marked:
        raise DynamicShapesError(
            f"{len(marked)} dimension{'s are' if len(marked) > 1 else ' is'} marked dynamic",
            where=marked,
            why=_WHY,
            hint="remove torch._dynamo.mark_dynamic, and " + _HINT,
        )
    for value in example_inputs:
        for size in _sizes(value):
            int(size)


def _sizes(value: Any) -> Iterator[torch.SymInt]:
    candidates: tuple[Any, ...] = (value,)
    if isinstance(value, torch.Tensor):
        candidates = (*value.shape, *value.stride(), value.storage_offset())
    yield from (size for size in candidates if isinstance(size, torch.SymInt))


def _marked(node: Node, example: Any) -> Iterator[str]:
    """Dimensions that `mark_dynamic` and its kin have noted on the user's tensor."""
    for name in ("_dynamo_dynamic_indices", "_dynamo_unbacked_indices"):
        for dim in sorted(getattr(example, name, ())):
            yield f"argument {_argument(node)}, dimension {dim}"


def _symbolic(node: Node) -> Iterator[str]:
    value = node.meta.get("example_value")
    if isinstance(value, torch.Tensor):
        sizes: tuple[Any, ...] = tuple(value.shape)
        for dim, size in enumerate(sizes):
            if isinstance(size, torch.SymInt):
                yield f"argument {_argument(node)}, dimension {dim}"


def _argument(node: Node) -> str:
    """The argument as the user wrote it: Dynamo names placeholders `L_x_` for `L['x']`."""
    grapharg = node.meta.get("grapharg")
    source = getattr(grapharg, "source", None)
    name = source.name if source is not None else str(node.target)
    text = name() if callable(name) else name
    return str(text).removeprefix("L['").removesuffix("']")
