from __future__ import annotations

import json
import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from fx_graphs import capture
from neuron_compile.codegen import call_convolution
from neuron_compile.codegen.host_rewrites import rewrite_for_host
from neuron_compile.codegen.legality.program_module import read_module
from neuron_compile.lowering.from_fx import from_fx
from neuron_compile.lowering.to_stablehlo import to_stablehlo

IMAGE, KERNEL = torch.randn(2, 4, 9, 8), torch.randn(6, 4, 3, 3)


def rewritten(function: Any, *inputs: torch.Tensor) -> str:
    lowered = to_stablehlo(from_fx(capture(function, *inputs)).program)
    return str(read_module(rewrite_for_host(lowered.stablehlo)))


def descriptions(text: str) -> list[dict[str, Any]]:
    return [
        json.loads(found.replace("\\22", '"'))
        for found in re.findall(r'description = "(.*?)"', text)
    ]


@pytest.fixture(name="any_size")
def calls_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_convolution, "_LEAST_FLOPS", 0)


@pytest.mark.usefixtures("any_size")
def test_a_plain_one_is_called_with_its_window() -> None:
    text = rewritten(lambda x, w: F.conv2d(x, w, stride=2, padding=(1, 0)), IMAGE, KERNEL)
    assert "stablehlo.convolution" not in text
    assert "api_version = 4" in text
    (call,) = descriptions(text)
    assert (call["role"], call["strides"], call["padding"]) == ("result", [2, 2], [1, 0])
    assert call["data_order"] == call["kernel_order"] == [0, 1, 2, 3]


@pytest.mark.usefixtures("any_size")
def test_both_gradients_are_called_and_the_kernel_is_not_reversed_twice() -> None:
    def gradients(g: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> Any:
        window = ([2, 2], [1, 1], [1, 1], False, [0, 0], 1, [True, True, False])
        return torch.ops.aten.convolution_backward(g, x, w, None, *window)[:2]

    text = rewritten(gradients, torch.randn(2, 6, 5, 4), IMAGE, KERNEL)
    calls = {call["role"]: call for call in descriptions(text)}
    assert set(calls) == {"data", "kernel"}
    assert not calls["data"]["is_reversed"]
    assert not calls["kernel"]["is_reversed"]
    assert calls["kernel"]["strides"] == calls["data"]["strides"] == [2, 2]


@pytest.mark.usefixtures("any_size")
def test_a_kernel_gradient_whose_groups_are_of_features_is_left() -> None:
    def gradient(g: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> Any:
        window = ([2, 2], [1, 1], [1, 1], True, [1, 1], 2, [False, True, False])
        return torch.ops.aten.convolution_backward(g, x, w, None, *window)[1]

    text = rewritten(
        gradient, torch.randn(2, 6, 18, 16), torch.randn(2, 4, 9, 8), torch.randn(4, 3, 3, 3)
    )
    assert "stablehlo.convolution" in text
    assert "custom_call" not in text


def test_a_small_one_is_left() -> None:
    text = rewritten(lambda x, w: F.conv2d(x, w), IMAGE, KERNEL)
    assert "stablehlo.convolution" in text
    assert "custom_call" not in text
