"""Ranges whose numbers ATen computes in float64, or in the integers that its bounds become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from neuron_compile.lowering.program import TensorSpec


def arange(*bounds: float, results: Sequence[TensorSpec | None], **_: Any) -> Any:
    """`aten.arange` of integers: of `end`, `start` and `end`, or these and a step, of which start
    and step are cut to integers. Beyond the dtype's range it starts again from its other end."""
    start = int(bounds[0]) if len(bounds) > 1 else 0
    step = int(bounds[2]) if len(bounds) > 2 else 1
    assert results[0] is not None
    (count,) = results[0].shape
    return jnp.asarray((start + step * np.arange(count)).astype(results[0].dtype))


def linspace(start: Any, end: Any, steps: int, *, dtype: Any) -> Any:
    """`aten.linspace` of integers: the bounds are cut to integers first, then the places between
    them."""
    first, last = _cut(start, dtype), _cut(end, dtype)
    if _is_known(first) and _is_known(last):
        return jnp.asarray(_spread(first, last, steps).astype(dtype))
    if steps < 2:
        return jnp.broadcast_to(first, (steps,))
    # In integers: XLA would divide by multiplying with the reciprocal, and miss some of them.
    first, last = (jnp.asarray(bound, jnp.int64) for bound in (first, last))
    share = first * (steps - 1) + (last - first) * jnp.arange(steps)
    return lax.div(share, jnp.full_like(share, steps - 1)).astype(dtype)


def logspace(
    start: float, end: float, steps: int, base: float = 10.0, *, dtype: Any | None = None
) -> Any:
    """`aten.logspace`: `base` to evenly spaced powers, computed in float64 and rounded once."""
    dtype = np.dtype(dtype or "float32")
    if np.issubdtype(dtype, np.integer):
        start, end = int(start), int(end)
    return jnp.asarray(np.power(base, _spread(start, end, steps)).astype(dtype))


def _is_known(bound: Any) -> bool:
    return isinstance(bound, np.ndarray)


def _cut(bound: Any, dtype: Any) -> Any:
    """A number, or a tensor of one, as an integer of the dtype."""
    return bound.astype(dtype) if hasattr(bound, "astype") else np.asarray(int(bound), dtype)


def _spread(start: Any, end: Any, steps: int) -> Any:
    """Evenly spaced float64 numbers, counted from the nearer end, so that both ends are exact."""
    start, end = np.float64(start), np.float64(end)
    if steps < 2:
        return np.full(steps, start)
    step, number = (end - start) / (steps - 1), np.arange(steps)
    return np.where(number < steps // 2, start + step * number, end - step * (steps - 1 - number))
