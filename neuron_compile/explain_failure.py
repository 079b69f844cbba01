"""A refused program, explained in terms of the user's lines."""

from __future__ import annotations

from neuron_compile.errors import (
    LoweringError,
    NeuronCompileError,
    UnsupportedOp,
    UnsupportedOpError,
)
from neuron_compile.lowering.diagnostics import ConversionFailure, FailedNode
from neuron_compile.lowering.from_fx import FxLowering
from neuron_compile.lowering.import_fx import import_fx
from neuron_compile.lowering.to_stablehlo import convert
from neuron_compile.target import Target


def explain_failure(
    failure: ConversionFailure, imported: FxLowering, target: Target
) -> NeuronCompileError:
    """The error for a failure: `UnsupportedOpError` with every operation of the graph that
    cannot be lowered, or `LoweringError` if nothing in the graph can be blamed."""
    failed = {node.number: node for node in failure.nodes}
    found = set(failed)
    while found:
        found = _further_failures(imported, frozenset(failed), failed)
    if not failed:
        return LoweringError(
            "a graph could not be lowered to StableHLO",
            why=failure.detail,
            hint="report this with the debug folder of NEURON_COMPILE_DEBUG_DIR.",
        )
    return UnsupportedOpError(
        [_describe(imported, node) for _, node in sorted(failed.items())], target=target.name
    )


def _further_failures(
    imported: FxLowering, opaque: frozenset[int], failed: dict[int, FailedNode]
) -> set[int]:
    """Lower once more with the known failures cut out; add what fails now to `failed`."""
    program = import_fx(imported.legal_module, opaque)
    try:
        convert(program)
    except ConversionFailure as failure:
        new = {node.number: node for node in failure.nodes if node.number not in failed}
        failed.update(new)
        return set(new)
    return set()


def _describe(imported: FxLowering, node: FailedNode) -> UnsupportedOp:
    origin = imported.origins[node.number]
    return UnsupportedOp(origin.operator, origin.name, origin.operands, node.reason, origin.source)
