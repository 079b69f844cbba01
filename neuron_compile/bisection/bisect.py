"""The function behind `neuron-compile bisect`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import torch
from torch import Tensor
from torch.fx import GraphModule
from torch.utils._pytree import tree_leaves

from neuron_compile.aot import compile_with_autograd
from neuron_compile.assembly import assemble
from neuron_compile.bisection.departures import Departure, departures
from neuron_compile.bisection.return_all_values import return_all_values
from neuron_compile.compiler import Compiler
from neuron_compile.environment import check_environment
from neuron_compile.graph import CapturedGraph
from neuron_compile.lowering.native_logs import quiet_native_logs
from neuron_compile.options import CompileOptions
from neuron_compile.settings import read_settings
from neuron_compile.static_shapes import require_static_shapes


@dataclass(frozen=True, slots=True)
class GraphDepartures:
    """The calls of one graph that depart from eager, in graph order, of how many compared."""

    graph: str
    call_count: int
    departures: tuple[Departure, ...]


@dataclass
class _Bisector:
    """In the conductor's place: compiles each graph, and checks its calls whenever it is run."""

    compiler: Compiler
    tolerance: float
    found: list[GraphDepartures] = field(default_factory=list)
    # A graph that came out of AOTAutograd's cache would not be seen.
    stores_graphs: ClassVar[bool] = False

    @property
    def options(self) -> CompileOptions:
        return self.compiler.options

    def warm(self, count: int = 1) -> None:
        self.compiler.warm(count)

    def prepare(self, graph: CapturedGraph) -> CapturedGraph:
        return graph

    def finish(
        self, graph: CapturedGraph, upcoming: CapturedGraph | None = None
    ) -> Callable[[list[Any]], Sequence[Any]]:
        compiled = self.compiler.compile(graph, upcoming)
        whole, calls = return_all_values(graph.module)
        instrumented = self.compiler.compile(dataclasses.replace(graph, module=whole))

        def run(arguments: list[Any]) -> Sequence[Any]:
            operands = list(arguments)
            with torch.no_grad():
                values = instrumented(list(operands))
                wrong = departures(
                    graph.module, operands, dict(zip(calls, values, strict=True)), self.tolerance
                )
                self.found.append(GraphDepartures(graph.name, len(calls), tuple(wrong)))
            return compiled(arguments)

        run._boxed_call = True  # type: ignore[attr-defined]
        return run


def bisect(
    model: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    options: Mapping[str, Any] | None = None,
    tolerance: float = 1.0,
) -> list[GraphDepartures]:
    """Run `model` compiled, forward and backward, and check every call of its graphs by itself.

    Each graph is compiled once more with all that it computes on the way among its results, so it
    takes the memory of all intermediate values. The backward pass begins at random cotangents of
    all results. `tolerance` scales the tolerances that are in `departures.TOLERANCES`. Gradients
    and buffers change as in a step of training; compiled code of this process is forgotten. Raises
    what compiling raises.
    """
    check_environment()
    quiet_native_logs()
    settings = read_settings()
    chosen = CompileOptions.from_user(options, settings)
    bisector = _Bisector(assemble(chosen, settings), tolerance)

    def backend(gm: GraphModule, example_inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
        require_static_shapes(gm, example_inputs)
        return compile_with_autograd(gm, example_inputs, cast(Compiler, bisector))

    torch._dynamo.reset()
    try:
        results = torch.compile(model, backend=backend, dynamic=False)(*args, **kwargs)
        roots = [r for r in tree_leaves(results) if isinstance(r, Tensor) and r.requires_grad]
        if roots:
            torch.autograd.backward(roots, [torch.randn_like(root) for root in roots])
    finally:
        torch._dynamo.reset()
    return bisector.found
