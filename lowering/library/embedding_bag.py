"""Bags of embedding rows, summed, averaged or maximized; forward and backward.

The elements between two offsets are a bag. Elements equal to `padding_idx` do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from neuron_compile.lowering.library.precision import widen
from neuron_compile.lowering.library.refusal import Refused
from neuron_compile.lowering.program import TensorSpec

_SUM, _MEAN, _MAX = range(3)


def embedding_bag(
    weight: Any,
    indices: Any,
    offsets: Any,
    scale_grad_by_freq: bool = False,
    mode: int = _SUM,
    sparse: bool = False,
    per_sample_weights: Any | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
    *,
    results: Sequence[TensorSpec | None],
) -> tuple[Any, Any, Any, Any]:
    """`aten._embedding_bag` and `aten._embedding_bag_forward_only`.

    Gives the bags `[bags, dim]`, each element's bag, each bag's size, and with `mode` 2 the row
    that each maximum is of. Where ATen's kernel for the layout leaves a result out, it is empty.
    """
    count = offsets.shape[0] - include_last_offset
    bag = _bag_of_each(indices, offsets, count)
    counted = _counted(indices, bag, padding_idx, count)
    size = _sum(jnp.ones_like(counted, jnp.int64), counted, count)
    if mode == _MAX:
        pooled, best = _maximum(weight, indices, counted, count)
    else:
        rows = widen(weight)[indices]
        if per_sample_weights is not None:
            rows = rows * widen(per_sample_weights)[:, None]
        pooled, best = _sum(rows, counted, count), size
        if mode == _MEAN:
            pooled = pooled / jnp.maximum(size, 1)[:, None].astype(pooled.dtype)
    return pooled, _fit(bag, results[1]), _fit(size, results[2]), _fit(best, results[3])


def backward(
    grad: Any,
    indices: Any,
    offsets: Any,
    offset2bag: Any,
    bag_size: Any,
    maximum_indices: Any,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Any | None,
    padding_idx: int = -1,
) -> Any:
    """`aten._embedding_bag_backward`: the gradient of `weight`."""
    if sparse:
        raise Refused("gradients with a sparse layout are not available.")
    count = grad.shape[0]
    table = jnp.zeros((num_weights, grad.shape[1]), widen(grad).dtype)
    bag = _counted(indices, _bag_of_each(indices, offsets, count), padding_idx, count)
    if mode == _MAX:
        filled = (_sum(jnp.ones_like(bag), bag, count) > 0)[:, None]
        place = jnp.where(filled, maximum_indices, num_weights)
        column = jnp.broadcast_to(jnp.arange(grad.shape[1]), place.shape)
        return table.at[place, column].add(widen(grad), mode="drop")
    share = jnp.ones(indices.shape, table.dtype)
    if per_sample_weights is not None:
        share = share * widen(per_sample_weights)
    if scale_grad_by_freq:
        share = share / _frequency(indices, num_weights).astype(share.dtype)
    if mode == _MEAN:
        size = jnp.maximum(_sum(jnp.ones_like(bag), bag, count), 1)
        share = share / size.at[bag].get(mode="clip").astype(share.dtype)
    rows = widen(grad).at[bag].get(mode="fill", fill_value=0) * share[:, None]
    return table.at[jnp.where(bag < count, indices, num_weights)].add(rows, mode="drop")


def weights_backward(
    grad: Any,
    weight: Any,
    indices: Any,
    offsets: Any,
    offset2bag: Any,
    mode: int,
    padding_idx: int = -1,
) -> Any:
    """`aten._embedding_bag_per_sample_weights_backward`."""
    count = grad.shape[0]
    bag = _counted(indices, _bag_of_each(indices, offsets, count), padding_idx, count)
    rows = widen(grad).at[bag].get(mode="fill", fill_value=0)
    return jnp.sum(rows * widen(weight)[indices], axis=1)


def _bag_of_each(indices: Any, offsets: Any, count: int) -> Any:
    """The bag of each element; `count` or more beyond the last offset."""
    position = jnp.arange(indices.shape[0], dtype=offsets.dtype)
    return jnp.searchsorted(offsets, position, side="right").astype(jnp.int64) - 1


def _counted(indices: Any, bag: Any, padding_idx: int, count: int) -> Any:
    """`bag`, with the number of bags for elements that do not count."""
    inside = bag < count
    return jnp.where(inside & (indices != padding_idx) if padding_idx >= 0 else inside, bag, count)


def _frequency(indices: Any, num_weights: int) -> Any:
    """What eager divides by: the frequency of another element, where some are repeated.

    Its kernel looks the n-th smallest distinct index up at place n of all indices, sorted.
    """
    seen = jnp.zeros(num_weights, jnp.int64).at[indices].add(1)
    rank = jnp.cumsum((seen > 0).astype(jnp.int64)) - 1
    return seen[jnp.sort(indices)[rank[indices]]]


def _sum(rows: Any, bag: Any, count: int) -> Any:
    return jax.ops.segment_sum(rows, bag, count, mode="drop")


def _maximum(weight: Any, indices: Any, bag: Any, count: int) -> tuple[Any, Any]:
    """As eager finds it: the first of the greatest, NaN passed over unless it leads the bag."""
    total = indices.shape[0]
    rows = weight[indices]
    position = jnp.arange(total)
    leader = jax.ops.segment_min(position, bag, count, mode="drop")
    leads = (position == leader.at[bag].get(mode="fill", fill_value=-1))[:, None]
    keys = jnp.where(rows == rows, rows, jnp.where(leads, jnp.inf, -jnp.inf)).astype(rows.dtype)
    best = jax.ops.segment_max(keys, bag, count, mode="drop")
    is_best = keys == best.at[bag].get(mode="fill", fill_value=0)
    spread = jnp.broadcast_to(position[:, None], rows.shape)
    place = jax.ops.segment_min(jnp.where(is_best, spread, total), bag, count, mode="drop")
    filled = (jax.ops.segment_sum(jnp.ones_like(bag), bag, count, mode="drop") > 0)[:, None]
    if total == 0:
        shape = (count, weight.shape[1])
        return jnp.zeros(shape, weight.dtype), jnp.zeros(shape, indices.dtype)
    place = jnp.minimum(place, total - 1)
    values = jnp.take_along_axis(rows, place, axis=0)
    return jnp.where(filled, values, 0), jnp.where(filled, indices[place], 0)


def _fit(values: Any, declared: TensorSpec | None) -> Any:
    """`values` in the declared shape, which may be empty or one longer than the bags."""
    if declared is None or declared.shape == values.shape:
        return values
    if 0 in declared.shape:
        return jnp.zeros(declared.shape, values.dtype)
    longer = [(0, d - v) for d, v in zip(declared.shape, values.shape, strict=True)]
    return jnp.pad(values, longer)
