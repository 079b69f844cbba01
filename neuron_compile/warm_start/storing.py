"""AOTAutograd with its cache on: what is patched around it, and what its compilers give it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch._functorch.config as functorch_config
from torch._functorch._aot_autograd.schemas import SerializableAOTDispatchCompiler
from torch._guards import TracingContext, tracing
from torch.fx import GraphModule

from neuron_compile.compiler import Compiler, PreparedGraph
from neuron_compile.errors import NeuronCompileError
from neuron_compile.graph import CapturedGraph, GraphRole
from neuron_compile.warm_start.cache_tag import WITHOUT_EFFECT, cache_tag
from neuron_compile.warm_start.output_code import Boxed, StorableCode, restoring_by
from neuron_compile.warm_start.restore import made_by_us, restore_with
from neuron_compile.warm_start.signature_json import UnstorableError
from neuron_compile.warm_start.stored_graph import StoredGraph


@contextmanager
def storing(compiler: Compiler, model: str, example_inputs: Sequence[Any]) -> Iterator[None]:
    """Within it, AOTAutograd keeps forward and backward in one entry of its cache, under a key that
    holds what ours depends on."""
    tag = cache_tag(compiler.options, compiler.generator, example_inputs)

    with (
        functorch_config.patch(
            bundled_autograd_cache=True,
            # Both are needed for an entry. Ours is prepared then, and compiled when it is called.
            force_non_lazy_backward_lowering=True,
        ),
        torch.compiler.config.patch(cache_key_tag=tag),  # type: ignore[attr-defined]
        restoring_by(functools.partial(restore_with, compiler, model)),
    ):
        yield


def storable_compiler(
    compile_fn: Callable[[GraphModule, Sequence[Any]], StorableCode],
) -> SerializableAOTDispatchCompiler:
    """`compile_fn` in the form that makes AOTAutograd consult its cache."""
    return SerializableAOTDispatchCompiler(StorableCode, compile_fn)


def storable_code(
    compiler: Compiler,
    graph: CapturedGraph,
    finish: Callable[[PreparedGraph | None], Boxed],
) -> StorableCode:
    """The code of a graph: prepared now; by `finish`, compiled now or, if it is a backward graph,
    when it is first called.

    `finish` is given nothing if the graph could not be prepared, and then raises what compiling
    does. So a backward graph that nobody needs fails nobody.
    """
    prepared: PreparedGraph | None
    try:
        prepared = compiler.prepare(graph)
        stored = _stored(compiler, prepared)
    except NeuronCompileError:
        prepared = stored = None
    if graph.role is not GraphRole.BACKWARD:
        code = StorableCode(stored, functools.partial(finish, prepared))
        code.compile_now()
        return code
    context = TracingContext.try_get()

    def compile_backward() -> Boxed:
        # What AOTAutograd has around a backward graph that it compiles late.
        with tracing(context), torch.no_grad(), torch._C._DisableAutocast():
            return finish(prepared)

    return StorableCode(stored, compile_backward)


def _stored(compiler: Compiler, prepared: PreparedGraph) -> StoredGraph | None:
    graph, imported = prepared.graph, prepared.imported
    stored = StoredGraph(
        graph.model,
        graph.role,
        graph.node_count,
        compiler.lowered_key(prepared),
        imported.signature,
        imported.demoted,
        made_by_us(),
        {
            name: value
            for name, value in dataclasses.asdict(compiler.options).items()
            if value is not None and name not in WITHOUT_EFFECT
        },
    )
    try:
        stored.encode()
    except UnstorableError:
        return None
    return stored
