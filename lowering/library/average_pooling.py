"""Average pooling of 1 to 3 dimensions and its gradient, with PyTorch's divisor at every border."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from neuron_compile.lowering.library.pooling import Sizes, Windows
from neuron_compile.lowering.library.precision import widen


def avg_pool1d(*args: Any, **kwargs: Any) -> Any:
    """`aten.avg_pool1d`."""
    return _average(1, *args, **kwargs)


def avg_pool2d(*args: Any, **kwargs: Any) -> Any:
    """`aten.avg_pool2d`."""
    return _average(2, *args, **kwargs)


def avg_pool3d(*args: Any, **kwargs: Any) -> Any:
    """`aten.avg_pool3d`."""
    return _average(3, *args, **kwargs)


def avg_pool2d_backward(*args: Any, **kwargs: Any) -> Any:
    """`aten.avg_pool2d_backward`."""
    return _gradient(2, *args, **kwargs)


def avg_pool3d_backward(*args: Any, **kwargs: Any) -> Any:
    """`aten.avg_pool3d_backward`."""
    return _gradient(3, *args, **kwargs)


def _average(
    rank: int,
    self: Any,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    windows = Windows.of(self.shape, kernel_size, stride, padding, 1, ceil_mode, rank)
    lead = (1,) * (self.ndim - rank)
    total = _window_sum(
        windows.padded(widen(self), 0), lead + windows.kernel, lead + windows.stride
    )
    divisor = _divisors(windows, count_include_pad, divisor_override)
    if jnp.issubdtype(self.dtype, jnp.integer):
        return lax.div(total, jnp.broadcast_to(jnp.asarray(divisor, self.dtype), total.shape))
    return total / jnp.asarray(divisor, total.dtype)


def _gradient(
    rank: int,
    grad_output: Any,
    self: Any,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    windows = Windows.of(self.shape, kernel_size, stride, padding, 1, ceil_mode, rank)
    lead = (1,) * (self.ndim - rank)
    share = widen(grad_output)
    share = share / jnp.asarray(
        _divisors(windows, count_include_pad, divisor_override), share.dtype
    )
    geometry = zip(
        windows.input, windows.output, windows.kernel, windows.stride, windows.padding, strict=True
    )
    # Each window's share is placed where the window starts, and every input sums the windows that
    # reach it. A negative border cuts off what lies in the padding.
    borders = [(k - 1 - p, i + p - ((n - 1) * s + 1), s - 1) for i, n, k, s, p in geometry]
    placed = lax.pad(share, jnp.zeros((), share.dtype), [(0, 0, 0)] * len(lead) + borders)
    return _window_sum(placed, lead + windows.kernel, (1,) * self.ndim)


def _window_sum(array: Any, window: tuple[int, ...], stride: tuple[int, ...]) -> Any:
    zero = jnp.zeros((), array.dtype)
    return lax.reduce_window(array, zero, lax.add, window, stride, "VALID")


def _divisors(windows: Windows, count_include_pad: bool, divisor_override: int | None) -> Any:
    """What each window's sum is divided by: an array of the output's last dimensions."""
    if divisor_override is not None:
        return np.full(windows.output, divisor_override)
    counts = []
    for axis, size in enumerate(windows.input):
        padding, kernel = windows.padding[axis], windows.kernel[axis]
        start = np.arange(windows.output[axis]) * windows.stride[axis] - padding
        end = np.minimum(start + kernel, size + padding)
        if not count_include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, size)
        shape = [-1 if axis == other else 1 for other in range(len(windows.input))]
        counts.append((end - start).reshape(shape))
    return np.broadcast_to(math.prod(counts[1:], start=counts[0]), windows.output)
