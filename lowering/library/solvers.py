"""Linear systems, inverses, matrix functions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.decompositions import (
    adjoint,
    eigh,
    lu_factor,
    permutation,
    svd,
)
from neuron_compile.lowering.library.precision import widen


def solve_triangular(
    self: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    """`aten.linalg_solve_triangular`: X with `self @ X == B`, or `X @ self == B`."""
    matrix, right = _spread(self, B)
    if 0 in right.shape:
        return right
    return lax.linalg.triangular_solve(
        matrix, right, left_side=left, lower=not upper, unit_diagonal=unitriangular
    )


def triangular_solve(
    self: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Any, Any]:
    """`aten.triangular_solve`: the solution, and the matrix as it was given."""
    matrix, right = _spread(A, self)
    if 0 in right.shape:
        return right, matrix
    solution = lax.linalg.triangular_solve(
        matrix,
        right,
        left_side=True,
        lower=not upper,
        transpose_a=transpose,
        unit_diagonal=unitriangular,
    )
    return solution, matrix


def lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """`aten.linalg_lu_solve`: X with `A @ X == B` (or `X @ A == B`), of A or its adjoint."""
    if left:
        return _lu_solved(LU, pivots, B, adjoint)
    # X A = B is A^H X^H = B^H.
    return _adjoint(_lu_solved(LU, pivots, _adjoint(B), not adjoint))


def solve_ex(
    A: Any, B: Any, *, left: bool = True, check_errors: bool = False
) -> tuple[Any, Any, Any, Any]:
    """`aten._linalg_solve_ex`: the solution, the packed factors, the pivots, and the info code."""
    packed, pivots, info = lu_factor(A)
    is_vector = B.ndim == A.ndim - 1 and B.shape == A.shape[:-1]
    right = B[..., None] if is_vector else B
    solution = lu_solve(packed, pivots, right, left=left or is_vector)
    return (solution[..., 0] if is_vector else solution), packed, pivots, info


def inv_ex(A: Any, *, check_errors: bool = False) -> tuple[Any, Any]:
    """`aten.linalg_inv_ex`: the inverse, and the number of the first zero pivot or 0."""
    packed, pivots, info = lu_factor(A)
    identity = jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape)
    return _lu_solved(packed, pivots, identity, False), info


def cholesky_solve(self: Any, input2: Any, upper: bool = False) -> Any:
    """`aten.cholesky_solve`: X with `A @ X == self`, A given by its factor."""
    factor, right = _spread(input2, self)
    if 0 in right.shape:
        return right
    lower = _adjoint(factor) if upper else factor
    half = lax.linalg.triangular_solve(lower, right, left_side=True, lower=True)
    return lax.linalg.triangular_solve(
        lower, half, left_side=True, lower=True, transpose_a=True, conjugate_a=True
    )


def cholesky_inverse(self: Any, upper: bool = False) -> Any:
    """`aten.cholesky_inverse`: the inverse of the matrix of that factor."""
    identity = jnp.broadcast_to(jnp.eye(self.shape[-1], dtype=self.dtype), self.shape)
    return cholesky_solve(identity, self, upper)


def matrix_exp(self: Any) -> Any:
    """`aten.linalg_matrix_exp`."""
    if self.size == 0:
        return self
    exponential = jax.scipy.linalg.expm
    for _ in range(self.ndim - 2):
        exponential = jax.vmap(exponential)
    return exponential(widen(self))


def ormqr(self: Any, input2: Any, input3: Any, left: bool = True, transpose: bool = False) -> Any:
    """`aten.ormqr`: `input3` times the whole product of the reflectors `self`, `input2`."""
    if 0 in input3.shape or input2.shape[-1] == 0:
        return input3
    return lax.linalg.ormqr(self, input2, input3, left=left, transpose=transpose)


def pinv(
    self: Any, *, atol: Any | None = None, rtol: Any | None = None, hermitian: bool = False
) -> Any:
    """`aten.linalg_pinv`: singular values below `max(atol, rtol * largest)` count as 0."""
    if self.size == 0:
        return jnp.swapaxes(self, -1, -2)
    if hermitian:
        values, vectors = eigh(self)
        left, size, right = vectors, jnp.abs(values), adjoint(vectors)
        inverse = 1 / jnp.where(values == 0, 1, values)
    else:
        left, size, right = svd(self)
        inverse = 1 / jnp.where(size == 0, 1, size)
    largest = jnp.max(size, axis=-1, keepdims=True)
    absolute = jnp.asarray(0.0 if atol is None else atol)[..., None]
    if rtol is None:
        default = max(self.shape[-2:]) * float(jnp.finfo(self.dtype).eps)
        relative = jnp.where(absolute > 0, 0.0, default)
    else:
        relative = jnp.asarray(rtol)[..., None]
    kept = size > jnp.maximum(absolute.astype(size.dtype), relative.astype(size.dtype) * largest)
    scaled = adjoint(right) * jnp.where(kept, inverse, 0).astype(self.dtype)[..., None, :]
    return scaled @ adjoint(left)


def _lu_solved(packed: Any, pivots: Any, right: Any, use_adjoint: bool) -> Any:
    lead = jnp.broadcast_shapes(packed.shape[:-2], right.shape[:-2])
    size = packed.shape[-1]
    packed = jnp.broadcast_to(packed, (*lead, size, size))
    right = jnp.broadcast_to(right, (*lead, *right.shape[-2:]))
    if 0 in right.shape:
        return right
    order = jnp.broadcast_to(permutation(pivots, size), (*lead, size))
    if use_adjoint:
        steps = ({"lower": False}, {"lower": True, "unit_diagonal": True})
        for step in steps:
            right = lax.linalg.triangular_solve(
                packed, right, left_side=True, transpose_a=True, conjugate_a=True, **step
            )
        back = jnp.argsort(order, axis=-1)
        return jnp.take_along_axis(right, back[..., None], axis=-2)
    right = jnp.take_along_axis(right, order[..., None], axis=-2)
    for step in ({"lower": True, "unit_diagonal": True}, {"lower": False}):
        right = lax.linalg.triangular_solve(packed, right, left_side=True, **step)
    return right


def _adjoint(matrix: Any) -> Any:
    return adjoint(matrix)


def _spread(matrix: Any, right: Any) -> tuple[Any, Any]:
    lead = jnp.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    return (
        jnp.broadcast_to(matrix, (*lead, *matrix.shape[-2:])),
        jnp.broadcast_to(right, (*lead, *right.shape[-2:])),
    )
