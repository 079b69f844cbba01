"""Reading and writing through index tensors: negative indices wrap.

An index out of range reads a poison value (NaN, or the extreme integer) and writes nothing; whether
it raises instead is decided outside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from neuron_compile.lowering.library.axes import at_least_1d, canonical
from neuron_compile.lowering.library.precision import countable, widen
from neuron_compile.lowering.library.refusal import Refused


def index(self: Any, indices: Sequence[Any | None]) -> Any:
    """`aten.index.Tensor`; a mask is refused, since the result's size depends on it."""
    if any(_is_mask(part) for part in indices):
        raise Refused("the result of indexing by a mask has a shape that depends on data.")
    place = tuple(slice(None) if part is None else part for part in indices)
    return self.at[place].get(mode="fill")


def index_put(
    self: Any, indices: Sequence[Any | None], values: Any, accumulate: bool = False
) -> Any:
    """`aten.index_put`; masks are allowed, since the result has the shape of `self`."""
    mask = _only_mask(indices)
    if mask is not None and _is_single(values, mask, indices, self):
        start = list(indices).index(mask)
        row_rank = self.ndim - mask.ndim - start
        spread = mask.reshape(mask.shape + (1,) * row_rank)
        value = _squeeze_place(values, start, mask.ndim, self.ndim)
        return jnp.where(spread, self + value if accumulate else value, self).astype(self.dtype)
    place = tuple(
        slice(None) if part is None else part for part in _without_masks(indices, values, self)
    )
    if accumulate:
        total = countable(self)
        return total.at[place].add(values.astype(total.dtype))
    return self.at[place].set(values)


def index_select(self: Any, dim: int, index: Any) -> Any:
    """`aten.index_select`."""
    array = at_least_1d(self)
    place = _along(index.reshape(-1), canonical(dim, array.ndim))
    taken = array.at[place].get(mode="fill")
    return taken.reshape(self.shape) if self.ndim == 0 else taken


def index_fill(self: Any, dim: int, index: Any, value: Any) -> Any:
    """`aten.index_fill`, with a number or a 0-d tensor."""
    array = at_least_1d(self)
    place = _along(index.reshape(-1), canonical(dim, array.ndim))
    return array.at[place].set(jnp.asarray(value).astype(self.dtype)).reshape(self.shape)


def index_copy(self: Any, dim: int, index: Any, source: Any) -> Any:
    """`aten.index_copy`."""
    array, rows = at_least_1d(self), at_least_1d(source)
    place = _along(index.reshape(-1), canonical(dim, array.ndim))
    return array.at[place].set(rows).reshape(self.shape)


