"""Max pooling of 1 to 3 dimensions with indices, its gradient and its inverse.

A window is compared element by element as strided slices of the padded input, which is exact for
every stride, padding, dilation and ceil mode, and gives indices without a variadic reduction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.precision import widen

Sizes = int | Sequence[int]

# Windows of more elements are compared in a loop: unrolled, their code would grow without bound.
_UNROLLED = 64


@dataclass(frozen=True, slots=True)
class Windows:
    """The geometry of a pooling over the last `len(kernel)` dimensions."""

    input: tuple[int, ...]
    output: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    @classmethod
    def of(
        cls,
        input: Sequence[int],
        kernel: Sizes,
        stride: Sizes | None,
        padding: Sizes,
        dilation: Sizes,
        ceil_mode: bool,
        rank: int,
    ) -> Windows:
        """A call's geometry: one number stands for all dimensions, no stride for the kernel."""
        kernels = spread(kernel, rank)
        strides = spread(stride, rank) if stride not in (None, [], ()) else kernels
        pads, steps = spread(padding, rank), spread(dilation, rank)
        sizes = tuple(input[-rank:])
        geometry = zip(sizes, kernels, strides, pads, steps, strict=True)
        output = tuple(output_size(*numbers, ceil_mode) for numbers in geometry)
        return cls(sizes, output, kernels, strides, pads, steps)

    def padded(self, array: Any, fill: Any) -> Any:
        """`array` with `fill` around it, as far as any window reaches."""
        reach = [
            (n - 1) * s + (k - 1) * d + 1
            for n, s, k, d in zip(self.output, self.stride, self.kernel, self.dilation, strict=True)
        ]
        after = [r - p - i for r, p, i in zip(reach, self.padding, self.input, strict=True)]
        config = [(0, 0, 0)] * (array.ndim - len(self.kernel)) + [
            (p, max(a, 0), 0) for p, a in zip(self.padding, after, strict=True)
        ]
        return lax.pad(array, jnp.asarray(fill, array.dtype), config)

    def pick(self, padded: Any, offset: Sequence[Any]) -> Any:
        """The elements of `padded` that stand at `offset`, static or not, in their windows."""
        lead = padded.shape[: padded.ndim - len(self.kernel)]
        spans = [(n - 1) * s + 1 for n, s in zip(self.output, self.stride, strict=True)]
        start = [o * d for o, d in zip(offset, self.dilation, strict=True)]
        span = lax.dynamic_slice(padded, [0] * len(lead) + start, [*lead, *spans])
        return lax.slice(span, [0] * span.ndim, span.shape, [1] * len(lead) + list(self.stride))

    def positions(self, offset: Sequence[Any]) -> Any:
        """The flat input position of each window's element at `offset`; -1 in the padding."""
        flat = jnp.zeros(self.output, jnp.int64)
        inside = jnp.ones(self.output, bool)
        for axis, size in enumerate(self.input):
            window = lax.broadcasted_iota(jnp.int64, self.output, axis)
            first = window * self.stride[axis] - self.padding[axis]
            place = first + offset[axis] * self.dilation[axis]
            flat = flat * size + place
            inside &= (place >= 0) & (place < size)
        return jnp.where(inside, flat, -1)


def spread(sizes: Sizes, rank: int) -> tuple[int, ...]:
    """`sizes` as one number for each of `rank` dimensions."""
    listed = [sizes] if isinstance(sizes, int) else list(sizes)
    return tuple(listed * rank if len(listed) == 1 else listed)


