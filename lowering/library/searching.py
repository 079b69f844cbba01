"""Places in sorted sequences, and histograms of values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from neuron_compile.lowering.library.precision import is_float, widen
from neuron_compile.lowering.library.promotion import promoted
from neuron_compile.lowering.library.refusal import Refused


def searchsorted(
    sorted_sequence: Any,
    self: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any | None = None,
) -> Any:
    """`aten.searchsorted`: along the last dimension; NaN stands at the end."""
    sequence = sorted_sequence
    if sorter is not None:
        sequence = jnp.take_along_axis(sequence, sorter, axis=-1)
    edges, values = promoted(sequence, jnp.asarray(self) if not hasattr(self, "dtype") else self)
    side = "right" if right or side == "right" else "left"
    if edges.ndim == 1:
        return _placed(edges, values.reshape(-1), side).reshape(values.shape)
    rows = edges.reshape(-1, edges.shape[-1])
    wanted = values.reshape(rows.shape[0], -1)
    placed = jax.vmap(lambda row, aims: _placed(row, aims, side))(rows, wanted)
    return placed.reshape(values.shape)


def bucketize(self: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """`aten.bucketize`."""
    return searchsorted(boundaries, self, out_int32=out_int32, right=right)


def histc(self: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """`aten.histc`: of the values' own range, where the bounds are equal."""
    values = self.reshape(-1)
    if min == max and values.size == 0:
        return jnp.zeros((bins,), self.dtype)
    low, high = (jnp.asarray(bound).astype(self.dtype) for bound in (min, max))
    if min == max:
        low, high = jnp.min(values), jnp.max(values)
        flat = low == high
        low, high = jnp.where(flat, low - 1, low), jnp.where(flat, high + 1, high)
    place = ((values - low) / (high - low) * bins).astype(jnp.int64)
    place = jnp.where(values == high, bins - 1, place)
    place = jnp.where((values >= low) & (values <= high), place, bins)
    return jnp.zeros((bins,), jnp.int64).at[place].add(1, mode="drop")


def bincount(self: Any, weights: Any | None = None, minlength: int = 0) -> Any:
    """`aten.bincount` of a tensor without elements; else the result's size depends on data."""
    if self.size:
        raise Refused("the result's size depends on the largest value.")
    return jnp.zeros((minlength,), jnp.int64 if weights is None else jnp.float64)


def histogram_count(
    self: Any,
    bins: int = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Any | None = None,
    density: bool = False,
) -> tuple[Any, Any]:
    """`aten.histogram.bin_ct`: counts and edges."""
    edges = _edges(self.reshape(-1), bins, None if range is None else (range[0], range[1]))
    return _histogram([self.reshape(-1)], [edges], weight, density), edges


def histogram_edges(
    self: Any, bins: Any, *, weight: Any | None = None, density: bool = False
) -> tuple[Any, Any]:
    """`aten.histogram.bins_tensor`: counts, and the edges that were given."""
    return _histogram([self.reshape(-1)], [bins], weight, density), bins


def histogramdd_edges(
    self: Any,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,
    weight: Any | None = None,
    density: bool = False,
) -> tuple[Any, ...]:
    """`aten._histogramdd_bin_edges`: the edges of each dimension."""
    points = self.reshape(-1, self.shape[-1])
    return tuple(
        _edges(points[:, axis], count, None if range is None else tuple(range[2 * axis :][:2]))
        for axis, count in enumerate(bins)
    )


def histogramdd_counts(
    self: Any,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,
    weight: Any | None = None,
    density: bool = False,
) -> Any:
    """`aten._histogramdd_from_bin_cts`."""
    edges = histogramdd_edges(self, bins, range=range)
    return histogramdd_tensors(self, edges, weight=weight, density=density)


def histogramdd_tensors(
    self: Any, bins: Sequence[Any], *, weight: Any | None = None, density: bool = False
) -> Any:
    """`aten._histogramdd_from_bin_tensors`."""
    points = self.reshape(-1, self.shape[-1])
    return _histogram([points[:, axis] for axis in range(len(bins))], bins, weight, density)


def nonzero_static(self: Any, *, size: int, fill_value: int = -1) -> Any:
    """`aten.nonzero_static`: the first `size` places that are not 0, padded with `fill_value`."""
    if self.ndim == 0:
        return jnp.zeros((size, 0), jnp.int64)
    if self.size == 0:
        return jnp.full((size, self.ndim), fill_value, jnp.int64)
    places = jnp.nonzero(self != 0, size=size, fill_value=fill_value)
    return jnp.stack(places, axis=-1).astype(jnp.int64)


def repeat_interleave(repeats: Any, *, output_size: int | None = None) -> Any:
    """`aten.repeat_interleave.Tensor` of a known total: each index as often as `repeats` says."""
    if output_size is None:
        raise Refused("without output_size the result's size depends on data.")
    ends = jnp.cumsum(repeats)
    return jnp.searchsorted(ends, jnp.arange(output_size, dtype=ends.dtype), side="right")


def _placed(edges: Any, values: Any, side: str) -> Any:
    # JAX sorts NaN to the end as well, but does not look for it there.
    found = jnp.searchsorted(edges, values, side=side)
    if is_float(values):
        found = jnp.where(values != values, edges.shape[0], found)
    return found.astype(jnp.int64)


def _edges(values: Any, bins: int, bounds: tuple[float, ...] | None) -> Any:
    wide = widen(values)
    if bounds is not None:
        low, high = (jnp.asarray(bound, wide.dtype) for bound in bounds)
    elif values.size == 0:
        low, high = jnp.asarray(0, wide.dtype), jnp.asarray(1, wide.dtype)
    else:
        low, high = jnp.min(wide), jnp.max(wide)
    flat = low == high
    low, high = jnp.where(flat, low - 0.5, low), jnp.where(flat, high + 0.5, high)
    return jnp.linspace(low, high, bins + 1).astype(values.dtype)


def _histogram(
    values: Sequence[Any], edges: Sequence[Any], weight: Any | None, density: bool
) -> Any:
    """Counts per cell: a cell holds its lower edge, the last one its upper edge too."""
    shape = tuple(edge.shape[0] - 1 for edge in edges)
    flat: Any = 0
    inside: Any = True
    for axis, (points, edge) in enumerate(zip(values, edges, strict=True)):
        cell = jnp.searchsorted(edge, points, side="right") - 1
        cell = jnp.where(points == edge[-1], shape[axis] - 1, cell)
        inside = inside & (points >= edge[0]) & (points <= edge[-1])
        flat = flat * shape[axis] + cell
    dtype = widen(values[0]).dtype
    share = jnp.ones(values[0].shape, dtype) if weight is None else widen(weight).reshape(-1)
    place = jnp.where(inside, flat, math.prod(shape))
    counts = jnp.zeros((math.prod(shape),), dtype).at[place].add(share, mode="drop").reshape(shape)
    if density:
        counts = counts / jnp.sum(counts)
        for axis, edge in enumerate(edges):
            counts = counts / jnp.diff(edge).reshape(
                [-1 if axis == other else 1 for other in range(len(shape))]
            )
    return counts
