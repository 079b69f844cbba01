"""Adaptive and fractional pooling: windows that are given, not slid.

An adaptive window `i` of `out` covers `[floor(i * in / out), ceil((i + 1) * in / out))`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from neuron_compile.lowering.library.pooling import Sizes, spread
from neuron_compile.lowering.library.precision import widen


def adaptive_avg_pool1d(self: Any, output_size: Sizes) -> Any:
    """`aten.adaptive_avg_pool1d`."""
    return _adaptive_average(self, spread(output_size, 1))


def adaptive_avg_pool2d(self: Any, output_size: Sizes) -> Any:
    """`aten._adaptive_avg_pool2d`."""
    return _adaptive_average(self, spread(output_size, 2))


def adaptive_avg_pool3d(self: Any, output_size: Sizes) -> Any:
    """`aten._adaptive_avg_pool3d`."""
    return _adaptive_average(self, spread(output_size, 3))


def adaptive_avg_pool2d_backward(grad_output: Any, self: Any) -> Any:
    """`aten._adaptive_avg_pool2d_backward`."""
    return _adaptive_average_gradient(grad_output, self, 2)


def adaptive_avg_pool3d_backward(grad_output: Any, self: Any) -> Any:
    """`aten._adaptive_avg_pool3d_backward`."""
    return _adaptive_average_gradient(grad_output, self, 3)


def adaptive_max_pool1d(self: Any, output_size: Sizes) -> tuple[Any, Any]:
    """`aten.adaptive_max_pool1d`: values and flat indices."""
    return _adaptive_max(self, spread(output_size, 1))


def adaptive_max_pool2d(self: Any, output_size: Sizes) -> tuple[Any, Any]:
    """`aten.adaptive_max_pool2d`: values and flat indices."""
    return _adaptive_max(self, spread(output_size, 2))


def adaptive_max_pool3d(self: Any, output_size: Sizes) -> tuple[Any, Any]:
    """`aten.adaptive_max_pool3d`: values and flat indices."""
    return _adaptive_max(self, spread(output_size, 3))


def fractional_max_pool2d(
    self: Any, kernel_size: Sizes, output_size: Sizes, random_samples: Any
) -> tuple[Any, Any]:
    """`aten.fractional_max_pool2d`; the first sample of a plane is for the last dimension."""
    return _fractional_max(self, kernel_size, output_size, jnp.flip(random_samples, -1))


def fractional_max_pool3d(
    self: Any, kernel_size: Sizes, output_size: Sizes, random_samples: Any
) -> tuple[Any, Any]:
    """`aten.fractional_max_pool3d`."""
    return _fractional_max(self, kernel_size, output_size, random_samples)


def _windows(size: int, count: int) -> tuple[Any, Any]:
    """For each window its input positions, and which of them are inside: `[count, longest]`."""
    window = np.arange(count)
    start, end = window * size // count, -((-(window + 1) * size) // count)
    longest = int((end - start).max(initial=0))
    place = start[:, None] + np.arange(longest)
    return np.minimum(place, max(size - 1, 0)), place < end[:, None]


def _adaptive_average(self: Any, output: tuple[int, ...]) -> Any:
    total, rank = widen(self), len(output)
    for axis, count in zip(range(self.ndim - rank, self.ndim), output, strict=True):
        place, inside = _windows(total.shape[axis], count)
        taken = jnp.take(total, jnp.asarray(place), axis=axis)
        mask = inside.reshape(inside.shape + (1,) * (total.ndim - axis - 1))
        lengths = inside.sum(1).reshape((-1,) + (1,) * (total.ndim - axis - 1))
        summed = jnp.sum(jnp.where(mask, taken, 0), axis=axis + 1)
        total = summed / jnp.asarray(lengths, total.dtype)
    return total


def _adaptive_average_gradient(grad_output: Any, self: Any, rank: int) -> Any:
    grad = widen(grad_output)
    for axis in range(self.ndim - rank, self.ndim):
        size, count = self.shape[axis], grad.shape[axis]
        place, inside = _windows(size, count)
        lengths = inside.sum(1).reshape((-1,) + (1,) * (grad.ndim - axis - 1))
        share = jnp.expand_dims(grad / jnp.asarray(lengths, grad.dtype), axis + 1)
        share = jnp.broadcast_to(
            share, (*share.shape[: axis + 1], place.shape[1], *share.shape[axis + 2 :])
        )
        target = jnp.zeros((*grad.shape[:axis], size, *grad.shape[axis + 1 :]), grad.dtype)
        # Places outside a window point beyond the end, where nothing is written.
        where = jnp.asarray(np.where(inside, place, size))
        grad = target.at[(slice(None),) * axis + (where,)].add(share, mode="drop")
    return grad


def _adaptive_max(self: Any, output: tuple[int, ...]) -> tuple[Any, Any]:
    rank = len(output)
    sizes = self.shape[-rank:]
    places, masks = zip(*map(_windows, sizes, output), strict=True)
    return _window_max(self, [jnp.asarray(place) for place in places], masks)


def _fractional_max(
    self: Any, kernel_size: Sizes, output_size: Sizes, samples: Any
) -> tuple[Any, Any]:
    rank = samples.shape[-1]
    kernel, output = spread(kernel_size, rank), spread(output_size, rank)
    sizes = self.shape[-rank:]
    planes = self.reshape((-1, *sizes))

    def pooled(plane: Any, sample: Any) -> tuple[Any, Any]:
        places = [
            _fractional_start(sample[axis], sizes[axis], output[axis], kernel[axis])[:, None]
            + jnp.arange(kernel[axis])
            for axis in range(rank)
        ]
        return _window_max(plane, places, [np.ones(place.shape, bool) for place in places])

    values, indices = jax.vmap(pooled)(planes, samples.reshape(-1, rank))
    shape = self.shape[:-rank] + output
    return values.reshape(shape), indices.reshape(shape)


def _fractional_start(sample: Any, size: int, count: int, kernel: int) -> Any:
    last = jnp.asarray([size - kernel], jnp.int64)
    if count == 1:
        return last
    alpha = jnp.asarray((size - kernel) / (count - 1), sample.dtype)
    window = jnp.arange(count - 1, dtype=sample.dtype)
    start = ((window + sample) * alpha).astype(jnp.int64) - (sample * alpha).astype(jnp.int64)
    return jnp.concatenate([start, last])


def _window_max(self: Any, places: Sequence[Any], masks: Sequence[Any]) -> tuple[Any, Any]:
    """The greatest value of each window, and its flat position in the plane.

    `places[d]` and `masks[d]` are `[windows, elements]` for dimension d. Of NaNs the last wins.
    """
    rank = len(places)
    lead, sizes = self.shape[:-rank], self.shape[-rank:]
    counts, longest = [p.shape[0] for p in places], [p.shape[1] for p in places]
    flat: Any = jnp.zeros((), jnp.int64)
    inside: Any = np.ones((), bool)
    for axis in range(rank):
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = counts[axis], longest[axis]
        flat = flat * sizes[axis] + places[axis].reshape(shape)
        inside = inside & np.asarray(masks[axis]).reshape(shape)
    block = (*counts, math.prod(longest))
    flat = jnp.broadcast_to(flat, (*counts, *longest)).reshape(block)
    inside = np.broadcast_to(inside, (*counts, *longest)).reshape(block)
    values = self.reshape((*lead, -1))[..., flat]
    number = lax.broadcasted_iota(jnp.int32, values.shape, values.ndim - 1)
    low = -jnp.inf if jnp.issubdtype(self.dtype, jnp.floating) else jnp.iinfo(self.dtype).min
    greatest = jnp.max(jnp.where(inside, values, low), axis=-1, keepdims=True)
    is_nan = values != values
    # Among NaNs the last, among equal values the first.
    last_nan = jnp.max(jnp.where(inside & is_nan, number, -1), axis=-1, keepdims=True)
    is_best = jnp.where(last_nan >= 0, number == last_nan, inside & (values == greatest))
    choice = jnp.argmax(is_best, axis=-1)[..., None]
    position = jnp.take_along_axis(jnp.broadcast_to(flat, values.shape), choice, axis=-1)
    return jnp.take_along_axis(values, choice, axis=-1)[..., 0], position[..., 0]
