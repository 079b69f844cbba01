"""Control flow in one form: calls of `regions`, whose functions are graphs of their own.

`regions(kind, counts, functions, operands)` gives a list of tensors:

- CALL: what the one function gives for the operands.
- COND: the first operand, a tensor with one element, chooses between two functions of the others.
- WHILE: the first function tells whether to go on, the second gives the next of the first
  `counts[0]` operands, which are the results. Both are also given the other operands.
- SCAN: `counts` is how many operands are carried, and how many are iterated over their first
  dimension. The function takes carried values, one slice of each, and the other operands; it gives
  the next carried values and slices of the stacked results.

A function takes and returns tensors only. With checks (see `collect_checks`), it and the call
return a bool vector more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import torch
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule, Node

from neuron_compile.lowering.legalize.node_values import output_node, placeholders, value
from neuron_compile.lowering.legalize.repropagate import repropagate

CALL: Final = "call"
COND: Final = "cond"
WHILE: Final = "while"
SCAN: Final = "scan"


class _Regions(HigherOrderOperator):
    def __init__(self) -> None:
        super().__init__("neuron_compile_regions")  # type: ignore[no-untyped-call]

    def __call__(
        self,
        kind: str,
        counts: Sequence[int],
        functions: Sequence[GraphModule],
        operands: Sequence[torch.Tensor],
    ) -> list[torch.Tensor]:
        """Fake results for fake operands. The functions' own fake values are brought in line."""
        inputs: list[torch.Tensor] = list(operands[1:] if kind == COND else operands)
        if kind == SCAN:
            carried, ends = counts[0], counts[0] + counts[1]
            inputs[carried:ends] = [_slice_of(stacked) for stacked in inputs[carried:ends]]
        results: list[torch.Tensor] = []
        for function in functions:
            results = _retyped(function, inputs)
        if kind != SCAN:
            return [_like(result) for result in results]
        length = operands[counts[0]].shape[0]
        kept = [_like(result) for result in results[: counts[0]]]
        return kept + [_stack_of(result, length) for result in results[counts[0] :]]


regions: Final = _Regions()


def region_calls(module: GraphModule) -> list[Node]:
    """The graph's own calls of `regions`, in order."""
    found: list[Node] = module.graph.find_nodes(op="call_function", target=regions)
    return found


def function_names(call: Node) -> list[str]:
    """The names of a call's functions, unique in a whole program."""
    return [str(function.target) for function in call.args[2]]  # type: ignore[union-attr]


def functions_of(call: Node) -> list[GraphModule]:
    """The graphs of a call's functions."""
    return [getattr(call.graph.owning_module, name) for name in function_names(call)]


def counts_of(call: Node) -> list[int]:
    """A call's counts."""
    counts: Any = call.args[1]
    return list(counts)


def operands_of(call: Node) -> list[Node]:
    """A call's tensors."""
    operands: Any = call.args[3]
    return list(operands)


def inner_functions(module: GraphModule) -> dict[str, GraphModule]:
    """The functions of all control flow in a graph, by name, each after those that it calls."""
    found: dict[str, GraphModule] = {}
    for call in region_calls(module):
        for name, function in zip(function_names(call), functions_of(call), strict=True):
            found |= inner_functions(function)
            found[name] = function
    return found


def all_graphs(module: GraphModule) -> list[GraphModule]:
    """The graph and its inner functions, each after those that it calls."""
    return [*inner_functions(module).values(), module]


def numbered_nodes(module: GraphModule) -> list[Node]:
    """All nodes in the order of their numbers in a `TorchProgram`: the graph's own come first."""
    return [node for graph in reversed(all_graphs(module)) for node in graph.graph.nodes]


def results_of(function: GraphModule) -> list[Node]:
    """What a function returns."""
    results: Any = output_node(function).args[0]
    return list(results)


def result_values(function: GraphModule) -> Iterator[torch.Tensor]:
    """The fake values of what a function returns."""
    yield from map(value, results_of(function))


def _retyped(function: GraphModule, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    for placeholder, given in zip(placeholders(function), inputs, strict=True):
        placeholder.meta["val"] = given
    # The values have a mode of their own; two must not meet.
    with unset_fake_temporarily():
        repropagate(function)
    return list(result_values(function))


def _like(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)


def _slice_of(stacked: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(stacked.shape[1:], stacked.stride()[1:], dtype=stacked.dtype)


def _stack_of(tensor: torch.Tensor, length: int) -> torch.Tensor:
    return torch.empty((length, *tensor.shape), dtype=tensor.dtype)
