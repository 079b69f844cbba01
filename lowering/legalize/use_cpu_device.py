"""Write every device argument as the CPU: a program has one device, and it is not in the graph."""

from __future__ import annotations

import torch
from torch.fx import GraphModule
from torch.utils._pytree import tree_map_only


def use_cpu_device(module: GraphModule) -> None:
    """Replace device arguments by `cpu`, since others stop Torch-MLIR's conversions."""
    cpu = torch.device("cpu")
    for node in module.graph.nodes:
        if node.op == "call_function":
            node.args, node.kwargs = tree_map_only(
                torch.device, lambda _: cpu, (node.args, node.kwargs)
            )
            if "pin_memory" in node.kwargs:
                node.kwargs = {k: v for k, v in node.kwargs.items() if k != "pin_memory"}
