"""Reductions of consecutive segments along a dimension, and their gradients.

A segment is given by lengths or by offsets, for each index of the dimensions before `axis`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from neuron_compile.lowering.library.precision import widen
from neuron_compile.lowering.library.refusal import Refused

_IDENTITY = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}


def segment_reduce(
    data: Any,
    reduce: str,
    *,
    lengths: Any | None = None,
    indices: Any | None = None,
    offsets: Any | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any | None = None,
) -> Any:
    """`aten.segment_reduce`: an empty segment gives `initial` or the neutral number."""
    if reduce not in _IDENTITY:
        raise Refused(f"reduce={reduce!r} is not known.")
    edges = _edges(lengths, offsets)
    count = edges.shape[-1] - 1
    start = _IDENTITY[reduce] if initial is None else initial

    def reduced(rows: Any, own: Any) -> Any:
        place = _segment_of_each(rows, own)
        if reduce == "max":
            return jnp.maximum(jax.ops.segment_max(rows, place, count, mode="drop"), start)
        if reduce == "min":
            return jnp.minimum(jax.ops.segment_min(rows, place, count, mode="drop"), start)
        if reduce == "prod":
            return jax.ops.segment_prod(rows, place, count, mode="drop") * start
        total = jax.ops.segment_sum(rows, place, count, mode="drop") + start
        if reduce == "sum":
            return total
        size = jnp.diff(own).reshape(-1, *[1] * (rows.ndim - 1))
        empty = jnp.nan if initial is None else initial
        return jnp.where(size == 0, empty, total / jnp.maximum(size, 1).astype(total.dtype))

    return _for_each_prefix(reduced, axis, widen(data), edges)


def segment_reduce_backward(
    grad: Any,
    output: Any,
    data: Any,
    reduce: str,
    *,
    lengths: Any | None = None,
    offsets: Any | None = None,
    axis: int = 0,
    initial: Any | None = None,
) -> Any:
    """`aten._segment_reduce_backward`.

    Equal extremes share a positive gradient evenly, and each get a negative one, as in eager.
    """
    edges = _edges(lengths, offsets)
    count = edges.shape[-1] - 1

    def gradient(rows: Any, own: Any, slope: Any, result: Any) -> Any:
        place = _segment_of_each(rows, own)

        def spread(values: Any) -> Any:
            return values.at[place].get(mode="fill", fill_value=0)

        def total(flags: Any) -> Any:
            return spread(jax.ops.segment_sum(flags.astype(rows.dtype), place, count, mode="drop"))

        if reduce == "sum":
            return spread(slope)
        if reduce == "mean":
            size = jnp.maximum(jnp.diff(own), 1).reshape(-1, *[1] * (rows.ndim - 1))
            return spread(slope / size.astype(slope.dtype))
        if reduce == "prod":
            others = _product_of_others(rows, place, count, spread(result), total, initial)
            return spread(slope) * others
        chosen = (rows == spread(result)) | (rows != rows)
        slopes = spread(slope)
        shared = jnp.where(slopes > 0, slopes / jnp.maximum(total(chosen), 1), slopes)
        return jnp.where(chosen, shared, 0)

    arrays = (widen(data), edges, widen(grad), widen(output))
    return _for_each_prefix(gradient, axis, *arrays)


def _product_of_others(
    rows: Any, place: Any, count: int, result: Any, total: Callable[[Any], Any], initial: Any | None
) -> Any:
    """For each element the product of the rest of its segment."""
    is_zero, is_nan = rows == 0, rows != rows
    regular = jnp.where(is_zero | is_nan, 1, rows)
    product = jax.ops.segment_prod(regular, place, count, mode="drop")
    product = product.at[place].get(mode="fill", fill_value=0) * (1 if initial is None else initial)
    has_zero, has_nan = total(is_zero) - is_zero > 0, total(is_nan) - is_nan > 0
    rest = jnp.where(has_nan, jnp.nan, jnp.where(has_zero, 0, product))
    return jnp.where(is_zero | is_nan, rest, result / regular)


def _edges(lengths: Any | None, offsets: Any | None) -> Any:
    if offsets is not None:
        return offsets
    if lengths is None:
        raise Refused("segments must be given by lengths or offsets.")
    return jnp.pad(jnp.cumsum(lengths, axis=-1), [(0, 0)] * (lengths.ndim - 1) + [(1, 0)])


def _segment_of_each(rows: Any, edges: Any) -> Any:
    """The segment of each row; out of range for rows that belong to none."""
    position = jnp.arange(rows.shape[0], dtype=edges.dtype)
    place = jnp.searchsorted(edges, position, side="right").astype(jnp.int64) - 1
    return jnp.where(place < 0, edges.shape[0] - 1, place)


def _for_each_prefix(function: Callable[..., Any], axis: int, data: Any, *others: Any) -> Any:
    """`function` of rows along `axis`, over all indices of the dimensions before it."""
    for _ in range(axis % data.ndim):
        function = jax.vmap(function)
    return function(data, *others)
