"""Ranges whose numbers ATen computes in float64, or in the integers that its bounds become."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np


def linspace(start: Any, end: Any, steps: int, *, dtype: Any) -> Any:
    """`aten.linspace` of integers: the bounds are cut to integers first, the places between them
    when they have been computed in float64."""
    return _spread(_cut(start, dtype), _cut(end, dtype), steps).astype(dtype)


def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any | None = None
) -> Any:
    """`aten.logspace`: `base` to evenly spaced powers, computed in float64 and rounded once."""
    dtype = np.dtype(dtype or "float32")
    if np.issubdtype(dtype, np.integer):
        start, end = _cut(start, dtype), _cut(end, dtype)
    return jnp.asarray(np.power(base, np.asarray(_spread(start, end, steps))).astype(dtype))


def _cut(bound: Any, dtype: Any) -> Any:
    """A number, or a tensor of one, as an integer of the dtype."""
    return bound.astype(dtype) if hasattr(bound, "astype") else np.asarray(int(bound), dtype)


def _spread(start: Any, end: Any, steps: int) -> Any:
    """Evenly spaced float64 numbers, counted from the nearer end, so that both ends are exact."""
    is_known = all(isinstance(bound, float | int | np.ndarray) for bound in (start, end))
    module: Any = np if is_known else jnp
    start, end = (module.asarray(bound).astype(np.float64) for bound in (start, end))
    if steps < 2:
        return module.broadcast_to(start, (steps,))
    step, number = (end - start) / (steps - 1), np.arange(steps)
    near_end = end - step * (steps - 1 - number)
    return module.where(number < steps // 2, start + step * number, near_end)
