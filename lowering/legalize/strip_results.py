"""Take out of a graph's results those that need no computation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.errors import LoweringError
from neuron_compile.lowering.legalize.node_values import output_node, placeholders, value


@dataclass(frozen=True, slots=True)
class StrippedResults:
    """`slots` has one entry for each original result: an index into the nodes that the program
    still computes, None, `("input", i)` for placeholder i itself, `("constant", x)` for a Python
    value, or `("alias", slot)` for the same tensor as an earlier slot."""

    slots: tuple[int | None | tuple[str, Any], ...]


def strip_results(module: GraphModule) -> StrippedResults:
    """Leave each computed tensor once in the graph's results, and nothing else.

    Backward graphs return None for inputs without a gradient, forward graphs return inputs that
    are saved for the backward pass: a program has neither.
    """
    node = output_node(module)
    results = node.args[0]
    if not isinstance(results, list | tuple):
        raise LoweringError("a graph does not return a list", why=f"it returns {results!r}.")
    inputs = {placeholder: index for index, placeholder in enumerate(placeholders(module))}
    kept: dict[Node, int] = {}
    slots: list[int | None | tuple[str, Any]] = []
    first_slot: dict[Node, int] = {}
    for slot, result in enumerate(results):
        if not isinstance(result, Node):
            slots.append(None if result is None else ("constant", result))
        elif not isinstance(value(result), torch.Tensor):
            slots.append(_number_slot(result, inputs))
        elif result in inputs:
            slots.append(("input", inputs[result]))
        elif result in kept:
            slots.append(("alias", first_slot[result]))
        else:
            kept[result] = len(kept)
            first_slot[result] = slot
            slots.append(kept[result])
    node.args = (tuple(kept),)
    node.meta.pop("val", None)
    return StrippedResults(tuple(slots))


def _number_slot(result: Node, inputs: dict[Node, int]) -> tuple[str, Any]:
    if result in inputs:
        return ("input", inputs[result])
    raise LoweringError(
        "a graph returns a number that is only known at run time",
        why=f"{result.name} = {result.target} is not a tensor.",
    )
