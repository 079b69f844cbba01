"""Give the number of a comparison the type that its tensor is compared in."""

from __future__ import annotations

from typing import Any, Final, cast

import torch
from torch.fx import GraphModule

from neuron_compile.lowering.legalize.node_values import call, calls, value

_aten = torch.ops.aten

_COMPARISONS: Final = (
    _aten.eq.Scalar,
    _aten.ne.Scalar,
    _aten.lt.Scalar,
    _aten.le.Scalar,
    _aten.gt.Scalar,
    _aten.ge.Scalar,
)


def match_scalars(module: GraphModule) -> None:
    """Write the number as a float beside floats, and convert integers that meet a float.

    Torch-MLIR folds comparisons of constants, and reads a number of the other kind as bits: it
    crashes, or gives the wrong truth.
    """
    for node in calls(module, *_COMPARISONS):
        tensor, number = node.args[0], node.args[1]
        dtype = value(tensor).dtype
        if dtype.is_floating_point:
            node.args = (tensor, float(number))  # type: ignore[arg-type]
        elif not dtype.is_complex:
            common = torch.result_type(value(tensor), cast(Any, number))
            if common != dtype:
                with module.graph.inserting_before(node):
                    converted = call(module, node, _aten._to_copy.default, tensor, dtype=common)
                node.args = (converted, number)
