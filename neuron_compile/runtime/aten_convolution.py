"""Convolutions of host programs by ATen, whose kernels (oneDNN's) are ahead of XLA's."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from neuron_compile.pjrt.foreign_function import BufferView
from neuron_compile.pjrt.host_convolution import HostConvolution
from neuron_compile.runtime.host_tensor import host_tensor
from neuron_compile.runtime.host_threads import with_callers_threads

_aten = torch.ops.aten
_parsed = functools.lru_cache(maxsize=4096)(HostConvolution.from_json)


def aten_convolution(
    arguments: Sequence[BufferView], results: Sequence[BufferView], description: str
) -> None:
    """Compute what `description`, a `HostConvolution`, says."""
    convolution = _parsed(description)
    left, right, result = (host_tensor(view) for view in (*arguments, *results))
    with with_callers_threads():
        if convolution.role == "result":
            _result(convolution, left, right, result)
        elif convolution.role == "data":
            _data_gradient(convolution, left, right, result)
        else:
            _kernel_gradient(convolution, left, right, result)


def _result(convolution: HostConvolution, data: Tensor, kernel: Tensor, result: Tensor) -> None:
    computed = _aten.convolution.default(
        data.permute(convolution.data_order),
        kernel.permute(convolution.kernel_order),
        None,
        *_window(convolution),
    )
    result.permute(convolution.result_order).copy_(computed)


def _data_gradient(convolution: HostConvolution, of: Tensor, kernel: Tensor, to: Tensor) -> None:
    to = to.permute(convolution.data_order)
    of = of.permute(convolution.result_order)
    kernel = kernel.permute(convolution.kernel_order)
    if convolution.groups > 1:
        kernel = _grouped_by_output(kernel, convolution.groups)
    if convolution.is_reversed:
        kernel = _backwards(kernel)
    computed = _gradients(convolution, of, to, kernel, (True, False, False))[0]
    to.copy_(computed)


def _kernel_gradient(convolution: HostConvolution, data: Tensor, of: Tensor, to: Tensor) -> None:
    data = data.permute(convolution.data_order)
    of = of.permute(convolution.result_order)
    to = to.permute(convolution.kernel_order)
    computed = _gradients(convolution, of, data, to, (False, True, False))[1]
    to.copy_(_backwards(computed) if convolution.is_reversed else computed)


def _gradients(
    convolution: HostConvolution, of: Tensor, data: Tensor, kernel: Tensor, wanted: Any
) -> Any:
    window = _window(convolution)
    # Of the array whose gradient is wanted only the shape is read.
    return _aten.convolution_backward.default(of, data, kernel, None, *window, wanted)


def _window(convolution: HostConvolution) -> tuple[Any, ...]:
    zeros = (0,) * len(convolution.strides)
    return (
        convolution.strides,
        convolution.padding,
        convolution.dilation,
        False,
        zeros,
        convolution.groups,
    )


def _grouped_by_output(kernel: Tensor, groups: int) -> Tensor:
    """From all input channels and a group's output channels to all output channels and a group's
    input channels."""
    inputs, outputs, *space = kernel.shape
    split = kernel.reshape(groups, inputs // groups, outputs, *space)
    return split.transpose(1, 2).reshape(groups * outputs, inputs // groups, *space)


def _backwards(kernel: Tensor) -> Tensor:
    return kernel.flip(tuple(range(2, kernel.ndim)))
