"""Distances between the rows of matrices, and the gradients of them."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from neuron_compile.lowering.library.precision import widen


def cdist(x1: Any, x2: Any, p: float, compute_mode: int | None) -> Any:
    """`aten._cdist_forward`: by differences, whatever the mode, which is at least as exact."""
    left, right = widen(x1), widen(x2)
    return _norm(left[..., :, None, :] - right[..., None, :, :], p)


def cdist_backward(grad: Any, x1: Any, x2: Any, p: float, cdist: Any) -> Any:
    """`aten._cdist_backward`: the gradient of `x1`, with the batch that it was broadcast to."""
    if 0 in (*x1.shape, *x2.shape):
        return jnp.zeros_like(x1)
    difference = widen(x1)[..., :, None, :] - widen(x2)[..., None, :, :]
    slope = _slope(difference, widen(cdist)[..., None], p)
    return jnp.sum(widen(grad)[..., None] * slope, axis=-2)


def pdist(self: Any, p: float = 2.0) -> Any:
    """`aten._pdist_forward`: of each pair of rows, in the order of the upper triangle."""
    rows, columns = _pairs(self.shape[0])
    array = widen(self)
    return _norm(array[rows] - array[columns], p)


def pdist_backward(grad: Any, self: Any, p: float, pdist: Any) -> Any:
    """`aten._pdist_backward`."""
    rows, columns = _pairs(self.shape[0])
    array = widen(self)
    slope = _slope(array[rows] - array[columns], widen(pdist)[:, None], p)
    share = widen(grad)[:, None] * slope
    return jnp.zeros(self.shape, array.dtype).at[rows].add(share).at[columns].add(-share)


def _pairs(count: int) -> tuple[Any, Any]:
    rows, columns = np.triu_indices(count, 1)
    return jnp.asarray(rows), jnp.asarray(columns)


def _norm(difference: Any, p: float) -> Any:
    size = jnp.abs(difference)
    if p == 0:
        return jnp.sum((size != 0).astype(size.dtype), axis=-1)
    if p == math.inf:
        return jnp.max(size, axis=-1, initial=0)
    if p == 1:
        return jnp.sum(size, axis=-1)
    if p == 2:
        return jnp.sqrt(jnp.sum(size * size, axis=-1))
    return jnp.sum(size**p, axis=-1) ** (1 / p)


def _slope(difference: Any, distance: Any, p: float) -> Any:
    """The derivative of the distance; 0 where the rows are equal, as in PyTorch."""
    size, sign = jnp.abs(difference), jnp.sign(difference)
    if p == 0:
        return jnp.zeros_like(difference)
    if p == 1:
        return sign
    safe = jnp.where(distance == 0, 1, distance)
    if p == math.inf:
        slope = sign * (size == distance)
    elif p == 2:
        slope = difference / safe
    else:
        base = jnp.where(size == 0, 1, size)
        slope = jnp.where(size == 0, 0, sign * base ** (p - 1) / safe ** (p - 1))
    return jnp.where(distance == 0, 0, slope)
