"""Remove calls that only pass their input on."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch.fx import GraphModule

from neuron_compile.lowering.legalize.node_values import calls, value

_aten = torch.ops.aten

_NO_OPS: Final = (
    _aten.detach.default,
    _aten.alias.default,
    _aten.lift_fresh.default,
    _aten.lift_fresh_copy.default,
    _aten._conj_physical.default,
    # A copy with strides of its own; a program's values have none.
    torch.ops.prims.copy_strided.default,
)


# Where the index that says what is written stands among the arguments.
_WRITES: Final[dict[Any, int]] = {
    _aten.scatter.src: 2,
    _aten.scatter.value: 2,
    _aten.scatter.reduce: 2,
    _aten.scatter.value_reduce: 2,
    _aten.scatter_add.default: 2,
    _aten.scatter_reduce.two: 2,
    _aten.index_add.default: 2,
    _aten.index_copy.default: 2,
    _aten.index_fill.int_Scalar: 2,
    _aten.index_fill.int_Tensor: 2,
    _aten.put.default: 1,
}


def drop_no_ops(module: GraphModule) -> None:
    """Replace each by its input: in a functional graph nothing can tell a copy or an alias.

    So does a write to no place, for which Torch-MLIR has no form.
    """
    for node in calls(module, *_NO_OPS):
        source = node.args[0]
        is_complex = node.meta["val"].dtype.is_complex
        if node.target is _aten._conj_physical.default and is_complex:
            continue
        node.replace_all_uses_with(source)  # type: ignore[arg-type]
        module.graph.erase_node(node)
    for node in calls(module, *_WRITES):
        index = node.args[_WRITES[node.target]]
        if value(index).numel() == 0:
            node.replace_all_uses_with(node.args[0])  # type: ignore[arg-type]
            module.graph.erase_node(node)
