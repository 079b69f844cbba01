"""Recompute every fake value of a graph from changed inputs."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule

from neuron_compile.lowering.legalize.node_values import evaluate


def repropagate(module: GraphModule, new_input: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Give every node a fresh static fake value.

    `new_input` makes a placeholder's new value from its old one; it runs under the new fake mode.
    """
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    for node in module.graph.nodes:
        if node.op == "placeholder" and isinstance(node.meta.get("val"), torch.Tensor):
            with mode:
                node.meta["val"] = new_input(node.meta["val"])
        elif node.op == "get_attr":
            constant = getattr(module, str(node.target))
            if isinstance(constant, torch.Tensor):
                node.meta["val"] = mode.from_tensor(constant, static_shapes=True)
        elif node.op == "call_function":
            evaluate(node, mode)
