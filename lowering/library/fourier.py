"""Fourier transforms. Normalization 0 scales by nothing, 1 by 1/sqrt(n), 2 by 1/n."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp


def c2c(self: Any, dim: Sequence[int], normalization: int, forward: bool) -> Any:
    """`aten._fft_c2c`."""
    return _scaled(_transformed(self, dim, forward), _count(self, dim), normalization)


def r2c(self: Any, dim: Sequence[int], normalization: int, onesided: bool) -> Any:
    """`aten._fft_r2c`; one-sided in the last of `dim`."""
    if not dim:
        return self
    first = jnp.fft.rfft if onesided else jnp.fft.fft
    transformed = _transformed(first(self, axis=dim[-1]), dim[:-1], True)
    return _scaled(transformed, _count(self, dim), normalization)


def c2r(self: Any, dim: Sequence[int], normalization: int, last_dim_size: int) -> Any:
    """`aten._fft_c2r`: the result has `last_dim_size` in the last of `dim`."""
    partial = _transformed(self, dim[:-1], False)
    real = jnp.fft.irfft(partial, n=last_dim_size, axis=dim[-1], norm="forward")
    return _scaled(real, _count(self, dim[:-1]) * last_dim_size, normalization)


def _transformed(array: Any, dims: Sequence[int], forward: bool) -> Any:
    for dim in dims:
        if forward:
            array = jnp.fft.fft(array, axis=dim)
        else:
            array = jnp.fft.ifft(array, axis=dim, norm="forward")
    return array


def _count(array: Any, dims: Sequence[int]) -> int:
    return math.prod(array.shape[dim] for dim in dims)


def _scaled(array: Any, count: int, normalization: int) -> Any:
    scale = {0: 1.0, 1: math.sqrt(count), 2: float(count)}[normalization]
    if scale in (0.0, 1.0):
        return array
    return array * jnp.asarray(1.0 / scale, array.real.dtype)
