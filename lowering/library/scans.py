"""Running sums, products, extremes and log-sum-exps."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.axes import at_least_1d, canonical
from neuron_compile.lowering.library.precision import widen


def cumsum(self: Any, dim: int, *, dtype: Any | None = None) -> Any:
    """`aten.cumsum`: integers and bool give int64."""
    return _running(lax.cumsum, self, dim, dtype)


def cumprod(self: Any, dim: int, *, dtype: Any | None = None) -> Any:
    """`aten.cumprod`: integers and bool give int64."""
    return _running(lax.cumprod, self, dim, dtype)


def logcumsumexp(self: Any, dim: int) -> Any:
    """`aten.logcumsumexp`, without overflow."""
    array = widen(at_least_1d(self))
    scanned = lax.associative_scan(jnp.logaddexp, array, axis=canonical(dim, array.ndim))
    return scanned.reshape(self.shape)


def cummax(self: Any, dim: int) -> tuple[Any, Any]:
    """`aten.cummax`: of equal values the last one's index; NaN is greatest."""
    return _extreme(self, dim, lax.ge)


def cummin(self: Any, dim: int) -> tuple[Any, Any]:
    """`aten.cummin`: of equal values the last one's index; NaN is smallest."""
    return _extreme(self, dim, lax.le)


def _running(scan: Any, self: Any, dim: int, dtype: Any | None) -> Any:
    array = at_least_1d(self)
    if dtype is not None:
        array = array.astype(dtype)
    elif not jnp.issubdtype(array.dtype, jnp.inexact):
        array = array.astype(jnp.int64)
    return scan(widen(array), axis=canonical(dim, array.ndim)).reshape(self.shape)


def _extreme(self: Any, dim: int, wins: Any) -> tuple[Any, Any]:
    array = at_least_1d(self)
    dim = canonical(dim, array.ndim)
    index = lax.broadcasted_iota(jnp.int64, array.shape, dim)

    def later_or_better(first: tuple[Any, Any], second: tuple[Any, Any]) -> tuple[Any, Any]:
        kept, candidate = first[0], second[0]
        takes = (candidate != candidate) | ((kept == kept) & wins(candidate, kept))
        return jnp.where(takes, candidate, kept), jnp.where(takes, second[1], first[1])

    values, indices = lax.associative_scan(later_or_better, (array, index), axis=dim)
    return values.reshape(self.shape), indices.reshape(self.shape)
