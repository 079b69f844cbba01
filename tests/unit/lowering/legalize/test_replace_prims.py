"""Primitives become the ATen operators that they are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from fx_graphs import run
from neuron_compile.lowering.legalize.replace_prims import replace_prims

prims = torch.ops.prims

CASES: dict[str, Callable[[Tensor], Tensor]] = {
    "convert": lambda x: prims.convert_element_type(x, torch.int64),
    "squeeze": lambda x: prims.squeeze(x, [1]),
    "view": lambda x: prims.view_of(x) + 1,
    "transpose": lambda x: prims.transpose(x, [2, 0, 1]),
    "split": lambda x: prims.split_dim(x, 2, 2),
    "collapse": lambda x: prims.collapse(x, 0, 1),
}


@pytest.mark.parametrize("case", CASES)
def test_primitive_is_replaced_by_an_operator_of_the_same_result(case: str) -> None:
    x = torch.arange(12.0).view(3, 1, 4) - 5.5
    # Not through `capture`: functionalization knows no views but ATen's.
    module = make_fx(lambda x: [CASES[case](x)], tracing_mode="fake")(x)
    assert any(str(node.target).startswith("prims.") for node in module.graph.nodes)
    replace_prims(module)
    assert not any(str(node.target).startswith("prims.") for node in module.graph.nodes)
    (result,) = run(module, x)
    expected = CASES[case](x)
    assert result.dtype == expected.dtype
    assert torch.equal(result, expected)
