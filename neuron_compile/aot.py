"""AOTAutograd: from one Dynamo graph to forward, backward and inference graphs.

AOTAutograd traces the Dynamo graph, with our decompositions, into one joint graph if anything needs
a gradient; has `_partition` split it into a forward and a backward graph; and calls the compilers
below with them: the forward's at once, the backward's at the first backward pass. Without gradients
there is one inference graph. Since the backward graph is known when the forward graph is compiled,
the conductor is told of it as the upcoming one, and may begin with it.

If nothing about the Dynamo graph depends on this process, what the compilers give can also be kept
in AOTAutograd's own cache (`warm_start/`), from which a later process restores it without tracing.

This is the only place that falls back to eager.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from functorch.compile import min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd
from torch.fx import GraphModule

from neuron_compile.compiler import Compiler, PreparedGraph
from neuron_compile.eager_fallback import compile_around
from neuron_compile.errors import UnsupportedOpError
from neuron_compile.graph import CapturedGraph, GraphRole
from neuron_compile.lazy_table import LazyTable
from neuron_compile.lowering.decompose.table import decomposition_table
from neuron_compile.lowering.legalize.node_values import output_node
from neuron_compile.lowering.legalize.replace_random_ops import replace_random_ops
from neuron_compile.lowering.legalize.save_seed import save_seed
from neuron_compile.lowering.legalize.strip_results import USER_RESULT_COUNT
from neuron_compile.lowering.legalize.thread_seeds import thread_seeds
from neuron_compile.model_name import model_name
from neuron_compile.tracing import traced_for_lowering
from neuron_compile.warm_start.eligible import is_settled
from neuron_compile.warm_start.output_code import Boxed, StorableCode
from neuron_compile.warm_start.storing import storable_code, storable_compiler, storing


def compile_with_autograd(
    gm: GraphModule, example_inputs: Sequence[Any], compiler: Compiler
) -> Callable[..., Any]:
    """Trace forward and backward, and compile each graph that comes out.

    The forward graph is compiled at once, the backward graph when it is first needed. Where
    AOTAutograd's cache has both, neither is traced.
    """
    model = compiler.options.model_name or model_name()
    pair = _Pair()
    is_stored = compiler.stores_graphs and is_settled(gm)
    patches = storing(compiler, model, example_inputs) if is_stored else nullcontext()

    def compiler_of(role: GraphRole) -> Callable[..., Any]:
        compile_graph: Callable[..., Any] = functools.partial(
            _compile, compiler, model, pair, role, is_stored
        )
        return storable_compiler(compile_graph) if is_stored else compile_graph

    compile_all = aot_autograd(
        fw_compiler=compiler_of(GraphRole.FORWARD),
        bw_compiler=compiler_of(GraphRole.BACKWARD),
        inference_compiler=compiler_of(GraphRole.INFERENCE),
        partition_fn=functools.partial(_partition, compiler, pair),
        # Looked at when tracing begins: the compilers get ready while it lasts.
        decompositions=LazyTable(functools.partial(_decompositions, compiler)),
    )
    with traced_for_lowering(), patches:
        return compile_all(gm, example_inputs)


class _Pair:
    """The backward graph that belongs to the forward graph which is compiled next."""

    backward: GraphModule | None = None

    def upcoming(self, graph: CapturedGraph) -> CapturedGraph | None:
        """What is compiled after `graph`, once."""
        if graph.role is not GraphRole.FORWARD or self.backward is None:
            return None
        module, self.backward = self.backward, None
        return CapturedGraph(graph.model, GraphRole.BACKWARD, module, graph.number + 1)


def _decompositions(compiler: Compiler) -> dict[Any, Callable[..., Any]]:
    # Whoever asks for them is about to trace, and so about to compile.
    compiler.warm()
    return decomposition_table()


def _compile(
    compiler: Compiler,
    model: str,
    pair: _Pair,
    role: GraphRole,
    is_stored: bool,
    module: GraphModule,
    _inputs: Sequence[Any],
) -> Boxed | StorableCode:
    """What AOTAutograd calls with a graph; it keeps what can be stored."""
    graph = CapturedGraph(model, role, module)
    finish = functools.partial(_finish, compiler, graph, pair.upcoming(graph))
    return storable_code(compiler, graph, finish) if is_stored else finish(None)


def _finish(
    compiler: Compiler,
    graph: CapturedGraph,
    upcoming: CapturedGraph | None,
    prepared: PreparedGraph | None,
) -> Boxed:
    try:
        return compiler.finish(prepared or compiler.prepare(graph), upcoming)
    except UnsupportedOpError as error:
        found = compiler.name_all_refused(graph, error)
        if compiler.options.fallback == "eager" and found.may_run_in_eager:
            return compile_around(found, graph, compiler)
        if found is error:
            raise
        raise found from error


def _partition(
    compiler: Compiler, pair: _Pair, joint: GraphModule, inputs: Any, **arguments: Any
) -> tuple[GraphModule, GraphModule]:
    """Split the joint graph where the fewest bytes are saved.

    Random operators become functions of a seed first, so that the backward graph can draw the same
    numbers again from it.
    """
    # The first worker has done its imports by now: those of a second one delay nobody.
    compiler.warm(2)
    replace_random_ops(joint)
    thread_seeds(joint)
    forward, backward = min_cut_rematerialization_partition(joint, inputs, **arguments)
    output_node(forward).meta[USER_RESULT_COUNT] = arguments["num_fwd_outputs"]
    save_seed(forward, backward)
    pair.backward = backward
    return forward, backward