def output_size(
    size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool
) -> int:
    """How many windows fit; in ceil mode the last one must start inside the input or left pad."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1 + (stride - 1 if ceil_mode else 0)
    count = room // stride + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    return count


def max_pool1d(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """`aten.max_pool1d_with_indices`."""
    return _max_pool(1, *args, **kwargs)


def max_pool2d(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """`aten.max_pool2d_with_indices`."""
    return _max_pool(2, *args, **kwargs)


def max_pool3d(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """`aten.max_pool3d_with_indices`."""
    return _max_pool(3, *args, **kwargs)


def max_pool2d_values(*args: Any, **kwargs: Any) -> Any:
    """`aten.max_pool2d`."""
    return _max_pool(2, *args, **kwargs)[0]


def max_pool2d_backward(grad_output: Any, self: Any, *geometry: Any, indices: Any = None) -> Any:
    """`aten.max_pool2d_with_indices_backward`; the indices say all."""
    return scatter_planes(grad_output, geometry[-1] if indices is None else indices, self, 2)


def max_pool3d_backward(grad_output: Any, self: Any, *geometry: Any, indices: Any = None) -> Any:
    """`aten.max_pool3d_with_indices_backward`; the indices say all."""
    return scatter_planes(grad_output, geometry[-1] if indices is None else indices, self, 3)


def adaptive_max_pool2d_backward(grad_output: Any, self: Any, indices: Any) -> Any:
    """`aten.adaptive_max_pool2d_backward`."""
    return scatter_planes(grad_output, indices, self, 2)


def adaptive_max_pool3d_backward(grad_output: Any, self: Any, indices: Any) -> Any:
    """`aten.adaptive_max_pool3d_backward`."""
    return scatter_planes(grad_output, indices, self, 3)


def fractional_max_pool2d_backward(
    grad_output: Any, self: Any, kernel_size: Sizes, output_size: Sizes, indices: Any
) -> Any:
    """`aten.fractional_max_pool2d_backward`."""
    return scatter_planes(grad_output, indices, self, 2)


def fractional_max_pool3d_backward(
    grad_output: Any, self: Any, kernel_size: Sizes, output_size: Sizes, indices: Any
) -> Any:
    """`aten.fractional_max_pool3d_backward`."""
    return scatter_planes(grad_output, indices, self, 3)


def max_unpool2d(self: Any, indices: Any, output_size: Sequence[int]) -> Any:
    """`aten.max_unpool2d`."""
    return _unpool(self, indices, output_size, 2)


def max_unpool3d(
    self: Any, indices: Any, output_size: Sequence[int], stride: Any = None, padding: Any = None
) -> Any:
    """`aten.max_unpool3d`."""
    return _unpool(self, indices, output_size, 3)


def scatter_planes(grad_output: Any, indices: Any, self: Any, rank: int) -> Any:
    """The gradient of `self`: each element of `grad_output` added at its index in the plane."""
    planes = math.prod(self.shape[:-rank])
    size = math.prod(self.shape[-rank:])
    grad = jnp.zeros((planes, size), widen(grad_output).dtype)
    row = jnp.arange(planes, dtype=jnp.int64)[:, None]
    place = indices.reshape(planes, -1) if planes else jnp.zeros((0, 0), jnp.int64)
    values = widen(grad_output).reshape(place.shape)
    return grad.at[row, place].add(values).reshape(self.shape)


def _max_pool(
    rank: int,
    self: Any,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> tuple[Any, Any]:
    windows = Windows.of(self.shape, kernel_size, stride, padding, dilation, ceil_mode, rank)
    is_float = jnp.issubdtype(self.dtype, jnp.floating)
    padded = windows.padded(self, -jnp.inf if is_float else jnp.iinfo(self.dtype).min)

    def compared(number: Any, best: tuple[Any, Any]) -> tuple[Any, Any]:
        offset = _unravel(number, windows.kernel)
        value, position = windows.pick(padded, offset), windows.positions(offset)
        # Elements of the padding never win, and of NaNs the last one does.
        wins = (position >= 0) & ((value > best[0]) | (value != value) | (best[1] < 0))
        return jnp.where(wins, value, best[0]), jnp.where(wins, position, best[1])

    shape = self.shape[:-rank] + windows.output
    best = (jnp.zeros(shape, self.dtype), jnp.full(shape, -1, jnp.int64))
    count = math.prod(windows.kernel)
    if count > _UNROLLED:
        values, indices = lax.fori_loop(0, count, compared, best)
        return values, indices
    for number in range(count):
        best = compared(number, best)
    return best


def _unravel(number: Any, sizes: Sequence[int]) -> list[Any]:
    """The position in a block of `sizes` of its element `number`, in row-major order."""
    place: list[Any] = []
    for size in reversed(sizes):
        place.insert(0, number % size)
        number = number // size
    return place


def _unpool(self: Any, indices: Any, output_size: Sequence[int], rank: int) -> Any:
    planes = math.prod(self.shape[:-rank])
    plane = tuple(output_size[-rank:])
    target = jnp.zeros((planes, math.prod(plane)), self.dtype)
    row = jnp.arange(planes, dtype=jnp.int64)[:, None]
    size = math.prod(self.shape[-rank:])
    written = target.at[row, indices.reshape(planes, size)].set(self.reshape(planes, size))
    return written.reshape(self.shape[:-rank] + plane)
