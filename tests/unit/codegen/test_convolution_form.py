from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F

from fx_graphs import capture
from neuron_compile.codegen.convolution_form import ConvolutionForm
from neuron_compile.codegen.legality.program_module import read_module, walk
from neuron_compile.lowering.from_fx import from_fx
from neuron_compile.lowering.to_stablehlo import to_stablehlo


def test_shapes_stand_in_one_order_whatever_the_programs() -> None:
    def gradient(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
        w = x.new_empty(6, 4, 3, 2)
        window = ([2, 2], [1, 1], [1, 1], False, [0, 0], 1, [False, True, False])
        gradients = torch.ops.aten.convolution_backward(g, x, w, None, *window)
        weight: torch.Tensor = gradients[1]
        return weight

    def result(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return F.conv2d(x, w, stride=(2, 1), padding=(0, 2), groups=2)

    of_gradient = _form(gradient, torch.randn(2, 4, 9, 8), torch.randn(2, 6, 5, 5))
    assert of_gradient.data_shape == (4, 2, 9, 8)
    assert of_gradient.kernel_shape == (6, 2, 5, 5)
    assert of_gradient.result_shape == (4, 6, 3, 2)
    assert of_gradient.kernel_dilation == (2, 2)
    of_result = _form(result, torch.randn(2, 4, 9, 8), torch.randn(6, 2, 3, 3))
    assert of_result.data_order == of_result.kernel_order == (0, 1, 2, 3)
    assert (of_result.strides, of_result.low) == ((2, 1), (0, 2))
    assert (of_result.feature_groups, of_result.batch_groups) == (2, 1)


def _form(function: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> ConvolutionForm:
    module = read_module(to_stablehlo(from_fx(capture(function, *inputs)).program).stablehlo)
    (form,) = (
        ConvolutionForm.of(operation)
        for operation in walk(module.operation)
        if operation.name == "stablehlo.convolution"
    )
    return form
