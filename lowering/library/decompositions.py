"""Factorizations and the values of a matrix: Cholesky, QR, LU, SVD, eigenvalues, determinants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax._src.lax import linalg as private_linalg

from neuron_compile.lowering.library.refusal import Refused


def adjoint(matrix: Any) -> Any:
    """The conjugate transpose of the last two dimensions."""
    return jnp.conj(jnp.swapaxes(matrix, -1, -2))


def cholesky_ex(self: Any, *, upper: bool = False, check_errors: bool = False) -> tuple[Any, Any]:
    """`aten.linalg_cholesky_ex`: the factor, and the order of the first bad leading minor or 0."""
    if self.size == 0:
        return self, jnp.zeros(self.shape[:-2], jnp.int32)
    lower = adjoint(jnp.triu(self)) if upper else jnp.tril(self)
    real_diagonal = jnp.tril(lower, -1)
    factor = lax.linalg.cholesky(real_diagonal + adjoint(jnp.tril(lower)), symmetrize_input=False)
    factor = jnp.tril(factor)
    bad = jnp.isnan(factor).any((-1, -2))
    info = jnp.where(bad, _first_bad_minor(lower), 0).astype(jnp.int32)
    return (adjoint(factor) if upper else factor), info


def cholesky(self: Any, upper: bool = False) -> Any:
    """`aten.cholesky`."""
    return cholesky_ex(self, upper=upper)[0]


def qr(A: Any, mode: str = "reduced") -> tuple[Any, Any]:
    """`aten.linalg_qr`: in mode "r" the first result is empty."""
    if mode == "r":
        return jnp.zeros((0,), A.dtype), jnp.linalg.qr(A, mode="r")
    if 0 in A.shape:
        return _empty_qr(A, mode)
    q, r = jnp.linalg.qr(A, mode=mode)
    return q, r


def geqrf(self: Any) -> tuple[Any, Any]:
    """`aten.geqrf`: reflectors below the diagonal of R, and their factors."""
    if 0 in self.shape:
        return self, jnp.zeros((*self.shape[:-2], min(self.shape[-2:])), self.dtype)
    reflectors, factors = private_linalg.geqrf(self)
    return reflectors, factors


def householder_product(input: Any, tau: Any) -> Any:
    """`aten.linalg_householder_product`: the first columns of the product of reflectors."""
    if 0 in input.shape:
        return input
    if tau.shape[-1] == 0:
        return jnp.broadcast_to(
            jnp.eye(input.shape[-2], input.shape[-1], dtype=input.dtype), input.shape
        )
    return lax.linalg.householder_product(input, tau)


def svd(
    A: Any, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Any, Any, Any]:
    """`aten._linalg_svd`: without `compute_uv` the outer results are empty."""
    if 0 in A.shape:
        return _empty_svd(A, full_matrices, compute_uv)
    if not compute_uv:
        none = jnp.zeros((0,), A.dtype)
        return none, jnp.linalg.svd(A, compute_uv=False), none
    u, s, vh = jnp.linalg.svd(A, full_matrices=full_matrices)
    return u, s, vh


def eigh(A: Any, UPLO: str = "L", compute_v: bool = True) -> tuple[Any, Any]:
    """`aten._linalg_eigh`: eigenvalues ascending, of the triangle that is named."""
    lower = jnp.tril(A) if UPLO.upper() == "L" else adjoint(jnp.triu(A))
    matrix = lower + adjoint(jnp.tril(lower, -1))
    if A.size == 0:
        empty = A if compute_v else jnp.zeros((0,), A.dtype)
        return jnp.zeros(A.shape[:-1], A.real.dtype), empty
    vectors, values = lax.linalg.eigh(matrix, lower=True, symmetrize_input=False)
    return values, (vectors if compute_v else jnp.zeros((0,), A.dtype))


def eig(self: Any) -> tuple[Any, Any]:
    """`aten.linalg_eig`: complex eigenvalues and right eigenvectors of length 1."""
    dtype = jnp.promote_types(self.dtype, jnp.complex64)
    if self.size == 0:
        return jnp.zeros(self.shape[:-1], dtype), self.astype(dtype)
    values, vectors = lax.linalg.eig(self, compute_left_eigenvectors=False)
    return values, vectors


def eigvals(self: Any) -> Any:
    """`aten._linalg_eigvals`."""
    return eig(self)[0]


def lu_factor(A: Any) -> tuple[Any, Any, Any]:
    """LU with partial pivoting: packed factors, pivots from 1, and the first zero pivot or 0."""
    count = min(A.shape[-2:])
    if A.size == 0:
        pivots = jnp.broadcast_to(jnp.arange(1, count + 1, dtype=jnp.int32), (*A.shape[:-2], count))
        return A, pivots, jnp.zeros(A.shape[:-2], jnp.int32)
    packed, pivots, _ = lax.linalg.lu(A)
    diagonal = jnp.diagonal(packed, axis1=-2, axis2=-1)
    is_zero = diagonal == 0
    info = jnp.where(is_zero.any(-1), jnp.argmax(is_zero, -1) + 1, 0)
    return packed, (pivots + 1).astype(jnp.int32), info.astype(jnp.int32)


def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False) -> tuple[Any, Any, Any]:
    """`aten.linalg_lu_factor_ex`."""
    _require_pivot(pivot)
    return lu_factor(A)


def lu(A: Any, *, pivot: bool = True) -> tuple[Any, Any, Any]:
    """`aten.linalg_lu`: P, L and U with `P @ L @ U == A`."""
    _require_pivot(pivot)
    packed, pivots, _ = lu_factor(A)
    return lu_unpack(packed, pivots)


def lu_unpack(
    LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Any, Any, Any]:
    """`aten.lu_unpack`: what is not asked for is empty."""
    rows, columns = LU_data.shape[-2:]
    count = min(rows, columns)
    none = jnp.zeros((0,), LU_data.dtype)
    p = lower = upper = none
    if unpack_data:
        lower = jnp.tril(LU_data[..., :, :count], -1) + jnp.eye(rows, count, dtype=LU_data.dtype)
        upper = jnp.triu(LU_data[..., :count, :])
    if unpack_pivots:
        order = permutation(LU_pivots, rows)
        # Row i of the product comes from row order[i] of the matrix.
        p = jnp.swapaxes(jax.nn.one_hot(order, rows, dtype=LU_data.dtype), -1, -2)
    return p, lower, upper


def permutation(pivots: Any, size: int) -> Any:
    """The row order that a sequence of row exchanges, counted from 1, leaves."""
    if pivots.size == 0:
        return jnp.broadcast_to(jnp.arange(size, dtype=jnp.int32), (*pivots.shape[:-1], size))
    return lax.linalg.lu_pivots_to_permutation((pivots - 1).astype(jnp.int32), size)


def det(A: Any, *, strides: Sequence[Sequence[int]]) -> tuple[Any, Any, Any]:
    """`aten._linalg_det`: the determinant, and the factors it was computed from."""
    packed, pivots, _ = lu_factor(_as_factored(A, strides[0]))
    diagonal = jnp.diagonal(packed, axis1=-2, axis2=-1)
    return jnp.prod(diagonal, axis=-1) * _exchange_sign(pivots).astype(A.dtype), packed, pivots


def slogdet(A: Any, *, strides: Sequence[Sequence[int]]) -> tuple[Any, Any, Any, Any]:
    """`aten._linalg_slogdet`: sign and logarithm of the determinant, and the factors."""
    packed, pivots, _ = lu_factor(_as_factored(A, strides[0]))
    diagonal = jnp.diagonal(packed, axis1=-2, axis2=-1)
    modulus = jnp.abs(diagonal)
    sign = jnp.prod(jnp.where(modulus == 0, 0, diagonal / jnp.where(modulus == 0, 1, modulus)), -1)
    sign = sign * _exchange_sign(pivots).astype(A.dtype)
    return sign, jnp.sum(jnp.log(modulus), axis=-1), packed, pivots


def _as_factored(A: Any, strides: Sequence[int]) -> Any:
    """What PyTorch factors for a determinant: the transpose of a contiguous real matrix.

    Its gradient, computed from the factors, counts on that.
    """
    dense = [math.prod(A.shape[axis + 1 :]) for axis in range(A.ndim)]
    is_contiguous = all(
        size == 1 or given == wanted
        for size, given, wanted in zip(A.shape, strides, dense, strict=True)
    )
    return jnp.swapaxes(A, -1, -2) if is_contiguous and not jnp.iscomplexobj(A) else A


def _exchange_sign(pivots: Any) -> Any:
    own = jnp.arange(1, pivots.shape[-1] + 1, dtype=pivots.dtype)
    return 1 - 2 * (jnp.sum(pivots != own, axis=-1) % 2)


def _first_bad_minor(lower: Any) -> Any:
    """The order of the first leading minor without a Cholesky factor.

    Computed column by column, since the factor itself is NaN as a whole where one minor is bad.
    """
    size = lower.shape[-1]
    number = jnp.arange(size)

    def column(step: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        rest, found = state
        pivot = rest[..., step, step].real
        is_bad = ~(pivot > 0) & (found == 0)
        below = jnp.where(number > step, rest[..., :, step], 0)
        scaled = below / jnp.where(pivot > 0, pivot, 1).astype(rest.dtype)[..., None]
        rest = rest - scaled[..., :, None] * jnp.conj(below)[..., None, :]
        return rest, jnp.where(is_bad, step + 1, found)

    whole = lower + adjoint(jnp.tril(lower, -1))
    start = (whole, jnp.zeros(lower.shape[:-2], jnp.int64))
    return lax.fori_loop(0, size, column, start)[1]


def _require_pivot(pivot: bool) -> None:
    if not pivot:
        raise Refused("LU without pivoting is not available, as it is not in eager on the CPU.")


def _empty_qr(A: Any, mode: str) -> tuple[Any, Any]:
    rows, columns = A.shape[-2:]
    inner = rows if mode == "complete" else min(rows, columns)
    q = jnp.broadcast_to(jnp.eye(rows, inner, dtype=A.dtype), (*A.shape[:-2], rows, inner))
    return q, jnp.zeros((*A.shape[:-2], inner, columns), A.dtype)


def _empty_svd(A: Any, full_matrices: bool, compute_uv: bool) -> tuple[Any, Any, Any]:
    rows, columns = A.shape[-2:]
    lead, count = A.shape[:-2], min(rows, columns)
    values = jnp.zeros((*lead, count), A.real.dtype)
    if not compute_uv:
        return jnp.zeros((0,), A.dtype), values, jnp.zeros((0,), A.dtype)
    left = jnp.eye(rows, rows if full_matrices else count, dtype=A.dtype)
    right = jnp.eye(columns if full_matrices else count, columns, dtype=A.dtype)
    spread = [jnp.broadcast_to(part, (*lead, *part.shape)) for part in (left, right)]
    return spread[0], values, spread[1]
