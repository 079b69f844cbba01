"""Which graphs torch's key says everything about."""

from __future__ import annotations

from typing import Final

from torch._ops import OpOverload, OpOverloadPacket
from torch.fx import GraphModule

# Operators whose meaning is settled by the version of PyTorch. Of others, the user's own among
# them, the key holds the name; AOTAutograd traces what their Python bodies do.
_SETTLED: Final = frozenset({"aten", "prim", "prims"})


def is_settled(gm: GraphModule) -> bool:
    """Whether equal keys mean equal graphs: no operator in `gm` has a body that may be edited."""
    return all(
        _namespace(node.target) in _SETTLED
        for module in gm.modules()
        if isinstance(module, GraphModule)
        for node in module.graph.nodes
    )


def _namespace(target: object) -> str:
    match target:
        case OpOverload():
            return target.namespace
        case OpOverloadPacket():
            return target._qualified_op_name.partition("::")[0]
        case _:
            # Python functions are torch's own affair: it refuses those it does not know.
            return "aten"
