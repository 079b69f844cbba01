"""The graphs that torch.compile would hand over, without compiling any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import torch
from torch.fx import GraphModule

from neuron_compile.aot import compile_with_autograd
from neuron_compile.compiler import Compiler
from neuron_compile.errors import NeuronCompileError, SourceLine
from neuron_compile.explanation.findings import GraphBreak
from neuron_compile.graph import CapturedGraph
from neuron_compile.options import CompileOptions
from neuron_compile.static_shapes import require_static_shapes


@dataclass
class Capture:
    """What a call of a model gave: its graphs, forward before backward, where Dynamo broke them,
    and errors about a graph as a whole."""

    options: CompileOptions
    graphs: list[CapturedGraph] = field(default_factory=list)
    breaks: list[GraphBreak] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    # A graph that came out of AOTAutograd's cache would not be seen.
    stores_graphs: ClassVar[bool] = False

    def warm(self, count: int = 1) -> None:
        """Nothing is compiled."""

    def prepare(self, graph: CapturedGraph) -> CapturedGraph:
        """Nothing is to be done before `finish`."""
        return graph

    def finish(
        self, graph: CapturedGraph, upcoming: CapturedGraph | None = None
    ) -> Callable[[list[Any]], Sequence[Any]]:
        """Note the graph, and the backward graph that belongs to it."""
        self.graphs += [graph, upcoming] if upcoming else [graph]
        return _never_called


def capture(
    model: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    options: CompileOptions,
) -> Capture:
    """Call `model` once in eager PyTorch, and note the graphs on the way.

    Buffers and random state are left as they were; compiled code of this process is forgotten, as
    by `torch._dynamo.explain`. Raises what the model raises.
    """
    found = Capture(options)

    def note(gm: GraphModule, example_inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
        _note_break(gm, found)
        try:
            require_static_shapes(gm, example_inputs)
            # It stands in for the conductor, of which these few methods are called.
            compile_with_autograd(gm, example_inputs, cast(Compiler, found))
        except NeuronCompileError as error:
            found.problems.append(str(error))
        eager: Callable[..., Any] = gm.forward
        return eager

    # What is traced for this backend alone is traced for it here.
    note.__name__ = "neuron"
    torch._dynamo.reset()
    try:
        with _as_before(model), torch.random.fork_rng(devices=()):
            torch.compile(model, backend=note, dynamic=False)(*args, **kwargs)
    finally:
        torch._dynamo.reset()
    return found


def _never_called(_arguments: list[Any]) -> Sequence[Any]:
    raise AssertionError("graphs that are explained are not run")


def _note_break(gm: GraphModule, found: Capture) -> None:
    reason = getattr(gm, "compile_subgraph_reason", None)
    if reason is None or not reason.graph_break:
        return
    frame = reason.user_stack[-1] if reason.user_stack else None
    source = frame and SourceLine(frame.filename, frame.lineno or 0, (frame.line or "").strip())
    found.breaks.append(GraphBreak(reason.reason.strip(), source))


@contextmanager
def _as_before(model: Any) -> Iterator[None]:
    """Give a module's buffers back the values they had."""
    buffers = list(model.buffers()) if isinstance(model, torch.nn.Module) else []
    values = [buffer.detach().clone() for buffer in buffers]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, value in zip(buffers, values, strict=True):
                buffer.copy_(value)
