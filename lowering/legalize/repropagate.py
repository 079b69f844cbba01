"""Recompute every fake value of a graph from changed inputs."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule

from neuron_compile.lowering.legalize.node_values import evaluate


def repropagate(
    module: GraphModule, new_dtype: Callable[[torch.dtype], torch.dtype] = lambda dtype: dtype
) -> None:
    """Give every node a fresh static fake value; placeholders get the dtype `new_dtype` of theirs.

    Sizes of the placeholders may be symbolic; they are read, and must be known.
    """
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    for node in module.graph.nodes:
        if node.op == "placeholder" and isinstance(node.meta.get("val"), torch.Tensor):
            node.meta["val"] = _fresh(node.meta["val"], mode, new_dtype)
        elif node.op == "get_attr":
            constant = getattr(module, str(node.target))
            if isinstance(constant, torch.Tensor):
                node.meta["val"] = mode.from_tensor(constant, static_shapes=True)
        elif node.op == "call_function":
            evaluate(node, mode)


def _fresh(
    old: torch.Tensor, mode: FakeTensorMode, new_dtype: Callable[[torch.dtype], torch.dtype]
) -> torch.Tensor:
    # Built from its description: tensors of two fake modes must not meet.
    with mode:
        return torch.empty_strided(
            [int(size) for size in old.shape],
            [int(stride) for stride in old.stride()],
            dtype=new_dtype(old.dtype),
            device=old.device,
        )
