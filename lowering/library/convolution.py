"""Convolutions and their gradients, plain and transposed, of any number of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.pooling import spread
from neuron_compile.lowering.library.precision import widen


def convolution(
    input: Any,
    weight: Any,
    bias: Any | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Any:
    """`aten.convolution`: low precision is accumulated in float32."""
    image, kernel = widen(input), widen(weight)
    geometry = (stride, padding, dilation, transposed, output_padding, groups)
    result = _convolved(image, kernel, *geometry)
    if bias is not None:
        result = result + bias.astype(result.dtype).reshape((-1,) + (1,) * (input.ndim - 2))
    return result


def convolution_backward(
    grad_output: Any,
    input: Any,
    weight: Any,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Any | None, Any | None, Any | None]:
    """`aten.convolution_backward`: the gradients of input, weight and bias that are asked for."""
    grad = widen(grad_output)
    geometry = (stride, padding, dilation, transposed, output_padding, groups)
    image, kernel = widen(input), widen(weight)
    grad_input = grad_weight = grad_bias = None
    if output_mask[0]:
        (grad_input,) = jax.vjp(lambda x: _convolved(x, kernel, *geometry), image)[1](grad)
    if output_mask[1]:
        (grad_weight,) = jax.vjp(lambda w: _convolved(image, w, *geometry), kernel)[1](grad)
    if output_mask[2]:
        grad_bias = jnp.sum(grad, axis=(0, *range(2, grad.ndim)))
    return grad_input, grad_weight, grad_bias


def _convolved(
    image: Any,
    kernel: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Any:
    rank = image.ndim - 2
    strides, pads, steps = (spread(sizes, rank) for sizes in (stride, padding, dilation))
    if not transposed:
        return lax.conv_general_dilated(
            image,
            kernel,
            strides,
            [(p, p) for p in pads],
            rhs_dilation=steps,
            feature_group_count=groups,
        )
    reach = [d * (k - 1) for d, k in zip(steps, kernel.shape[2:], strict=True)]
    extra = spread(output_padding, rank) if output_padding else (0,) * rank
    return lax.conv_general_dilated(
        image,
        _turned(kernel, groups),
        (1,) * rank,
        [(r - p, r - p + e) for r, p, e in zip(reach, pads, extra, strict=True)],
        lhs_dilation=strides,
        rhs_dilation=steps,
        feature_group_count=groups,
    )


def _turned(kernel: Any, groups: int) -> Any:
    """A transposed convolution's kernel as a plain one's: mirrored, with channels swapped."""
    inputs, outputs, *sizes = kernel.shape
    split = kernel.reshape(groups, inputs // groups, outputs, *sizes)
    swapped = jnp.swapaxes(split, 1, 2).reshape(groups * outputs, inputs // groups, *sizes)
    return jnp.flip(swapped, tuple(range(2, kernel.ndim)))
