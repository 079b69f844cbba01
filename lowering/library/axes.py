"""Dimensions as PyTorch counts them: negative ones wrap, and a 0-d tensor has a dimension 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp


def canonical(dim: int, rank: int) -> int:
    """`dim` in `[0, rank)`; for rank 0, as for rank 1."""
    return dim % max(rank, 1)


def canonical_dims(dims: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Every dimension of a reduction, sorted; None and an empty list are all of them."""
    if dims is None or (not isinstance(dims, int) and len(dims) == 0):
        return tuple(range(rank))
    listed = [dims] if isinstance(dims, int) else dims
    return tuple(sorted({canonical(dim, rank) for dim in listed})) if rank else ()


def at_least_1d(array: Any) -> Any:
    """A 0-d array as one of shape `[1]`; others unchanged."""
    return array.reshape(1) if array.ndim == 0 else array


def drop_dim(array: Any, dim: int, keepdim: bool, rank: int) -> Any:
    """`array`, of size 1 in `dim`, shaped as the result of a reduction of a tensor of `rank`."""
    if rank == 0:
        return array.reshape(())
    return array if keepdim else jnp.squeeze(array, dim)
