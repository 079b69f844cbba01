"""Random numbers inside graphs that are called: each call has a seed of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch._higher_order_ops.invoke_subgraph import invoke_subgraph
from torch.fx import GraphModule, Node

from neuron_compile.lowering import random_ops
from neuron_compile.lowering.legalize.node_values import call, calls, placeholders
from neuron_compile.lowering.legalize.regions import CALL, functions_of, region_calls
from neuron_compile.lowering.legalize.replace_random_ops import drawn_seed, replace_random_ops

_random = getattr(torch.ops, random_ops.NAMESPACE)

# Sites of one graph's own random operators are counted from zero.
_FIRST_SITE: Final = 1 << 24


@dataclass(frozen=True)
class _Call:
    """A call of a graph; `add(seed)` gives it one more operand."""

    node: Node
    function: GraphModule
    add: Callable[[Node], None]


def thread_seeds(module: GraphModule) -> None:
    """Make every called graph that draws a seed take one, which its caller makes from its own.

    Equal seeds give equal numbers, so that a graph which is called again to recompute what it gave
    sees what it saw. Graphs that are branches or steps of a loop are left alone.
    """
    _Threader().thread(module)


class _Threader:
    def __init__(self) -> None:
        # By identity: graphs are compared by it anyway, and kept alive by their callers.
        self._takes_seed: dict[int, bool] = {}

    def thread(self, module: GraphModule) -> None:
        for number, called in enumerate(_calls(module)):
            if not self._is_random(called.function):
                continue
            seed = drawn_seed(module)
            with module.graph.inserting_before(called.node):
                site = _FIRST_SITE + number
                own = call(
                    module, called.node, _random.randint.default, seed, site, [1], 0, 1 << 62,
                    torch.int64,
                )  # fmt: skip
            called.add(own)
        module.recompile()

    def _is_random(self, function: GraphModule) -> bool:
        """Whether it takes a seed, having been made to if it draws one."""
        if id(function) not in self._takes_seed:
            self.thread(function)
            replace_random_ops(function)
            self._takes_seed[id(function)] = _take_seed(function)
        return self._takes_seed[id(function)]


def _take_seed(function: GraphModule) -> bool:
    drawn = list(calls(function, _random.draw_seed.default))
    if not drawn:
        return False
    first = next(node for node in function.graph.nodes if node.op != "placeholder")
    with function.graph.inserting_before(first):
        seed = function.graph.placeholder(f"seed_{len(placeholders(function))}")
    seed.meta["val"] = drawn[0].meta["val"]
    for node in drawn:
        node.replace_all_uses_with(seed)
        function.graph.erase_node(node)
    function.recompile()
    return True


def _calls(module: GraphModule) -> Iterator[_Call]:
    """Calls in a graph as it was captured, and in one that is being legalized."""
    for node in list(calls(module, invoke_subgraph)):
        reference: Any = node.args[0]
        yield _Call(node, module.get_submodule(reference.target), _added_last(node))  # type: ignore[arg-type]
    for node in region_calls(module):
        if node.args[0] == CALL:
            (function,) = functions_of(node)
            yield _Call(node, function, _added_to_operands(node))


def _added_last(node: Node) -> Callable[[Node], None]:
    def add(seed: Node) -> None:
        node.args = (*node.args, seed)

    return add


def _added_to_operands(node: Node) -> Callable[[Node], None]:
    def add(seed: Node) -> None:
        operands: Any = node.args[3]
        node.args = (*node.args[:3], (*operands, seed))

    return add
