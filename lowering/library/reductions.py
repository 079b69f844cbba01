"""Sums, products, means, variances, norms: low precision is accumulated in float32."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.axes import canonical_dims
from neuron_compile.lowering.library.precision import float_dtype, is_complex, widen

Dims = int | Sequence[int] | None


def sum(self: Any, dim: Dims = None, keepdim: bool = False, *, dtype: Any | None = None) -> Any:
    """`aten.sum`: integers and bool give int64."""
    array = _summand(self, dtype)
    return jnp.sum(array, axis=canonical_dims(dim, self.ndim), keepdims=keepdim)


def nansum(self: Any, dim: Dims = None, keepdim: bool = False, *, dtype: Any | None = None) -> Any:
    """`aten.nansum`: NaN counts as 0."""
    return sum(jnp.where(self != self, 0, self), dim, keepdim, dtype=dtype or self.dtype)


def prod(self: Any, dim: Dims = None, keepdim: bool = False, *, dtype: Any | None = None) -> Any:
    """`aten.prod`: integers and bool give int64."""
    array = _summand(self, dtype)
    return jnp.prod(array, axis=canonical_dims(dim, self.ndim), keepdims=keepdim)


def mean(self: Any, dim: Dims = None, keepdim: bool = False, *, dtype: Any | None = None) -> Any:
    """`aten.mean`: NaN over no elements."""
    total = sum(self, dim, keepdim, dtype=dtype)
    return total / _count(self, canonical_dims(dim, self.ndim))


def all(self: Any, dim: Dims = None, keepdim: bool = False) -> Any:
    """`aten.all`."""
    return jnp.all(self != 0, axis=canonical_dims(dim, self.ndim), keepdims=keepdim)


def any(self: Any, dim: Dims = None, keepdim: bool = False) -> Any:
    """`aten.any`."""
    return jnp.any(self != 0, axis=canonical_dims(dim, self.ndim), keepdims=keepdim)


def var(
    self: Any, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> Any:
    """`aten.var.correction`: divided by count - correction (1 if None), at least 0."""
    return _variance_and_mean(self, dim, correction, keepdim)[0]


def std(
    self: Any, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> Any:
    """`aten.std.correction`."""
    return jnp.sqrt(var(self, dim, correction=correction, keepdim=keepdim))


def var_mean(
    self: Any, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Any, Any]:
    """`aten.var_mean.correction`."""
    return _variance_and_mean(self, dim, correction, keepdim)


def std_mean(
    self: Any, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Any, Any]:
    """`aten.std_mean.correction`."""
    variance, average = _variance_and_mean(self, dim, correction, keepdim)
    return jnp.sqrt(variance), average


def logsumexp(self: Any, dim: Dims, keepdim: bool = False) -> Any:
    """`aten.logsumexp`; integers give float32."""
    array = widen(self.astype(float_dtype(self.dtype)))
    return jax.nn.logsumexp(array, axis=canonical_dims(dim, self.ndim), keepdims=keepdim)


def vector_norm(
    self: Any,
    ord: float = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: Any | None = None,
) -> Any:
    """`aten.linalg_vector_norm` of any order, infinite ones too."""
    magnitude = jnp.abs(widen(self if dtype is None else self.astype(dtype)))
    axes = canonical_dims(dim, self.ndim)
    if ord == 0:
        return jnp.sum((magnitude != 0).astype(magnitude.dtype), axis=axes, keepdims=keepdim)
    if ord == math.inf:
        return jnp.max(magnitude, axis=axes, keepdims=keepdim, initial=0)
    if ord == -math.inf:
        return jnp.min(magnitude, axis=axes, keepdims=keepdim)
    if ord == 1:
        return jnp.sum(magnitude, axis=axes, keepdims=keepdim)
    if ord == 2:
        return jnp.sqrt(jnp.sum(magnitude * magnitude, axis=axes, keepdims=keepdim))
    return jnp.sum(magnitude**ord, axis=axes, keepdims=keepdim) ** (1.0 / ord)


def trace(self: Any) -> Any:
    """`aten.trace`: integers give int64."""
    return jnp.sum(jnp.diagonal(_summand(self, None)))


def hash_tensor(self: Any, dim: Sequence[int] = (), *, keepdim: bool = False, mode: int = 0) -> Any:
    """`aten.hash_tensor`: exclusive or over the bits of float64s or int64s."""
    is_number = jnp.issubdtype(self.dtype, jnp.floating)
    wide = self.astype(jnp.float64 if is_number else jnp.int64)
    bits = lax.bitcast_convert_type(wide, jnp.uint64)
    axes = canonical_dims(dim, self.ndim)
    mixed = lax.reduce(bits, jnp.uint64(0), lax.bitwise_xor, axes)
    return jnp.expand_dims(mixed, axes) if keepdim else mixed


def _summand(self: Any, dtype: Any | None) -> Any:
    if dtype is not None:
        return widen(self.astype(dtype))
    if not jnp.issubdtype(self.dtype, jnp.inexact):
        return self.astype(jnp.int64)
    return widen(self)


def _count(self: Any, axes: tuple[int, ...]) -> int:
    return math.prod(self.shape[axis] for axis in axes)


def _variance_and_mean(
    self: Any, dim: Dims, correction: float | None, keepdim: bool
) -> tuple[Any, Any]:
    array, axes = widen(self), canonical_dims(dim, self.ndim)
    count = _count(self, axes)
    average = jnp.sum(array, axis=axes, keepdims=True) / count
    deviation = array - average
    square = (deviation * deviation.conj()).real if is_complex(array) else deviation**2
    freedom = max(0, count - (1 if correction is None else correction))
    variance = jnp.sum(square, axis=axes, keepdims=True) / freedom
    if keepdim:
        return variance, average
    return jnp.squeeze(variance, axes), jnp.squeeze(average, axes)
