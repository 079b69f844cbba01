"""Matrix products: low precision is accumulated in float32 and rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from neuron_compile.lowering.library.precision import is_complex, widen


def mm(self: Any, mat2: Any) -> Any:
    """`aten.mm`, `aten.bmm`, `aten.mv` and `aten.dot`."""
    return jnp.matmul(widen(self), widen(mat2))


def vdot(self: Any, other: Any) -> Any:
    """`aten.vdot`: the first vector is conjugated."""
    return jnp.vdot(widen(self), widen(other))


def add_product(self: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`aten.addmm`, `aten.addmv` and `aten.baddbmm`.

    A `beta` of 0 leaves `self` out, NaN and all.
    """
    return _combined(self, mm(mat1, mat2), beta, alpha)


def addbmm(self: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`aten.addbmm`: the products of all batches are added."""
    return _combined(self, jnp.sum(mm(batch1, batch2), axis=0), beta, alpha)


def addr(self: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`aten.addr`: the outer product."""
    return _combined(self, widen(vec1)[:, None] * widen(vec2), beta, alpha)


def dist(self: Any, other: Any, p: float = 2) -> Any:
    """`aten.dist`: the p-norm of the difference."""
    size = jnp.abs(widen(self) - widen(other)).reshape(-1)
    if p == 0:
        return jnp.sum((size != 0).astype(size.dtype))
    if p == float("inf"):
        return jnp.max(size, initial=0)
    if p == float("-inf"):
        return jnp.min(size)
    if p == 2:
        return jnp.sqrt(jnp.sum(size * size))
    return jnp.sum(size**p) ** (1 / p)


def trilinear(
    i1: Any,
    i2: Any,
    i3: Any,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Any:
    """`aten._trilinear`: the product of three tensors, each of size 1 in new dimensions, summed."""
    rank = i1.ndim + len(expand1)
    shapes = [
        jnp.expand_dims(tensor, tuple(dim % rank for dim in expand)).shape
        for tensor, expand in zip((i1, i2, i3), (expand1, expand2, expand3), strict=True)
    ]
    # A dimension of size 1 is left out of a factor, so that no product is larger than it must be.
    factors: list[Any] = []
    for tensor, shape in zip((i1, i2, i3), shapes, strict=True):
        letters = [dim for dim in range(rank) if shape[dim] != 1]
        factors += [widen(tensor).reshape([shape[dim] for dim in letters]), letters]
    full = jnp.broadcast_shapes(*shapes)
    summed = {dim % rank for dim in sumdim}
    kept = [dim for dim in range(rank) if dim not in summed]
    product = jnp.einsum(*factors, [dim for dim in kept if full[dim] != 1])
    return product.reshape([full[dim] for dim in kept])


def _combined(self: Any, product: Any, beta: Any, alpha: Any) -> Any:
    scaled = product if alpha == 1 else product * _number(alpha, product)
    if beta == 0:
        return scaled
    base = widen(self).astype(product.dtype) if is_complex(product) else widen(self)
    return scaled + (base if beta == 1 else base * _number(beta, base))


def _number(value: Any, array: Any) -> Any:
    return jnp.asarray(value).astype(array.dtype)
