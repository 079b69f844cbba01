"""FX graph to torch dialect: the part of lowering that needs torch.

Reads downwards: legalize the graph, settle its boundary, import it. What comes out is plain data
that the rest of the compiler handles without torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.decompose.leftovers import decompose_leftovers
from neuron_compile.lowering.errors import SourceLine
from neuron_compile.lowering.legalize.collect_checks import collect_checks
from neuron_compile.lowering.legalize.conjugate_numbers import conjugate_numbers
from neuron_compile.lowering.legalize.copy_graph import copy_graph
from neuron_compile.lowering.legalize.cross_boundary import cross_boundary
from neuron_compile.lowering.legalize.demote_float64 import demote_float64
from neuron_compile.lowering.legalize.lift_regions import lift_regions
from neuron_compile.lowering.legalize.lift_seed import lift_seed
from neuron_compile.lowering.legalize.node_values import (
    ORIGIN,
    output_node,
    placeholders,
    spec_of,
    value,
)
from neuron_compile.lowering.legalize.order import IMITATIONS, PASSES
from neuron_compile.lowering.legalize.region_checks import set_checks
from neuron_compile.lowering.legalize.regions import all_graphs, inner_functions, numbered_nodes
from neuron_compile.lowering.legalize.reject_data_dependent_sizes import (
    reject_data_dependent_sizes,
)
from neuron_compile.lowering.legalize.reject_float64_bits import reject_float64_bits
from neuron_compile.lowering.legalize.reject_seedless_random import reject_seedless_random
from neuron_compile.lowering.legalize.replace_random_ops import replace_random_ops
from neuron_compile.lowering.legalize.specialize_shapes import specialize_shapes
from neuron_compile.lowering.legalize.strip_results import strip_results
from neuron_compile.lowering.legalize.thread_seeds import thread_seeds
from neuron_compile.lowering.program import RuntimeCheck, Signature, TensorSpec, TorchProgram
from neuron_compile.lowering.source_lines import source_line


@dataclass(frozen=True, slots=True)
class NodeOrigin:
    """Where a numbered node of a `TorchProgram` comes from: for error messages only."""

    name: str
    operator: str
    operands: str
    source: SourceLine | None


@dataclass(frozen=True, slots=True)
class FxLowering:
    """What `from_fx` gives: the program, its calling convention, the origin of each of its
    numbered nodes, the operations that compute in float32 what was written in float64, and the
    legalized graph it was imported from."""

    program: TorchProgram
    signature: Signature
    origins: tuple[NodeOrigin, ...]
    demoted: tuple[NodeOrigin, ...]
    legal_module: GraphModule


def from_fx(
    module: GraphModule, *, checks: bool = False, rounds_as_eager: bool = True
) -> FxLowering:
    """Bring a functional FX graph into the torch dialect. `module` is left as it is.

    With `checks` the program also computes what eager would have raised for (`collect_checks`).
    Without `rounds_as_eager` products of small matrices stay what they are, too.
    Raises `DynamicShapesError`, `UnsupportedOpError`, `LoweringError`.
    """
    legal = copy_graph(module)
    replace_random_ops(legal)
    # Before it is lifted, control flow has the name that the user knows it by.
    reject_data_dependent_sizes(legal)
    lift_regions(legal)
    for function in inner_functions(legal).values():
        decompose_leftovers(function)
    thread_seeds(legal)
    reject_data_dependent_sizes(legal)
    arguments = [_argument_spec(node) for node in placeholders(legal)]
    reject_seedless_random(legal)
    slots = strip_results(legal)
    outputs = [spec_of(_concrete(node)) for node in output_node(legal).args[0]]  # type: ignore[union-attr,arg-type]
    specialize_shapes(legal)
    # A number's conjugate would count as float64.
    for graph in all_graphs(legal):
        conjugate_numbers(graph)
    reject_float64_bits(legal)
    demoted = tuple(map(_origin, demote_float64(legal)))
    collected = _collect_checks(legal) if checks else ()
    for legalize in PASSES:
        if legalize in IMITATIONS and not rounds_as_eager:
            continue
        for graph in all_graphs(legal):
            legalize(graph)
    has_seed = lift_seed(legal)
    for graph in all_graphs(legal):
        graph.graph.eliminate_dead_code()
    kept = _drop_unused_inputs(legal, len(arguments))
    specs = [arguments[index] for index in kept]
    entering = [_demoted(spec) for spec in specs if spec is not None]
    if has_seed:
        entering.append(TensorSpec((1,), "int64", (1,)))
    leaving = [*outputs, *([TensorSpec((len(collected),), "bool", (1,))] if collected else [])]
    cross_boundary(legal, entering, leaving)
    legal.graph.eliminate_dead_code()
    for graph in all_graphs(legal):
        graph.recompile()
    signature = Signature(
        inputs=tuple(arguments),
        kept_inputs=tuple(kept),
        outputs=tuple(outputs),
        result_slots=slots,
        seed_count=int(has_seed),
        checks=collected,
    )
    # Loads Torch-MLIR, which a process that finds everything in the cache does without.
    from neuron_compile.lowering.import_fx import import_fx

    program = import_fx(legal)
    origins = tuple(map(_origin, numbered_nodes(legal)))
    return FxLowering(program, signature, origins, demoted, legal)


def _collect_checks(module: GraphModule) -> tuple[RuntimeCheck, ...]:
    for function in inner_functions(module).values():
        set_checks(function, collect_checks(function))
    return collect_checks(module)


def _origin(node: Node) -> NodeOrigin:
    from neuron_compile.lowering.import_fx import operand_types

    name = node.meta.get(ORIGIN, node.name)
    return NodeOrigin(name, str(node.target), operand_types(node), source_line(node))


def _argument_spec(node: Node) -> TensorSpec | None:
    return spec_of(_concrete(node)) if isinstance(value(node), torch.Tensor) else None


def _concrete(node: Node) -> torch.Tensor:
    tensor: torch.Tensor = value(node)
    if all(isinstance(size, int) for size in (*tensor.shape, *tensor.stride())):
        return tensor
    return torch.empty_strided(
        [int(size) for size in tensor.shape],
        [int(stride) for stride in tensor.stride()],
        dtype=tensor.dtype,
        device="meta",
    )


def _drop_unused_inputs(module: GraphModule, count: int) -> list[int]:
    kept = []
    for index, node in enumerate(placeholders(module)):
        if index < count and not node.users:
            module.graph.erase_node(node)
        elif index < count:
            kept.append(index)
    return kept


def _demoted(spec: TensorSpec) -> TensorSpec:
    narrower = {"float64": "float32", "complex128": "complex64"}
    return TensorSpec(spec.shape, narrower.get(spec.dtype, spec.dtype), spec.strides)
