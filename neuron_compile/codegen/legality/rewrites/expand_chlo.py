"""CHLO operations in terms of StableHLO, apart from top-k, which the compiler has an operator for.

XLA turns some of them into HLO opcodes that are younger than the compiler's list of operators.
"""

from __future__ import annotations

from typing import Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import chlo

from neuron_compile.codegen.legality.program_module import building_at, replace, run_passes, walk

_KEPT: Final = "neuron.kept_top_k"


def expand_chlo(module: Any) -> None:
    """Expand every CHLO operation but `chlo.top_k`."""
    names = {operation.name for operation in walk(module.operation)}
    if not any(name.startswith("chlo.") for name in names - {"chlo.top_k"}):
        return
    # The pass would make a sort of top-k, so it is hidden from it.
    for operation in list(walk(module.operation)):
        if operation.name == "chlo.top_k":
            with building_at(operation):
                hidden = ir.Operation.create(
                    "stablehlo.custom_call",
                    results=[result.type for result in operation.results],
                    operands=list(operation.operands),
                    attributes={
                        "call_target_name": ir.StringAttr.get(_KEPT),
                        "k": operation.attributes["k"],
                    },
                )
            replace(operation, list(hidden.results))
    run_passes(module, "func.func(chlo-legalize-to-stablehlo)")
    for operation in list(walk(module.operation)):
        if operation.name != "stablehlo.custom_call":
            continue
        if operation.attributes["call_target_name"].value == _KEPT:
            with building_at(operation):
                shown = chlo.TopKOp(operation.operands[0], operation.attributes["k"])
            replace(operation, list(shown.results))
