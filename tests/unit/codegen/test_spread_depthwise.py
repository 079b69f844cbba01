from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F

from fx_graphs import capture
from neuron_compile.codegen.host_rewrites import rewrite_for_host
from neuron_compile.codegen.legality.program_module import read_module
from neuron_compile.lowering.from_fx import from_fx
from neuron_compile.lowering.to_stablehlo import to_stablehlo

IMAGE = torch.randn(2, 3, 9, 8)
GEOMETRIES: list[dict[str, Any]] = [
    {},
    {"padding": 1, "stride": 2},
    {"padding": (2, 1), "dilation": (2, 1)},
    {"padding": 2, "stride": (2, 3), "dilation": 2},
]


def rewritten(function: Any, *inputs: torch.Tensor) -> str:
    lowered = to_stablehlo(from_fx(capture(function, *inputs)).program)
    return str(read_module(rewrite_for_host(lowered.stablehlo)))


def test_depthwise_convolution_is_a_sum_of_products() -> None:
    text = rewritten(lambda x, w: F.conv2d(x, w, groups=3), IMAGE, torch.randn(3, 1, 3, 3))
    assert "stablehlo.convolution" not in text
    assert text.count("stablehlo.multiply") == 9


@pytest.mark.parametrize(
    ("shape", "groups"),
    [((4, 3, 3, 3), 1), ((6, 1, 3, 3), 3), ((3, 1, 9, 8), 3)],
    ids=["not grouped", "two outputs a group", "large kernel"],
)
def test_any_other_convolution_is_left(shape: tuple[int, ...], groups: int) -> None:
    text = rewritten(lambda x, w: F.conv2d(x, w, groups=groups), IMAGE, torch.randn(shape))
    assert "stablehlo.convolution" in text


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_compiled_as_in_eager_with_gradients(geometry: dict[str, Any], dtype: torch.dtype) -> None:
    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return F.conv2d(x, w, groups=3, **geometry)

    results = []
    torch.manual_seed(0)
    start = (IMAGE.to(dtype), torch.randn(3, 1, 3, 3).to(dtype))
    for run in (function, torch.compile(function, backend="neuron", dynamic=False)):
        inputs = [tensor.clone().requires_grad_() for tensor in start]
        result = run(*inputs)
        grad = torch.linspace(-1, 1, result.numel()).reshape(result.shape).to(dtype)
        results.append((result, *torch.autograd.grad(result, inputs, grad)))
    torch.testing.assert_close(results[1], results[0])


def test_other_numbers_of_dimensions_and_the_transposed_convolution() -> None:
    def function(x: torch.Tensor, w: torch.Tensor) -> list[torch.Tensor]:
        flat = F.conv1d(x[..., 0], w[..., 0], groups=3, padding=1)
        turned = F.conv_transpose2d(x, w, groups=3, stride=2, padding=1)
        return [flat, turned]

    weight = torch.randn(3, 1, 3, 3)
    compiled = torch.compile(function, backend="neuron", dynamic=False)
    torch.testing.assert_close(compiled(IMAGE, weight), function(IMAGE, weight))
