"""Reading and writing by strides in a flat storage, which is the first operand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax


def as_strided(
    self: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Any:
    """`aten.as_strided` of `self`'s elements in the order of its storage."""
    return self.reshape(-1)[_places(size, stride, storage_offset or 0)]


def as_strided_scatter(
    self: Any,
    src: Any,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Any:
    """`aten.as_strided_scatter`: the storage with `src` written through the strides."""
    place = _places(size, stride, storage_offset or 0)
    return self.reshape(-1).at[place].set(src.astype(self.dtype)).reshape(self.shape)


def _places(size: Sequence[int], stride: Sequence[int], offset: int) -> Any:
    place = jnp.full(tuple(size), offset, jnp.int64)
    if math.prod(size) == 0:
        return place
    for axis, step in enumerate(stride):
        place = place + lax.broadcasted_iota(jnp.int64, tuple(size), axis) * step
    return place
