"""Convolutions and their gradients, plain and transposed, of any number of dimensions."""

from __future__ import annotations

import math
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
    is_turned_tiling = transposed and _is_tiled(image, kernel, *geometry)
    result = (_tiled if is_turned_tiling else _convolved)(image, kernel, *geometry)
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
    forward = _tiled if _is_tiled(image, kernel, *geometry) else _convolved
    grad_input = grad_weight = grad_bias = None
    if output_mask[0]:
        (grad_input,) = jax.vjp(lambda x: forward(x, kernel, *geometry), image)[1](grad)
    if output_mask[1]:
        (grad_weight,) = jax.vjp(lambda w: forward(image, w, *geometry), kernel)[1](grad)
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


def _is_tiled(
    image: Any,
    kernel: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> bool:
    """Whether the kernel's places neither overlap nor leave gaps: 1x1, or a cut into patches.

    Its gradients are then matrix products, many times as fast on a CPU as dilated convolutions.
    """
    sizes = kernel.shape[2:]
    rank = len(sizes)
    strides, pads, steps = (spread(numbers, rank) for numbers in (stride, padding, dilation))
    extra = spread(output_padding, rank) if output_padding else (0,) * rank
    return (
        groups == 1
        and strides == sizes
        and not any(pads)
        and not any(extra)
        and all(step == 1 or size == 1 for step, size in zip(steps, sizes, strict=True))
        and (transposed or all(i >= s for i, s in zip(image.shape[2:], sizes, strict=True)))
        and image.size > 0
    )


def _tiled(image: Any, kernel: Any, *geometry: Any) -> Any:
    """A convolution for which `_is_tiled` holds."""
    transposed, tile = geometry[3], kernel.shape[2:]
    rank, batch = len(tile), image.shape[0]
    if transposed:
        # Each pixel becomes a tile.
        pixels = image.reshape(batch, image.shape[1], -1)
        tiles = jnp.matmul(kernel.reshape(kernel.shape[0], -1).T, pixels)
        split = tiles.reshape(batch, kernel.shape[1], *tile, *image.shape[2:])
        order = [axis for number in range(rank) for axis in (2 + rank + number, 2 + number)]
        sizes = [size * count for size, count in zip(tile, image.shape[2:], strict=True)]
        return jnp.transpose(split, [0, 1, *order]).reshape(batch, kernel.shape[1], *sizes)
    counts = [size // step for size, step in zip(image.shape[2:], tile, strict=True)]
    kept = [count * step for count, step in zip(counts, tile, strict=True)]
    whole = image[(slice(None), slice(None), *(slice(0, size) for size in kept))]
    pairs = [size for pair in zip(counts, tile, strict=True) for size in pair]
    split = whole.reshape(batch, image.shape[1], *pairs)
    order = [1, *range(3, 3 + 2 * rank, 2), *range(2, 2 + 2 * rank, 2)]
    patches = jnp.transpose(split, [0, *order]).reshape(batch, -1, math.prod(counts))
    result = jnp.matmul(kernel.reshape(kernel.shape[0], -1), patches)
    return result.reshape(batch, kernel.shape[0], *counts)


def _turned(kernel: Any, groups: int) -> Any:
    """A transposed convolution's kernel as a plain one's: mirrored, with channels swapped."""
    inputs, outputs, *sizes = kernel.shape
    split = kernel.reshape(groups, inputs // groups, outputs, *sizes)
    swapped = jnp.swapaxes(split, 1, 2).reshape(groups * outputs, inputs // groups, *sizes)
    return jnp.flip(swapped, tuple(range(2, kernel.ndim)))
