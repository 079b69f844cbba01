"""Large convolutions as calls of the runtime's kernel: XLA:CPU's are slower, most of all those that
gradients of strided ones become.
"""

from __future__ import annotations

import math
from typing import Any, Final

from jaxlib.mlir import ir

from neuron_compile.codegen.convolution_form import ConvolutionForm
from neuron_compile.codegen.host_call import host_call
from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.tensor_ops import attribute_ints, element_of
from neuron_compile.pjrt.host_convolution import CONVOLUTION, HostConvolution

# Below, a call takes longer than the convolution.
_LEAST_FLOPS: Final = 8e6
_MOST_SPATIAL: Final = 3


def call_convolution(operation: Any) -> bool:
    """Replace a `stablehlo.convolution` of float32, if it is one that ATen has a kernel for."""
    form = ConvolutionForm.of(operation)
    if not _is_worth_it(operation, form):
        return False
    found = _kernel_gradient(form) or _data_gradient(form) or _result(form)
    if found is None:
        return False
    convolution, operands = found
    with building_at(operation):
        call = host_call(CONVOLUTION, convolution.to_json(), operands, [operation.result.type])
    replace(operation, [call.result])
    return True


_Call = tuple[HostConvolution, tuple[Any, Any]]


def _is_worth_it(operation: Any, form: ConvolutionForm) -> bool:
    values = (*operation.operands, operation.result)
    if not all(isinstance(element_of(value), ir.F32Type) for value in values):
        return False
    if "window_reversal" in operation.attributes and "true" in str(
        operation.attributes["window_reversal"]
    ):
        return False
    # For each number of the result, a product with each number of one output feature's kernel.
    flops = 2.0 * math.prod(form.result_shape) * math.prod(form.kernel_shape[1:])
    return 1 <= len(form.strides) <= _MOST_SPATIAL and flops >= _LEAST_FLOPS


def _kernel_gradient(form: ConvolutionForm) -> _Call | None:
    """One over whose kernel, the gradient of a result, slides what becomes a small array."""
    is_larger = math.prod(form.kernel_shape[2:]) > math.prod(form.result_shape[2:])
    is_gradient = is_larger or form.batch_groups > 1
    if not is_gradient or form.feature_groups > 1:
        return None
    if set(form.data_dilation) == {1}:
        convolution = HostConvolution(
            role="kernel",
            # The batch of one is the channels of the other, in each of the three.
            data_order=_exchanged(form.data_order),
            kernel_order=_exchanged(form.result_order),
            result_order=_exchanged(form.kernel_order),
            strides=form.kernel_dilation,
            padding=form.low,
            dilation=form.strides,
            groups=form.batch_groups,
        )
        data, result, small = form.data_shape, form.kernel_shape, form.result_shape
        operands = (form.data, form.kernel)
    elif form.batch_groups == 1 and {*form.strides, *form.kernel_dilation} == {1}:
        # That of a transposed convolution: what is strided is the data, and all goes backwards.
        convolution = HostConvolution(
            role="kernel",
            data_order=_exchanged(form.kernel_order),
            kernel_order=form.result_order,
            result_order=_exchanged(form.data_order),
            strides=form.data_dilation,
            padding=tuple(
                size - 1 - low for size, low in zip(form.result_shape[2:], form.low, strict=True)
            ),
            dilation=form.strides,
            groups=1,
            is_reversed=True,
        )
        data, result, small = form.kernel_shape, form.data_shape, form.result_shape
        operands = (form.kernel, form.data)
    else:
        return None
    fits = _fits(convolution, data[2:], small[2:], result[2:])
    return (convolution, operands) if fits else None


def _data_gradient(form: ConvolutionForm) -> _Call | None:
    """One over spread data, or with a reversed kernel: the gradient of a result."""
    kernel, is_reversed = _unreversed(form)
    is_spread = set(form.data_dilation) != {1}
    if form.batch_groups > 1 or set(form.strides) != {1} or not (is_spread or is_reversed):
        return None
    order = _exchanged(form.kernel_order) if form.feature_groups == 1 else form.kernel_order
    convolution = HostConvolution(
        role="data",
        data_order=form.result_order,
        kernel_order=order,
        result_order=form.data_order,
        strides=form.data_dilation,
        padding=tuple(
            factor * (size - 1) - low
            for factor, size, low in zip(
                form.kernel_dilation, form.kernel_shape[2:], form.low, strict=True
            )
        ),
        dilation=form.kernel_dilation,
        groups=form.feature_groups,
        is_reversed=not is_reversed,
    )
    fits = _fits(convolution, form.result_shape[2:], form.kernel_shape[2:], form.data_shape[2:])
    return (convolution, (form.data, kernel)) if fits else None


def _result(form: ConvolutionForm) -> _Call | None:
    if form.batch_groups > 1 or set(form.data_dilation) != {1}:
        return None
    convolution = HostConvolution(
        role="result",
        data_order=form.data_order,
        kernel_order=form.kernel_order,
        result_order=form.result_order,
        strides=form.strides,
        padding=form.low,
        dilation=form.kernel_dilation,
        groups=form.feature_groups,
    )
    fits = _fits(convolution, form.data_shape[2:], form.kernel_shape[2:], form.result_shape[2:])
    return (convolution, (form.data, form.kernel)) if fits else None


def _fits(
    convolution: HostConvolution, data: tuple[int, ...], kernel: tuple[int, ...], result: Any
) -> bool:
    """Whether a convolution with the same padding on both sides has these extents."""
    window = (convolution.padding, convolution.dilation, convolution.strides)
    if min(convolution.padding) < 0:
        return False
    return all(
        size + 2 * pad - dilation * (taps - 1) >= 1
        and (size + 2 * pad - dilation * (taps - 1) - 1) // stride + 1 == extent
        for size, taps, extent, pad, dilation, stride in zip(
            data, kernel, result, *window, strict=True
        )
    )


def _unreversed(form: ConvolutionForm) -> tuple[Any, bool]:
    """The kernel before it was reversed in space, and whether it was."""
    owner: Any = getattr(form.kernel, "owner", None)
    if getattr(owner, "name", None) != "stablehlo.reverse":
        return form.kernel, False
    dimensions = attribute_ints(owner, "dimensions", ())
    if sorted(dimensions) != sorted(form.kernel_order[2:]):
        return form.kernel, False
    return owner.operands[0], True


def _exchanged(order: tuple[int, ...]) -> tuple[int, ...]:
    return (order[1], order[0], *order[2:])
