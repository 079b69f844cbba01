"""Gathering and scattering along one dimension, in all reductions.

Low-precision sums and products are accumulated in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.axes import at_least_1d, canonical
from neuron_compile.lowering.library.precision import countable
from neuron_compile.lowering.library.refusal import Refused


def gather(self: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """`aten.gather`."""
    array, places = at_least_1d(self), at_least_1d(index)
    place = _grid(places, canonical(dim, array.ndim))
    return array.at[place].get(mode="fill").reshape(index.shape)


def scatter(self: Any, dim: int, index: Any, src: Any) -> Any:
    """`aten.scatter` from a tensor or a number."""
    array, places, values = _prepared(self, index, src)
    place = _grid(places, canonical(dim, array.ndim))
    return array.at[place].set(values.astype(array.dtype)).reshape(self.shape)


def scatter_value(self: Any, dim: int, index: Any, value: Any) -> Any:
    """`aten.scatter.value`."""
    return scatter(self, dim, index, value)


def scatter_add(self: Any, dim: int, index: Any, src: Any) -> Any:
    """`aten.scatter_add`."""
    return scatter_reduce(self, dim, index, src, "sum")


def scatter_with(self: Any, dim: int, index: Any, src: Any, *, reduce: str) -> Any:
    """`aten.scatter.reduce`: `add` or `multiply`."""
    return scatter_reduce(self, dim, index, src, {"add": "sum", "multiply": "prod"}[reduce])


def scatter_value_with(self: Any, dim: int, index: Any, value: Any, *, reduce: str) -> Any:
    """`aten.scatter.value_reduce`: `add` or `multiply` by one number."""
    return scatter_with(self, dim, index, value, reduce=reduce)


def scatter_reduce(
    self: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """`aten.scatter_reduce.two`."""
    array, places, values = _prepared(self, index, src)
    place = _grid(places, canonical(dim, array.ndim))
    return reduce_at(array, place, values, reduce, include_self).reshape(self.shape)


def index_reduce(
    self: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """`aten.index_reduce`."""
    array, values = at_least_1d(self), at_least_1d(source)
    dim = canonical(dim, array.ndim)
    place = (slice(None),) * dim + (index.reshape(-1),)
    return reduce_at(array, place, values, reduce, include_self).reshape(self.shape)


def reduce_at(array: Any, place: Any, values: Any, reduce: str, include_self: bool) -> Any:
    """`array` with `values` reduced into it at `place`, an index of `array.at`.

    Without `include_self` the old value of a place that is written does not take part.
    """
    if reduce not in _REDUCTIONS:
        raise Refused(f"reduce={reduce!r} is not known.")
    identity, combine = _REDUCTIONS[reduce]
    total = countable(array)
    values = values.astype(total.dtype)
    if not include_self:
        total = total.at[place].set(identity(total.dtype))
    total = combine(total.at[place], values)
    if reduce == "mean":
        count = jnp.full(array.shape, int(include_self), jnp.int64)
        count = jnp.maximum(count.at[place].add(jnp.ones(values.shape, jnp.int64)), 1)
        is_int = jnp.issubdtype(total.dtype, jnp.integer)
        total = total // count.astype(total.dtype) if is_int else total / count.astype(total.dtype)
    return total.astype(array.dtype)


def _prepared(self: Any, index: Any, src: Any) -> tuple[Any, Any, Any]:
    """Arrays of at least one dimension, with `src` cut or spread to the shape of `index`."""
    array, places = at_least_1d(self), at_least_1d(index)
    values = jnp.asarray(src)
    if values.ndim == 0:
        return array, places, jnp.broadcast_to(values, places.shape)
    return array, places, values[tuple(slice(size) for size in places.shape)]


def _grid(places: Any, dim: int) -> tuple[Any, ...]:
    """`places` along `dim`, and each element's own position along the other dimensions."""
    return tuple(
        places if axis == dim else lax.broadcasted_iota(places.dtype, places.shape, axis)
        for axis in range(places.ndim)
    )


def _lowest(dtype: Any) -> Any:
    return -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else _integer_limits(dtype)[0]


def _highest(dtype: Any) -> Any:
    return jnp.inf if jnp.issubdtype(dtype, jnp.floating) else _integer_limits(dtype)[1]


def _integer_limits(dtype: Any) -> tuple[Any, Any]:
    if dtype == jnp.bool_:
        return False, True
    limits = jnp.iinfo(dtype)
    return limits.min, limits.max


_REDUCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "sum": (lambda _: 0, lambda place, values: place.add(values)),
    "mean": (lambda _: 0, lambda place, values: place.add(values)),
    "prod": (lambda _: 1, lambda place, values: place.multiply(values)),
    "amax": (_lowest, lambda place, values: place.max(values)),
    "amin": (_highest, lambda place, values: place.min(values)),
}
