"""Bring the bounds of slices into the dimension they slice."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule

from neuron_compile.lowering.legalize.node_values import calls, value

_aten = torch.ops.aten


def normalize_slices(module: GraphModule) -> None:
    """Rewrite `start` and `end` of slice, slice_scatter and slice_backward to lie in [0, size].

    PyTorch writes "to the end" as 2**63 - 1; Torch-MLIR takes such a bound at its word and builds
    an index array of that length.
    """
    for node in calls(module, _aten.slice.Tensor, _aten.slice_scatter.default):
        scatters = node.target is _aten.slice_scatter.default
        names = ["self", "src", "dim", "start", "end", "step"]
        if not scatters:
            names.remove("src")
        bound: dict[str, Any] = dict(zip(names, node.args, strict=False)) | dict(node.kwargs)
        dim = bound.get("dim", 0)
        size = value(bound["self"]).shape[dim]
        start, stop, _ = slice(bound.get("start"), bound.get("end")).indices(size)
        operands = [bound["self"], bound["src"]] if scatters else [bound["self"]]
        node.args = (*operands, dim, start, max(start, stop), bound.get("step", 1))
        node.kwargs = {}
