"""What becomes of float64: computed in float32 with a warning, or refused."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from neuron_compile.errors import Float64Warning, UnsupportedOp, UnsupportedOpError
from neuron_compile.graph import NamedGraph
from neuron_compile.lowering.from_fx import NodeOrigin
from neuron_compile.options import CompileOptions

_SHOWN = 3


def settle_float64(
    graph: NamedGraph, demoted: Sequence[NodeOrigin], options: CompileOptions
) -> None:
    """Warn once a graph about operations that lose precision, as Neuron devices have no float64.

    Raises `UnsupportedOpError` with all of them under `options={"float64": "error"}`.
    """
    if not demoted:
        return
    if options.float64 == "error":
        reason = 'float64 is refused by options={"float64": "error"}.'
        raise UnsupportedOpError(
            [UnsupportedOp(o.operator, o.name, o.operands, reason, o.source) for o in demoted],
            target=options.target,
            may_run_in_eager=False,
        )
    places = [f"  {origin.operator}   {origin.source or ''}".rstrip() for origin in demoted]
    more = [f"  and {len(places) - _SHOWN} more"] if len(places) > _SHOWN else []
    warnings.warn(
        "\n".join(
            [
                f"{graph.name} computes in float32 what was written in float64; results keep the "
                "dtype float64:",
                *places[:_SHOWN],
                *more,
                'Use float32 in the program, or options={"float64": "error"} to refuse.',
            ]
        ),
        Float64Warning,
        stacklevel=2,
    )
