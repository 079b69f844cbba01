"""The places of a triangle of a matrix, counted in integers.

PyTorch's decomposition solves a quadratic equation in float64, which computes in float32 here and
misses places of triangles with more than 2**24 of them.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = "int64") -> Any:
    """`aten.triu_indices`: rows and columns, (2, n), of the places on and above a diagonal."""
    first = np.clip(np.arange(row) + offset, 0, col)
    return _places(first, col - first, dtype)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = "int64") -> Any:
    """`aten.tril_indices`: rows and columns, (2, n), of the places on and below a diagonal."""
    lengths = np.clip(np.arange(row) + offset + 1, 0, col)
    return _places(np.zeros_like(lengths), lengths, dtype)


def _places(first: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any], dtype: Any) -> Any:
    """Row by row: `lengths[r]` places from column `first[r]` on."""
    count = int(lengths.sum())
    if not count:
        return jnp.zeros((2, 0), dtype)
    starts = np.cumsum(lengths) - lengths
    place = jnp.arange(count)
    # Of rows that start at one place, all but the last are empty.
    row = jnp.searchsorted(jnp.asarray(starts), place, side="right") - 1
    column = place + jnp.take(jnp.asarray(first - starts), row)
    return jnp.stack([row, column]).astype(dtype)
