"""Sliding blocks of an image as columns, and the sum of such columns as an image."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.pooling import Windows
from neuron_compile.lowering.library.precision import widen


def im2col(
    self: Any,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Any:
    """`aten.im2col`: `[N, C * kernel, blocks]`."""
    windows = Windows.of(self.shape, kernel_size, stride, padding, dilation, False, 2)
    padded = windows.padded(self, 0)
    offsets = itertools.product(*(range(size) for size in windows.kernel))
    blocks = jnp.stack([windows.pick(padded, offset) for offset in offsets], axis=-3)
    lead, channels = self.shape[:-3], self.shape[-3]
    return blocks.reshape(*lead, channels * math.prod(windows.kernel), math.prod(windows.output))


def col2im(
    self: Any,
    output_size: Sequence[int],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Any:
    """`aten.col2im`: overlapping blocks add up."""
    windows = Windows.of(output_size, kernel_size, stride, padding, dilation, False, 2)
    lead = self.shape[:-2]
    channels = self.shape[-2] // math.prod(windows.kernel)
    blocks = widen(self).reshape(*lead, channels, *windows.kernel, *windows.output)
    total: Any = jnp.zeros((*lead, channels, *windows.input), blocks.dtype)
    for offset in itertools.product(*(range(size) for size in windows.kernel)):
        borders = [
            (o * d - p, i + p - o * d - ((n - 1) * s + 1), s - 1)
            for o, d, p, i, n, s in zip(
                offset,
                windows.dilation,
                windows.padding,
                windows.input,
                windows.output,
                windows.stride,
                strict=True,
            )
        ]
        part = blocks[..., offset[0], offset[1], :, :]
        zero = jnp.zeros((), blocks.dtype)
        total = total + lax.pad(part, zero, [(0, 0, 0)] * (part.ndim - 2) + borders)
    return total
