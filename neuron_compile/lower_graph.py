"""Lower an imported graph, sending to the function library what Torch-MLIR turns out to refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from neuron_compile.cache.blobs import Blobs
from neuron_compile.errors import (
    LoweringError,
    NeuronCompileError,
    UnsupportedOp,
    UnsupportedOpError,
)
from neuron_compile.lowering.diagnostics import ConversionFailure, FailedNode
from neuron_compile.lowering.from_fx import FxLowering
from neuron_compile.lowering.legalize.regions import numbered_nodes
from neuron_compile.lowering.program import TorchProgram
from neuron_compile.target import Target


def lower_graph(
    imported: FxLowering,
    lower: Callable[[TorchProgram], Blobs],
    convert: Callable[[TorchProgram], None],
    target: Target,
) -> Blobs:
    """The lowered program's blobs, by as many calls of `lower` as it takes. `convert` does
    Torch-MLIR's part alone.

    An operation that Torch-MLIR refuses, in this form or for these types, is tried again as a
    library call if the library has a body for it. Raises `UnsupportedOpError` with every operation
    of the graph that cannot be lowered, or `LoweringError` if nothing in the graph can be blamed.
    """
    forced: frozenset[int] = frozenset()
    program = imported.program
    while True:
        try:
            return lower(program)
        except ConversionFailure as failure:
            more = _in_library(imported, failure.nodes, forced)
            if not more:
                raise _explained(failure, imported, forced, convert, target) from failure
            forced |= more
            program = _import(imported, forced)


def _import(
    imported: FxLowering, forced: frozenset[int], opaque: frozenset[int] = frozenset()
) -> TorchProgram:
    # Loads Torch-MLIR, which a process that finds everything in the cache does without.
    from neuron_compile.lowering.import_fx import import_fx

    return import_fx(imported.legal_module, forced=forced, opaque=opaque)


def _in_library(
    imported: FxLowering, failed: Iterable[FailedNode], forced: frozenset[int]
) -> frozenset[int]:
    """Those of `failed` that the library could take and has not been given yet."""
    from neuron_compile.lowering.import_fx import has_library_body

    nodes = numbered_nodes(imported.legal_module)
    numbers = {node.number for node in failed} - forced
    return frozenset(number for number in numbers if has_library_body(nodes[number]))


def _explained(
    failure: ConversionFailure,
    imported: FxLowering,
    forced: frozenset[int],
    convert: Callable[[TorchProgram], None],
    target: Target,
) -> NeuronCompileError:
    failed = {node.number: node for node in failure.nodes}
    if not failed:
        return LoweringError(
            "a graph could not be lowered to StableHLO",
            why=failure.detail,
            hint="report this with the debug folder of NEURON_COMPILE_DEBUG_DIR.",
        )
    while found := _further_failures(imported, failed, forced, convert):
        helped = _in_library(imported, found.values(), forced)
        forced |= helped
        failed.update({n: node for n, node in found.items() if n not in helped})
    return UnsupportedOpError(
        [_describe(imported, node) for _, node in sorted(failed.items())], target=target.name
    )


def _further_failures(
    imported: FxLowering,
    failed: Mapping[int, FailedNode],
    forced: frozenset[int],
    convert: Callable[[TorchProgram], None],
) -> dict[int, FailedNode]:
    """What fails when the known failures are cut out of the graph."""
    program = _import(imported, forced, opaque=frozenset(failed))
    try:
        convert(program)
    except ConversionFailure as failure:
        return {n.number: n for n in failure.nodes if n.number not in failed}
    return {}


def _describe(imported: FxLowering, node: FailedNode) -> UnsupportedOp:
    origin = imported.origins[node.number]
    return UnsupportedOp(origin.operator, origin.name, origin.operands, node.reason, origin.source)
