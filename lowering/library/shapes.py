"""Views, copies and joins, for the types that Torch-MLIR cannot move: complex numbers above all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.axes import at_least_1d, canonical, canonical_dims


def same(self: Any, **_: Any) -> Any:
    """`aten.clone`, `aten.alias`, `aten.detach` and their kin."""
    return self


def to_copy(self: Any, *, dtype: Any | None = None, non_blocking: bool = False) -> Any:
    """`aten._to_copy`: the real part, where a complex number becomes real.

    A number beyond the range of an unsigned type wraps around.
    """
    if dtype is None:
        return self
    if jnp.issubdtype(dtype, jnp.unsignedinteger) and jnp.issubdtype(self.dtype, jnp.floating):
        self = self.astype(jnp.int64)
    to_real = jnp.iscomplexobj(self) and not jnp.issubdtype(dtype, jnp.complexfloating)
    return (self.real if to_real else self).astype(dtype)


def view(self: Any, size: Sequence[int]) -> Any:
    """`aten.view` and `aten.reshape`."""
    return self.reshape(tuple(size))


def view_dtype(self: Any, dtype: Any) -> Any:
    """`aten.view.dtype`: the bits read as another type; the last dimension grows or shrinks."""
    if self.dtype == dtype:
        return self
    if jnp.iscomplexobj(self):
        parts = jnp.stack([self.real, self.imag], axis=-1)
        return view_dtype(parts.reshape(*self.shape[:-1], -1), dtype)
    if jnp.issubdtype(dtype, jnp.complexfloating):
        parts = view_dtype(self, jnp.finfo(dtype).dtype)
        pairs = parts.reshape(*parts.shape[:-1], -1, 2)
        return lax.complex(pairs[..., 0], pairs[..., 1])
    if self.dtype == jnp.bool_:
        return view_dtype(self.astype(jnp.uint8), dtype)
    if dtype == jnp.bool_:
        return view_dtype(self, jnp.dtype(jnp.uint8)) != 0
    old, new = self.dtype.itemsize, jnp.dtype(dtype).itemsize
    if old < new:
        self = self.reshape(*self.shape[:-1], -1, new // old)
    bits = lax.bitcast_convert_type(self, dtype)
    return bits.reshape(*bits.shape[:-2], -1) if old > new else bits


def permute(self: Any, dims: Sequence[int]) -> Any:
    """`aten.permute`."""
    return jnp.transpose(self, tuple(canonical(dim, self.ndim) for dim in dims))


def transpose(self: Any, dim0: int, dim1: int) -> Any:
    """`aten.transpose`."""
    return jnp.swapaxes(self, dim0, dim1) if self.ndim else self


def matrix_transpose(self: Any) -> Any:
    """`aten.t`: of at most two dimensions."""
    return self.T


def expand(self: Any, size: Sequence[int], *, implicit: bool = False) -> Any:
    """`aten.expand`: -1 keeps a size."""
    missing = len(size) - self.ndim
    kept = [
        self.shape[place - missing] if number == -1 else number for place, number in enumerate(size)
    ]
    return jnp.broadcast_to(self, tuple(kept))


def repeat(self: Any, repeats: Sequence[int]) -> Any:
    """`aten.repeat`."""
    return jnp.tile(self, tuple(repeats))


def squeeze(self: Any, dim: int | Sequence[int] | None = None) -> Any:
    """`aten.squeeze`: dimensions of another size than 1 stay."""
    dims = canonical_dims(dim, self.ndim) if dim != [] else ()
    return jnp.squeeze(self, tuple(axis for axis in dims if self.shape[axis] == 1))


def unsqueeze(self: Any, dim: int) -> Any:
    """`aten.unsqueeze`."""
    return jnp.expand_dims(self, dim)


def select(self: Any, dim: int, index: int) -> Any:
    """`aten.select`."""
    return lax.index_in_dim(self, index, canonical(dim, self.ndim), keepdims=False)


def slice_tensor(
    self: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Any:
    """`aten.slice`: bounds beyond the size are cut, negative ones count from the end."""
    return self[(slice(None),) * canonical(dim, self.ndim) + (slice(start, end, step),)]


def slice_scatter(
    self: Any,
    src: Any,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Any:
    """`aten.slice_scatter`."""
    place = (slice(None),) * canonical(dim, self.ndim) + (slice(start, end, step),)
    return self.at[place].set(src.astype(self.dtype))


def select_scatter(self: Any, src: Any, dim: int, index: int) -> Any:
    """`aten.select_scatter`."""
    place = (slice(None),) * canonical(dim, self.ndim) + (index,)
    return self.at[place].set(src.astype(self.dtype))


def diagonal(self: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """`aten.diagonal`: empty where it lies outside."""
    first, second = canonical(dim1, self.ndim), canonical(dim2, self.ndim)
    rows, columns = _diagonal_places(self.shape[first], self.shape[second], offset)
    moved = jnp.moveaxis(self, (first, second), (-2, -1))
    return moved[..., rows, columns]


def diagonal_scatter(self: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """`aten.diagonal_scatter`."""
    first, second = canonical(dim1, self.ndim), canonical(dim2, self.ndim)
    rows, columns = _diagonal_places(self.shape[first], self.shape[second], offset)
    moved = jnp.moveaxis(self, (first, second), (-2, -1))
    written = moved.at[..., rows, columns].set(src.astype(self.dtype))
    return jnp.moveaxis(written, (-2, -1), (first, second))


def cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    """`aten.cat`: an empty tensor of one dimension fits anything."""
    shaped = [tensor for tensor in tensors if tensor.shape != (0,)] or list(tensors[:1])
    dtype = jnp.result_type(*[tensor.dtype for tensor in tensors])
    return jnp.concatenate([tensor.astype(dtype) for tensor in shaped], axis=dim)


def stack(tensors: Sequence[Any], dim: int = 0) -> Any:
    """`aten.stack`."""
    return jnp.stack(tensors, axis=dim)


def split_with_sizes(self: Any, split_sizes: Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """`aten.split_with_sizes`."""
    edges = [sum(split_sizes[:place]) for place in range(1, len(split_sizes))]
    return tuple(jnp.split(self, edges, axis=dim))


def split(self: Any, split_size: int, dim: int = 0) -> tuple[Any, ...]:
    """`aten.split`: the last part may be smaller."""
    size = self.shape[dim]
    return tuple(jnp.split(self, list(range(split_size, size, split_size or 1)), axis=dim))


def unbind(self: Any, dim: int = 0) -> tuple[Any, ...]:
    """`aten.unbind`."""
    return tuple(select(self, dim, index) for index in range(self.shape[dim]))


def flip(self: Any, dims: Sequence[int]) -> Any:
    """`aten.flip`."""
    return jnp.flip(self, canonical_dims(dims, self.ndim)) if dims and self.ndim else self


def roll(self: Any, shifts: Sequence[int], dims: Sequence[int] = ()) -> Any:
    """`aten.roll`: of the flattened tensor without `dims`."""
    if not dims:
        return jnp.roll(self.reshape(-1), sum(shifts)).reshape(self.shape)
    return jnp.roll(self, tuple(shifts), tuple(dims))


def constant_pad_nd(self: Any, pad: Sequence[int], value: Any = 0) -> Any:
    """`aten.constant_pad_nd`: pairs from the last dimension on; negative ones cut."""
    pairs = [(pad[place], pad[place + 1], 0) for place in range(0, len(pad), 2)]
    config = [(0, 0, 0)] * (self.ndim - len(pairs)) + pairs[::-1]
    return lax.pad(self, jnp.asarray(value).astype(self.dtype), config)


def tril(self: Any, diagonal: int = 0) -> Any:
    """`aten.tril`."""
    return jnp.tril(self, diagonal)


def triu(self: Any, diagonal: int = 0) -> Any:
    """`aten.triu`."""
    return jnp.triu(self, diagonal)


def full(size: Sequence[int], fill_value: Any, *, dtype: Any | None = None) -> Any:
    """`aten.full`; the declared result gives the dtype where none is named."""
    return jnp.full(tuple(size), fill_value, dtype)


def full_like(self: Any, fill_value: Any, *, dtype: Any | None = None) -> Any:
    """`aten.full_like`."""
    return jnp.full(self.shape, fill_value, dtype or self.dtype)


def unfold(self: Any, dimension: int, size: int, step: int) -> Any:
    """`aten.unfold`: windows of `size` as a new last dimension."""
    array = at_least_1d(self)
    dim = canonical(dimension, array.ndim)
    count = (array.shape[dim] - size) // step + 1
    start = lax.broadcasted_iota(jnp.int64, (count, size), 0) * step
    place = start + lax.broadcasted_iota(jnp.int64, (count, size), 1)
    windows = jnp.moveaxis(jnp.take(array, place, axis=dim), dim + 1, -1)
    return windows.reshape(windows.shape[1:]) if self.ndim == 0 else windows


def unfold_backward(
    grad_in: Any, input_sizes: Sequence[int], dim: int, size: int, step: int
) -> Any:
    """`aten.unfold_backward`: overlapping windows add up."""
    axis = canonical(dim, len(input_sizes))
    count = grad_in.shape[axis]
    start = lax.broadcasted_iota(jnp.int64, (count, size), 0) * step
    place = start + lax.broadcasted_iota(jnp.int64, (count, size), 1)
    grad = jnp.zeros(tuple(input_sizes), grad_in.dtype)
    return grad.at[(slice(None),) * axis + (place,)].add(jnp.moveaxis(grad_in, -1, axis + 1))


def _diagonal_places(rows: int, columns: int, offset: int) -> tuple[Any, Any]:
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    step = jnp.arange(length, dtype=jnp.int64)
    return step + max(-offset, 0), step + max(offset, 0)
