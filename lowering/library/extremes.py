"""Greatest and smallest values: NaN wins, and of several the first one's index is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.axes import (
    at_least_1d,
    canonical,
    canonical_dims,
    drop_dim,
)


def max_dim(self: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    """`aten.max.dim`: values and int64 indices."""
    return _with_index(self, dim, keepdim, jnp.max)


def min_dim(self: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    """`aten.min.dim`: values and int64 indices."""
    return _with_index(self, dim, keepdim, jnp.min)


def argmax(self: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """`aten.argmax`: over the flattened tensor without `dim`."""
    return _index(self, dim, keepdim, jnp.max)


def argmin(self: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """`aten.argmin`: over the flattened tensor without `dim`."""
    return _index(self, dim, keepdim, jnp.min)


def amax(self: Any, dim: Sequence[int] = (), keepdim: bool = False) -> Any:
    """`aten.amax`: over all dimensions if none is named."""
    return jnp.max(self, axis=canonical_dims(dim, self.ndim), keepdims=keepdim)


def amin(self: Any, dim: Sequence[int] = (), keepdim: bool = False) -> Any:
    """`aten.amin`: over all dimensions if none is named."""
    return jnp.min(self, axis=canonical_dims(dim, self.ndim), keepdims=keepdim)


def aminmax(self: Any, *, dim: int | None = None, keepdim: bool = False) -> tuple[Any, Any]:
    """`aten.aminmax`."""
    dims = () if dim is None else (dim,)
    return amin(self, dims, keepdim), amax(self, dims, keepdim)


def maximum_of_all(self: Any) -> Any:
    """`aten.max`."""
    return amax(self)


def minimum_of_all(self: Any) -> Any:
    """`aten.min`."""
    return amin(self)


def _with_index(self: Any, dim: int, keepdim: bool, pick: Any) -> tuple[Any, Any]:
    array = at_least_1d(self)
    dim = canonical(dim, array.ndim)
    values, place = _picked(array, dim, pick)
    return drop_dim(values, dim, keepdim, self.ndim), drop_dim(place, dim, keepdim, self.ndim)


def _index(self: Any, dim: int | None, keepdim: bool, pick: Any) -> Any:
    if dim is None:
        _, found = _picked(self.reshape(-1), 0, pick)
        return found.reshape((1,) * self.ndim if keepdim else ())
    array = at_least_1d(self)
    dim = canonical(dim, array.ndim)
    return drop_dim(_picked(array, dim, pick)[1], dim, keepdim, self.ndim)


def _picked(array: Any, dim: int, pick: Any) -> tuple[Any, Any]:
    """The extreme and its first place, of size 1 in `dim`.

    Two reductions of one array each are an order of magnitude faster on a CPU than one of a pair.
    """
    small = array.shape[dim] < 2**31
    position = lax.broadcasted_iota(jnp.int32 if small else jnp.int64, array.shape, dim)
    values = pick(array, axis=dim, keepdims=True)
    is_extreme = (array == values) | (array != array)
    beyond = jnp.iinfo(position.dtype).max
    place = jnp.min(jnp.where(is_extreme, position, beyond), axis=dim, keepdims=True)
    return values, place.astype(jnp.int64)