def index_add(self: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """`aten.index_add`."""
    array, rows = countable(at_least_1d(self)), countable(at_least_1d(source))
    place = _along(index.reshape(-1), canonical(dim, array.ndim))
    scaled = rows if alpha == 1 else rows * jnp.asarray(alpha).astype(rows.dtype)
    return array.at[place].add(scaled.astype(array.dtype)).reshape(self.shape)


def take(self: Any, index: Any) -> Any:
    """`aten.take`: by position in the flattened tensor."""
    return self.reshape(-1).at[index].get(mode="fill")


def put(self: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """`aten.put`."""
    flat, place, values = self.reshape(-1), index.reshape(-1), source.reshape(-1)
    if accumulate:
        return countable(flat).at[place].add(countable(values)).reshape(self.shape)
    return flat.at[place].set(values).reshape(self.shape)


def masked_scatter(self: Any, mask: Any, source: Any) -> Any:
    """`aten.masked_scatter`: elements of `source` in order, where the mask is true."""
    shape = jnp.broadcast_shapes(self.shape, mask.shape)
    spread, target = jnp.broadcast_to(mask, shape), jnp.broadcast_to(self, shape)
    if source.size == 0:
        return target
    position = jnp.cumsum(spread.reshape(-1).astype(jnp.int64)) - 1
    taken = source.reshape(-1)[jnp.maximum(position, 0)].reshape(shape)
    return jnp.where(spread, taken, target)


def masked_scatter_backward(grad_output: Any, mask: Any, sizes: Sequence[int]) -> Any:
    """`aten.masked_scatter_backward`: the gradient of `source`, zero beyond the mask's count."""
    count = math.prod(sizes)
    flags = jnp.broadcast_to(mask, grad_output.shape).reshape(-1)
    position = jnp.where(flags, jnp.cumsum(flags.astype(jnp.int64)) - 1, count)
    grad = jnp.zeros(count, grad_output.dtype).at[position].set(grad_output.reshape(-1))
    return grad.reshape(tuple(sizes))


def embedding(
    weight: Any,
    indices: Any,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """`aten.embedding`; the options concern the gradient only."""
    return weight.at[indices].get(mode="fill")


def embedding_dense_backward(
    grad_output: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    """`aten.embedding_dense_backward`."""
    rows = indices.reshape(-1)
    grad = widen(grad_output).reshape(rows.shape[0], -1)
    if scale_grad_by_freq:
        counts = jnp.zeros(num_weights, jnp.int64).at[rows].add(1)
        grad = grad / counts[rows][:, None].astype(grad.dtype)
    kept = jnp.where(rows == padding_idx, num_weights, rows) if padding_idx >= 0 else rows
    table = jnp.zeros((num_weights, grad_output.shape[-1]), grad.dtype)
    return table.at[kept].add(grad, mode="drop")


def _along(place: Any, dim: int) -> tuple[Any, ...]:
    return (slice(None),) * dim + (place,)


def _is_mask(part: Any | None) -> bool:
    return part is not None and part.dtype in (jnp.bool_, jnp.uint8)


def _only_mask(indices: Sequence[Any | None]) -> Any | None:
    given = [part for part in indices if part is not None]
    return given[0] if len(given) == 1 and _is_mask(given[0]) else None


def _is_single(values: Any, mask: Any, indices: Sequence[Any | None], self: Any) -> bool:
    """Whether one value (or row) is written wherever the mask is true."""
    rank = self.ndim - mask.ndim + 1
    start = list(indices).index(mask)
    padded = (1,) * (rank - values.ndim) + values.shape
    return bool(len(padded) == rank and padded[start] == 1)


def _squeeze_place(values: Any, start: int, mask_rank: int, rank: int) -> Any:
    """`values`, of size 1 at `start`, with that dimension spread over the mask's dimensions."""
    full = (1,) * (rank - mask_rank + 1 - values.ndim) + values.shape
    return values.reshape(full[:start] + (1,) * mask_rank + full[start + 1 :])


def _without_masks(indices: Sequence[Any | None], values: Any, self: Any) -> list[Any | None]:
    """The masks replaced by index tensors of a static length.

    That length is the other indices' or the values', which must equal the number of true elements;
    where nothing tells it, it is the largest possible one, and the surplus points out of range.
    """
    if not any(_is_mask(part) for part in indices):
        return list(indices)
    others = [part.shape for part in indices if part is not None and not _is_mask(part)]
    length = (jnp.broadcast_shapes((1,), *others))[-1]
    place = values.ndim - 1 - _dims_after(indices, self.ndim)
    if length == 1 and place >= 0:
        length = values.shape[place]
    replaced: list[Any | None] = []
    for part in indices:
        if part is None or not _is_mask(part):
            replaced.append(part)
            continue
        count = part.size if length == 1 else length
        start = len(replaced)
        replaced.extend(jnp.nonzero(part, size=count, fill_value=max(self.shape[start:])))
    return replaced


def _dims_after(indices: Sequence[Any | None], rank: int) -> int:
    """How many dimensions of the values follow those of the indices."""
    used = [part is not None for part in indices]
    first, last = used.index(True), len(used) - 1 - used[::-1].index(True)
    covered = sum(1 if p is None else p.ndim if _is_mask(p) else 1 for p in indices)
    holes = used[first : last + 1].count(False)
    leading = first if holes else 0
    return leading + holes + used[last + 1 :].count(False) + rank - covered
