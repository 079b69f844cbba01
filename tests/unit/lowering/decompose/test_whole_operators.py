from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from functorch.compile import aot_function, make_boxed_func
from torch.fx import GraphModule

from neuron_compile.lowering.decompose.table import decomposition_table
from neuron_compile.lowering.decompose.whole_operators import whole_operators

IMAGE = torch.randn(1, 2, 4, 4)
BILINEAR = torch.ops.aten.upsample_bilinear2d.vec


def operators(image: torch.Tensor, **options: Any) -> list[str]:
    """The operators of the forward and the backward graph."""
    called: list[str] = []

    def gather(graph: GraphModule, _inputs: Any) -> Any:
        called.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
        return make_boxed_func(graph.forward)

    def function(x: torch.Tensor) -> torch.Tensor:
        return F.interpolate(x, scale_factor=2, **options)

    traced = aot_function(
        function, fw_compiler=gather, bw_compiler=gather, decompositions=decomposition_table()
    )
    with whole_operators():
        traced(image.clone().requires_grad_()).sum().backward()
    return [name for name in called if "upsample" in name or "index" in name]


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"mode": "nearest"}, "upsample_nearest2d"),
        ({"mode": "nearest-exact"}, "_upsample_nearest_exact2d"),
        ({"mode": "bilinear"}, "upsample_bilinear2d"),
        ({"mode": "bicubic"}, "upsample_bicubic2d"),
        ({"mode": "bilinear", "antialias": True}, "_upsample_bilinear2d_aa"),
        ({"mode": "bicubic", "antialias": True}, "_upsample_bicubic2d_aa"),
    ],
)
def test_interpolation_and_its_gradient_are_one_operator_each(
    options: dict[str, Any], name: str
) -> None:
    assert operators(IMAGE, **options) == [f"aten.{name}.default", f"aten.{name}_backward.default"]


def test_other_dimensions() -> None:
    assert operators(IMAGE[0], mode="linear")[0] == "aten.upsample_linear1d.default"
    assert operators(IMAGE[None], mode="trilinear")[0] == "aten.upsample_trilinear3d.default"


def test_pytorchs_rules_are_back_afterwards_even_if_tracing_fails() -> None:
    before = dict(BILINEAR.py_kernels)
    within = {}

    @whole_operators()
    def trace() -> None:
        within.update(BILINEAR.py_kernels)
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        trace()
    assert len(within) < len(before)
    assert BILINEAR.py_kernels == before
