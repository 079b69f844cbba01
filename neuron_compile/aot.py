"""AOTAutograd: from one Dynamo graph to forward, backward and inference graphs.

The only place that falls back to eager.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
import torch._functorch.config as functorch_config
from functorch.compile import min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd
from torch.fx import GraphModule
from torch.nn.attention import SDPBackend, sdpa_kernel

from neuron_compile.compiler import Compiler, PreparedGraph
from neuron_compile.eager_fallback import compile_around
from neuron_compile.errors import UnsupportedOpError
from neuron_compile.graph import CapturedGraph, GraphRole
from neuron_compile.lazy_table import LazyTable
from neuron_compile.lowering.decompose.flex_attention import flex_attention_as_products
from neuron_compile.lowering.decompose.scan_gradient import scan_gradient
from neuron_compile.lowering.decompose.table import decomposition_table
from neuron_compile.lowering.decompose.while_loop_gradient import while_loop_gradient
from neuron_compile.lowering.decompose.whole_operators import whole_operators
from neuron_compile.lowering.legalize.node_values import output_node
from neuron_compile.lowering.legalize.replace_random_ops import replace_random_ops
from neuron_compile.lowering.legalize.save_seed import save_seed
from neuron_compile.lowering.legalize.strip_results import USER_RESULT_COUNT
from neuron_compile.lowering.legalize.thread_seeds import thread_seeds
from neuron_compile.model_name import model_name
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
        if is_stored:
            return storable_compiler(
                functools.partial(_compile_storable, compiler, model, pair, role)
            )
        return functools.partial(_compile, compiler, model, pair, role)

    compile_all = aot_autograd(
        fw_compiler=compiler_of(GraphRole.FORWARD),
        bw_compiler=compiler_of(GraphRole.BACKWARD),
        inference_compiler=compiler_of(GraphRole.INFERENCE),
        partition_fn=functools.partial(_partition, pair),
        # Looked at when tracing begins: the compilers get ready while it lasts.
        decompositions=LazyTable(functools.partial(_decompositions, compiler)),
    )
    # Attention is traced as the products and the softmax that it is: the fused CPU kernels are
    # opaque to the lowering, forward and backward.
    with (
        sdpa_kernel(SDPBackend.MATH),
        _recurrent_layers_as_steps(),
        whole_operators(),
        flex_attention_as_products(),
        while_loop_gradient(),
        scan_gradient(),
        _recomputing_by_partition(),
        patches,
    ):
        return compile_all(gm, example_inputs)


@contextmanager
def _recurrent_layers_as_steps() -> Iterator[None]:
    """Without oneDNN, PyTorch traces an LSTM as its steps; with it, as one opaque operator."""
    was_enabled = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(was_enabled)


def _recomputing_by_partition() -> AbstractContextManager[None]:
    """In graphs that are not split, PyTorch writes checkpointed operations down twice, and gives up
    on random ones. XLA would make one of the two again."""
    patch: AbstractContextManager[None] = functorch_config.patch(
        remat_using_tags_for_fwd_loss_bwd_graph=False
    )
    return patch


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
    compiler.warm()
    return decomposition_table()


def _compile(
    compiler: Compiler,
    model: str,
    pair: _Pair,
    role: GraphRole,
    module: GraphModule,
    _inputs: Sequence[Any],
) -> Boxed:
    graph = CapturedGraph(model, role, module)
    return _finish(compiler, graph, pair.upcoming(graph), None)


def _compile_storable(
    compiler: Compiler,
    model: str,
    pair: _Pair,
    role: GraphRole,
    module: GraphModule,
    _inputs: Sequence[Any],
) -> StorableCode:
    graph = CapturedGraph(model, role, module)
    return storable_code(
        compiler, graph, functools.partial(_finish, compiler, graph, pair.upcoming(graph))
    )


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
    pair: _Pair, joint: GraphModule, inputs: Any, **arguments: Any
) -> tuple[GraphModule, GraphModule]:
    """Split the joint graph where the fewest bytes are saved.

    Random operators become functions of a seed first, so that the backward graph can draw the same
    numbers again from it.
    """
    replace_random_ops(joint)
    thread_seeds(joint)
    forward, backward = min_cut_rematerialization_partition(joint, inputs, **arguments)
    output_node(forward).meta[USER_RESULT_COUNT] = arguments["num_fwd_outputs"]
    save_seed(forward, backward)
    pair.backward = backward
    return forward, backward
