"""Sorting, selection by rank, and the most frequent value.

NaN is the greatest value, -0.0 and 0.0 are equal, and equal values keep their order, so that every
result is one that `torch.sort(stable=True)` gives.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.axes import at_least_1d, canonical, drop_dim
from neuron_compile.lowering.library.selection import first_places, order_keys


def sort(self: Any, dim: int = -1, descending: bool = False) -> tuple[Any, Any]:
    """`aten.sort`: sorted values and their int64 indices."""
    array = at_least_1d(self)
    dim = canonical(dim, array.ndim)
    values, indices = _ordered(array, dim, descending)
    return values.reshape(self.shape), indices.reshape(self.shape)


def sort_stable(
    self: Any, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[Any, Any]:
    """`aten.sort.stable`; every sort here is stable."""
    return sort(self, dim, descending)


def argsort(self: Any, dim: int = -1, descending: bool = False) -> Any:
    """`aten.argsort`."""
    return sort(self, dim, descending)[1]


def argsort_stable(self: Any, *, stable: bool, dim: int = -1, descending: bool = False) -> Any:
    """`aten.argsort.stable`."""
    return sort(self, dim, descending)[1]


def topk(
    self: Any,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
) -> tuple[Any, Any]:
    """`aten.topk`: sorted, whether that is asked for or not."""
    array = at_least_1d(self)
    dim = canonical(dim, array.ndim)
    rows = jnp.moveaxis(array, dim, -1)
    indices = first_places(rows, k, largest)
    if indices is None:
        values, indices = (part[..., :k] for part in _ordered(rows, rows.ndim - 1, largest))
    else:
        values = jnp.take_along_axis(rows, indices, axis=-1)
    parts = [jnp.moveaxis(part, -1, dim) for part in (values, indices)]
    shape = self.shape if self.ndim == 0 and k == 1 else parts[0].shape
    return parts[0].reshape(shape), parts[1].reshape(shape)


def kthvalue(self: Any, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    """`aten.kthvalue`: the k-th smallest, counted from 1."""
    array = at_least_1d(self)
    dim = canonical(dim, array.ndim)
    parts = [lax.slice_in_dim(p, k - 1, k, axis=dim) for p in _ordered(array, dim, False)]
    return _reduced(parts, dim, keepdim, self.ndim)


def median_dim(self: Any, dim: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    """`aten.median.dim`: the lower median; the first NaN where there is one."""
    return _median(self, dim, keepdim, skip_nan=False)


def nanmedian_dim(self: Any, dim: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    """`aten.nanmedian.dim`: the lower median of what is not NaN."""
    return _median(self, dim, keepdim, skip_nan=True)


def median(self: Any) -> Any:
    """`aten.median`: NaN for an empty tensor."""
    return _median_of_all(self, skip_nan=False)


def nanmedian(self: Any) -> Any:
    """`aten.nanmedian`: NaN for an empty tensor."""
    return _median_of_all(self, skip_nan=True)


def mode(self: Any, dim: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    """`aten.mode`: the most frequent value, the smallest of several, and its last index.

    Each NaN counts as a value of its own, greater than all numbers; eager gives no definite answer.
    """
    array = at_least_1d(self)
    dim = canonical(dim, array.ndim)
    values, indices = _ordered(array, dim, False)
    size = array.shape[dim]
    position = lax.broadcasted_iota(jnp.int64, array.shape, dim)
    head, tail = (lax.slice_in_dim(values, a, b, axis=dim) for a, b in ((0, size - 1), (1, size)))
    edge = jnp.ones_like(lax.slice_in_dim(values, 0, 1, axis=dim), dtype=bool)
    is_first = jnp.concatenate([edge, head != tail], axis=dim)
    is_last = jnp.concatenate([head != tail, edge], axis=dim)
    start = lax.cummax(jnp.where(is_first, position, 0), axis=dim)
    count = jnp.where(is_last, position - start + 1, 0)
    best = jnp.argmax(count, axis=dim, keepdims=True)
    parts = [jnp.take_along_axis(part, best, axis=dim) for part in (values, indices)]
    return _reduced(parts, dim, keepdim, self.ndim)


def _ordered(array: Any, dim: int, descending: bool) -> tuple[Any, Any]:
    rows = jnp.moveaxis(array, dim, -1)
    keys = order_keys(rows)
    # 32-bit places halve the memory that the sort moves.
    small = rows.shape[-1] < 2**31
    place = lax.broadcasted_iota(jnp.int32 if small else jnp.int64, rows.shape, rows.ndim - 1)
    _, place = lax.sort((~keys if descending else keys, place), is_stable=True, num_keys=1)
    values = jnp.take_along_axis(rows, place, axis=-1)
    return jnp.moveaxis(values, -1, dim), jnp.moveaxis(place.astype(jnp.int64), -1, dim)


def _median(self: Any, dim: int, keepdim: bool, *, skip_nan: bool) -> tuple[Any, Any]:
    array = at_least_1d(self)
    dim = canonical(dim, array.ndim)
    size = array.shape[dim]
    values, indices = _ordered(array, dim, False)
    nan_count = jnp.sum(jnp.isnan(array), axis=dim, keepdims=True)
    first_nan = size - nan_count
    # NaNs are sorted last in their order, so the first of them stands at `first_nan`.
    rank = (
        jnp.maximum(first_nan - 1, 0) // 2
        if skip_nan
        else jnp.where(nan_count > 0, first_nan, (size - 1) // 2)
    )
    parts = [jnp.take_along_axis(part, rank, axis=dim) for part in (values, indices)]
    return _reduced(parts, dim, keepdim, self.ndim)


def _median_of_all(self: Any, *, skip_nan: bool) -> Any:
    if self.size == 0:
        return jnp.full((), jnp.nan, dtype=self.dtype)
    return _median(self.reshape(-1), 0, False, skip_nan=skip_nan)[0]


def _reduced(parts: list[Any], dim: int, keepdim: bool, rank: int) -> tuple[Any, Any]:
    values, indices = (drop_dim(part, dim, keepdim, rank) for part in parts)
    return values, indices
