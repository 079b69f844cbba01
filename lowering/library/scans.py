"""Running sums, products, extremes and log-sum-exps."""

from __future__ import annotations

from typing import Any, Final

import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.axes import at_least_1d, canonical
from neuron_compile.lowering.library.precision import is_complex, widen

# Elements of a row that are scanned together.
_BLOCK: Final = 32


def cumsum(self: Any, dim: int, *, dtype: Any | None = None) -> Any:
    """`aten.cumsum`: integers and bool give int64."""
    return _running(lax.add, lax.cumsum, 0, self, dim, dtype)


def cumprod(self: Any, dim: int, *, dtype: Any | None = None) -> Any:
    """`aten.cumprod`: integers and bool give int64."""
    return _running(lax.mul, lax.cumprod, 1, self, dim, dtype)


def logcumsumexp(self: Any, dim: int) -> Any:
    """`aten.logcumsumexp`, without overflow.

    ATen keeps the running sum in float64 and rounds each result. The difference of two such sums,
    of which the gradient is made, has no more digits than this leaves.
    """
    array = at_least_1d(self)
    axis = canonical(dim, array.ndim)
    if is_complex(array):
        return _in_sequence(_complex_logaddexp, array, axis).reshape(self.shape)
    scanned = lax.associative_scan(jnp.logaddexp, array.astype(jnp.float64), axis=axis)
    return scanned.astype(widen(array).dtype).reshape(self.shape)


def _complex_logaddexp(left: Any, right: Any) -> Any:
    """One logarithm of the sum: the imaginary part goes on from that of the greater term."""
    is_left = left.real > right.real
    greater, less = jnp.where(is_left, left, right), jnp.where(is_left, right, left)
    both_infinite = jnp.isneginf(greater.real)
    ratio = jnp.exp(jnp.where(both_infinite, 0, less - greater))
    return jnp.where(both_infinite, greater, greater + jnp.log1p(ratio))


def _in_sequence(combine: Any, array: Any, axis: int) -> Any:
    """The scan from first to last, for an operator to which the order of pairing matters."""
    lines = jnp.moveaxis(array, axis, 0)
    if lines.size == 0:
        return array

    def step(state: Any, line: Any) -> tuple[Any, Any]:
        state = combine(state, line)
        return state, state

    _, rest = lax.scan(step, lines[0], lines[1:])
    return jnp.moveaxis(jnp.concatenate([lines[:1], rest]), 0, axis)


def cummax(self: Any, dim: int) -> tuple[Any, Any]:
    """`aten.cummax`: of equal values the last one's index; NaN is greatest."""
    return _extreme(lax.max, lax.cummax, self, dim)


def cummin(self: Any, dim: int) -> tuple[Any, Any]:
    """`aten.cummin`: of equal values the last one's index; NaN is smallest."""
    return _extreme(lax.min, lax.cummin, self, dim)


def _running(combine: Any, scan: Any, neutral: int, self: Any, dim: int, dtype: Any | None) -> Any:
    array = at_least_1d(self)
    if dtype is not None:
        array = array.astype(dtype)
    elif not jnp.issubdtype(array.dtype, jnp.inexact):
        array = array.astype(jnp.int64)
    dim = canonical(dim, array.ndim)
    return _scanned(combine, scan, neutral, widen(array), dim).reshape(self.shape)


def _extreme(combine: Any, scan: Any, self: Any, dim: int) -> tuple[Any, Any]:
    array = at_least_1d(self)
    array = array.astype(jnp.uint8) if array.dtype == jnp.bool_ else array
    dim = canonical(dim, array.ndim)
    worst = _limits(array.dtype)[0 if combine is lax.max else 1]
    values = _scanned(combine, scan, worst, array, dim)
    # NaN stays until the end, and the last one counts, like the last of equal numbers.
    takes = (array == values) | (array != array)
    place = jnp.where(takes, lax.broadcasted_iota(jnp.int32, array.shape, dim), -1)
    last = _scanned(lax.max, lax.cummax, -1, place, dim)
    return values.reshape(self.shape), last.reshape(self.shape)


def _limits(dtype: Any) -> tuple[Any, Any]:
    if jnp.issubdtype(dtype, jnp.floating):
        return -jnp.inf, jnp.inf
    return jnp.iinfo(dtype).min, jnp.iinfo(dtype).max


def _scanned(combine: Any, scan: Any, neutral: Any, array: Any, dim: int) -> Any:
    is_long_row = dim == array.ndim - 1 and array.shape[dim] >= _BLOCK * _BLOCK
    if not is_long_row or array.size == 0:
        return scan(array, axis=dim)
    return _by_blocks(combine, scan, neutral, array)


def _by_blocks(combine: Any, scan: Any, neutral: Any, array: Any) -> Any:
    """Along the last dimension: each block in steps of 1, 2, 4, ... elements, then all blocks.

    The steps within a block stay in one loop, where a scan of everything makes many passes.
    """
    lead, count = array.shape[:-1], array.shape[-1]
    blocks = -(-count // _BLOCK)
    whole = _padded(array, 0, blocks * _BLOCK - count, neutral)
    inner = whole.reshape(*lead, blocks, _BLOCK)
    step = 1
    while step < _BLOCK:
        inner = combine(inner, _padded(inner, step, 0, neutral)[..., :_BLOCK])
        step *= 2
    until = scan(inner[..., -1], axis=array.ndim - 1)
    before = _padded(until, 1, 0, neutral)[..., :blocks]
    total = combine(inner, jnp.broadcast_to(before[..., None], inner.shape))
    return total.reshape(*lead, blocks * _BLOCK)[..., :count]


def _padded(array: Any, low: int, high: int, neutral: Any) -> Any:
    pads = [(0, 0)] * (array.ndim - 1) + [(low, high)]
    return jnp.pad(array, pads, constant_values=neutral)
