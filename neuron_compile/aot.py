"""AOTAutograd: from one Dynamo graph to forward, backward and inference graphs.

The only place that falls back to eager.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from functorch.compile import min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd
from torch.fx import GraphModule
from torch.nn.attention import SDPBackend, sdpa_kernel

from neuron_compile.compiler import Compiler
from neuron_compile.eager_fallback import compile_around
from neuron_compile.errors import UnsupportedOpError
from neuron_compile.graph import CapturedGraph, GraphRole
from neuron_compile.lowering.decompose.table import decomposition_table
from neuron_compile.lowering.legalize.node_values import output_node
from neuron_compile.lowering.legalize.replace_random_ops import replace_random_ops
from neuron_compile.lowering.legalize.save_seed import save_seed
from neuron_compile.lowering.legalize.strip_results import USER_RESULT_COUNT
from neuron_compile.model_name import model_name


def compile_with_autograd(
    gm: GraphModule, example_inputs: Sequence[Any], compiler: Compiler
) -> Callable[..., Any]:
    """Trace forward and backward, and compile each graph that comes out.

    The forward graph is compiled at once, the backward graph when it is first needed.
    """
    model = compiler.options.model_name or model_name()
    pair = _Pair()
    compile_as = functools.partial(_compile, compiler, model, pair)
    compile_all = aot_autograd(
        fw_compiler=functools.partial(compile_as, GraphRole.FORWARD),
        bw_compiler=functools.partial(compile_as, GraphRole.BACKWARD),
        inference_compiler=functools.partial(compile_as, GraphRole.INFERENCE),
        partition_fn=functools.partial(_partition, pair),
        # Asked for when tracing begins: the compilers get ready while it lasts.
        decompositions=functools.partial(_decompositions, compiler),
    )
    # Attention is traced as the products and the softmax that it is: the fused CPU kernels are
    # opaque to the lowering, forward and backward.
    with sdpa_kernel(SDPBackend.MATH):
        return compile_all(gm, example_inputs)


class _Pair:
    """The backward graph that belongs to the forward graph which is compiled next."""

    backward: GraphModule | None = None


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
) -> Callable[[list[Any]], Sequence[Any]]:
    graph = CapturedGraph(model, role, module)
    upcoming = None
    if role is GraphRole.FORWARD and pair.backward is not None:
        upcoming = CapturedGraph(model, GraphRole.BACKWARD, pair.backward, graph.number + 1)
        pair.backward = None
    try:
        return compiler.compile(graph, upcoming)
    except UnsupportedOpError as error:
        if compiler.options.fallback != "eager":
            raise
        return compile_around(error, graph, compiler)


def _partition(
    pair: _Pair, joint: GraphModule, inputs: Any, **arguments: Any
) -> tuple[GraphModule, GraphModule]:
    """Split the joint graph where the fewest bytes are saved.

    Random operators become functions of a seed first, so that the backward graph can draw the same
    numbers again from it.
    """
    replace_random_ops(joint)
    forward, backward = min_cut_rematerialization_partition(joint, inputs, **arguments)
    output_node(forward).meta[USER_RESULT_COUNT] = arguments["num_fwd_outputs"]
    save_seed(forward, backward)
    pair.backward = backward
    return forward, backward
