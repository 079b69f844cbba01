"""Fourier transforms. Normalization 0 scales by nothing, 1 by 1/sqrt(n), 2 by 1/n."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import jax.numpy as jnp
from jax import lax

# The most dimensions that one transform has.
_MOST: Final = 3


def c2c(self: Any, dim: Sequence[int], normalization: int, forward: bool) -> Any:
    """`aten._fft_c2c`."""
    kind = lax.FftType.FFT if forward else lax.FftType.IFFT
    return _transformed(self, dim, [self.shape[axis] for axis in dim], kind, normalization)


def r2c(self: Any, dim: Sequence[int], normalization: int, onesided: bool) -> Any:
    """`aten._fft_r2c`; one-sided in the last of `dim`."""
    if not onesided or not dim:
        complex_dtype = jnp.promote_types(self.dtype, jnp.complex64)
        return c2c(self.astype(complex_dtype), dim, normalization, True)
    sizes = [self.shape[axis] for axis in dim]
    return _transformed(self, dim, sizes, lax.FftType.RFFT, normalization)


def c2r(self: Any, dim: Sequence[int], normalization: int, last_dim_size: int) -> Any:
    """`aten._fft_c2r`: the result has `last_dim_size` in the last of `dim`."""
    half = lax.slice_in_dim(self, 0, last_dim_size // 2 + 1, axis=dim[-1] % self.ndim)
    sizes = [*(self.shape[axis] for axis in dim[:-1]), last_dim_size]
    return _transformed(half, dim, sizes, lax.FftType.IRFFT, normalization)


def _transformed(
    array: Any, dims: Sequence[int], sizes: Sequence[int], kind: lax.FftType, normalization: int
) -> Any:
    """`array` transformed along `dims`, which have these sizes where they are not halved."""
    count = math.prod(sizes)
    scale = {0: 1.0, 1: 1 / math.sqrt(max(count, 1)), 2: 1 / max(count, 1)}[normalization]
    # XLA divides the inverse transforms by the count.
    is_inverse = kind in (lax.FftType.IFFT, lax.FftType.IRFFT)
    scale *= count if is_inverse else 1
    back = lax.FftType.IFFT if is_inverse else lax.FftType.FFT
    # A real transform has its last dimension halved, so it comes first one way, last the other.
    steps = _groups(dims, sizes, kind, back)
    for axes, lengths, step in steps if is_inverse else reversed(steps):
        ends = range(array.ndim - len(axes), array.ndim)
        moved = lax.fft(jnp.moveaxis(array, axes, ends), step, lengths)
        array = jnp.moveaxis(moved, ends, axes)
    return array if scale == 1 else array * jnp.asarray(scale, array.real.dtype)


def _groups(
    dims: Sequence[int], sizes: Sequence[int], last: lax.FftType, others: lax.FftType
) -> list[tuple[tuple[int, ...], tuple[int, ...], lax.FftType]]:
    """Up to three dimensions at a time; only the group of the last one is of its kind."""
    ends = list(range(len(dims), 0, -_MOST))
    return [
        (
            tuple(dims[max(end - _MOST, 0) : end]),
            tuple(sizes[max(end - _MOST, 0) : end]),
            last if end == len(dims) else others,
        )
        for end in reversed(ends)
    ]
