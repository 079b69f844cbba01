"""The factorization of an indefinite symmetric matrix: L D L^T with blocks of one or two in D.

Pivots as Bunch and Kaufman choose them (https://doi.org/10.1090/S0025-5718-1977-0428694-0), in the
packed form of LAPACK's `sytrf`, `hetrf`, `sytrs` and `hetrs` for the lower triangle.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.precision import is_complex

# The bound on the growth of elements is least for this share of a column's greatest element.
_ALPHA: Final = (1 + math.sqrt(17)) / 8


class _State(NamedTuple):
    step: Any
    matrix: Any
    pivots: Any
    info: Any


def ldl_factor_ex(
    self: Any, *, hermitian: bool = False, check_errors: bool = False
) -> tuple[Any, Any, Any]:
    """`aten.linalg_ldl_factor_ex`: packed factors, pivots from 1, negative for blocks of two, and
    the number of the first pivot that is 0, or 0."""
    lead, size = self.shape[:-2], self.shape[-1]
    if self.size == 0:
        return self, jnp.zeros((*lead, size), jnp.int32), jnp.zeros(lead, jnp.int32)
    factor = _batched(lambda matrix: _factored(matrix, hermitian), len(lead))
    packed, pivots, info = factor(self)
    return packed, pivots, info


def ldl_solve(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False) -> Any:
    """`aten.linalg_ldl_solve`: X with `A @ X == B`, A given by its factors and pivots."""
    lead = jnp.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    size = LD.shape[-1]
    right = jnp.broadcast_to(B, (*lead, *B.shape[-2:]))
    if right.size == 0:
        return right
    packed = jnp.broadcast_to(LD, (*lead, size, size))
    order = jnp.broadcast_to(pivots, (*lead, size))
    solve = _batched(lambda one, its, b: _solved(one, its, b, hermitian), len(lead))
    return solve(packed, order, right)


def _batched(function: Callable[..., Any], dimensions: int) -> Callable[..., Any]:
    for _ in range(dimensions):
        function = jax.vmap(function)
    return function


def _factored(matrix: Any, hermitian: bool) -> tuple[Any, Any, Any]:
    size = matrix.shape[0]
    lower = jnp.tril(matrix)
    whole = lower + _mirrored(jnp.tril(lower, -1), hermitian)
    if hermitian:
        whole = jnp.where(jnp.eye(size, dtype=bool), whole.real, whole)
    start = _State(jnp.int32(0), whole, jnp.zeros((size,), jnp.int32), jnp.zeros((), jnp.int32))
    end = lax.while_loop(
        lambda state: state.step < size, lambda state: _eliminated(state, hermitian), start
    )
    return jnp.tril(end.matrix), end.pivots, end.info


def _eliminated(state: _State, hermitian: bool) -> _State:
    """One block of D, and what its column or columns leave of the rest."""
    k, matrix, size = state.step, state.matrix, state.matrix.shape[0]
    place = jnp.arange(size)
    magnitude = _magnitude(matrix)
    column = jnp.where(place > k, magnitude[:, k], -1)
    other, greatest = jnp.argmax(column), jnp.maximum(jnp.max(column), 0)
    own = magnitude[k, k]
    row = jnp.max(jnp.where((place >= k) & (place != other), magnitude[other], 0))
    is_singular = (jnp.maximum(own, greatest) == 0) | jnp.isnan(own)
    stays = is_singular | (own >= _ALPHA * greatest)
    stays = stays | (own >= _ALPHA * greatest * (greatest / row))
    is_pair = ~stays & (magnitude[other, other] < _ALPHA * row)
    chosen = jnp.where(stays, k, other).astype(jnp.int32)
    last = k + is_pair

    order = _exchange(place, last, chosen)
    is_rest = (place[:, None] >= k) & (place >= k)
    matrix = jnp.where(is_rest, matrix[order][:, order], matrix)
    one, two = (step(matrix, k, hermitian) for step in (_without_one, _without_two))
    matrix = jnp.where(is_singular, matrix, jnp.where(is_pair, two, one))
    numbers = jnp.where(is_pair, -(chosen + 1), chosen + 1)
    pivots = jnp.where((place == k) | (place == last), numbers, state.pivots)
    info = jnp.where((state.info == 0) & is_singular, k + 1, state.info)
    return _State((last + 1).astype(k.dtype), matrix, pivots, info.astype(jnp.int32))


def _without_one(matrix: Any, k: Any, hermitian: bool) -> Any:
    place = jnp.arange(matrix.shape[0])
    inverse = 1 / _diagonal(matrix, k, hermitian)
    below = jnp.where(place > k, matrix[:, k], 0)
    rest = matrix - (inverse * below)[:, None] * _conjugate(below, hermitian)
    is_rest = (place[:, None] > k) & (place > k)
    rest = jnp.where(is_rest, _real_diagonal(rest, hermitian), matrix)
    return rest.at[:, k].set(jnp.where(place > k, below * inverse, matrix[:, k]))


def _without_two(matrix: Any, k: Any, hermitian: bool) -> Any:
    size = matrix.shape[0]
    place, following = jnp.arange(size), jnp.minimum(k + 1, size - 1)
    corner = matrix[following, k]
    scale = jnp.abs(corner) if hermitian else corner
    first = _diagonal(matrix, k, hermitian) / scale
    second = _diagonal(matrix, following, hermitian) / scale
    turn, factor = corner / scale, 1 / (first * second - 1) / scale
    left, right = (jnp.where(place > k + 1, matrix[:, at], 0) for at in (k, following))
    new_left = factor * (second * left - turn * right)
    new_right = factor * (first * right - _conjugate(turn, hermitian) * left)
    rest = matrix - left[:, None] * _conjugate(new_left, hermitian)
    rest = rest - right[:, None] * _conjugate(new_right, hermitian)
    is_rest = (place[:, None] > k + 1) & (place > k + 1)
    rest = jnp.where(is_rest, _real_diagonal(rest, hermitian), matrix)
    rest = rest.at[:, k].set(jnp.where(place > k + 1, new_left, matrix[:, k]))
    return rest.at[:, following].set(jnp.where(place > k + 1, new_right, matrix[:, following]))


def _solved(packed: Any, pivots: Any, right: Any, hermitian: bool) -> Any:
    size = packed.shape[0]
    place = jnp.arange(size)
    is_negative = pivots < 0
    # Blocks of two follow one another without a gap, so that of a row of negative pivots every
    # second one begins a block.
    run = place - lax.cummax(jnp.where(is_negative, -1, place))
    begins = is_negative & (run % 2 == 1)
    strict = jnp.tril(packed, -1)
    strict = jnp.where((place[:, None] == place + 1) & begins, 0, strict)
    row = jnp.abs(pivots) - 1
    # A block's exchange is that of its second row.
    exchanged = jnp.where(begins, place, row)

    def forward(k: Any, solution: Any) -> Any:
        at = k + begins[k]
        is_first = begins[k] | ~is_negative[k]
        swapped = solution[_exchange(place, at, exchanged[jnp.minimum(at, size - 1)])]
        solution = jnp.where(is_first, swapped, solution)
        return solution - strict[:, k, None] * solution[k]

    def backward(step: Any, solution: Any) -> Any:
        k = size - 1 - step
        known = jnp.sum(_conjugate(strict[:, k, None], hermitian) * solution, axis=0)
        solution = solution.at[k].add(-known)
        at = k + begins[k]
        is_first = begins[k] | ~is_negative[k]
        swapped = solution[_exchange(place, at, exchanged[jnp.minimum(at, size - 1)])]
        return jnp.where(is_first, swapped, solution)

    solution = lax.fori_loop(0, size, forward, right)
    solution = _block_solved(packed, begins, is_negative, solution, hermitian)
    return lax.fori_loop(0, size, backward, solution)


def _block_solved(packed: Any, begins: Any, is_negative: Any, right: Any, hermitian: bool) -> Any:
    """The right-hand side divided by D."""
    diagonal = jnp.diagonal(packed)
    corner = jnp.append(jnp.diagonal(packed, -1), jnp.ones((1,), packed.dtype))
    corner = jnp.where(begins, corner, _conjugate(jnp.roll(corner, 1), hermitian))
    mirrored = _conjugate(corner, hermitian)
    partner = jnp.where(begins, jnp.roll(diagonal, -1), jnp.roll(diagonal, 1)) / corner
    across = jnp.where(begins[:, None], jnp.roll(right, -1, 0), jnp.roll(right, 1, 0))
    pair = partner[:, None] * (right / mirrored[:, None]) - across / corner[:, None]
    pair = pair / (diagonal / mirrored * partner - 1)[:, None]
    return jnp.where(is_negative[:, None], pair, right / diagonal[:, None])


def _exchange(place: Any, one: Any, other: Any) -> Any:
    return jnp.where(place == one, other, jnp.where(place == other, one, place))


def _magnitude(matrix: Any) -> Any:
    """LAPACK's cheap size of a complex number."""
    return jnp.abs(matrix.real) + jnp.abs(matrix.imag) if is_complex(matrix) else jnp.abs(matrix)


def _mirrored(matrix: Any, hermitian: bool) -> Any:
    return _conjugate(matrix.T, hermitian)


def _conjugate(array: Any, hermitian: bool) -> Any:
    return array.conj() if hermitian else array


def _diagonal(matrix: Any, at: Any, hermitian: bool) -> Any:
    element = matrix[at, at]
    return element.real.astype(matrix.dtype) if hermitian else element


def _real_diagonal(matrix: Any, hermitian: bool) -> Any:
    if not hermitian:
        return matrix
    return jnp.where(jnp.eye(matrix.shape[0], dtype=bool), matrix.real, matrix)
