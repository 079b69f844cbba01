"""The type in which PyTorch's CPU kernels compute a sum or a function of low-precision values."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp


def wide_dtype(dtype: Any) -> Any:
    """float32 for bfloat16, float16 and float8; other dtypes are their own."""
    dtype = jnp.dtype(dtype)
    if jnp.issubdtype(dtype, jnp.floating) and dtype.itemsize < 4:
        return jnp.dtype(jnp.float32)
    return dtype


def widen(array: Any) -> Any:
    """`array` in its `wide_dtype`."""
    return array.astype(wide_dtype(array.dtype))


def countable(array: Any) -> Any:
    """`array` in a dtype in which sums and products can be formed: bool becomes int32, in which a
    result other than 0 is true."""
    return array.astype(jnp.int32) if array.dtype == jnp.bool_ else widen(array)


def float_dtype(dtype: Any) -> Any:
    """What a float function of a tensor of this dtype gives: float32 for integers and bool."""
    dtype = jnp.dtype(dtype)
    return dtype if jnp.issubdtype(dtype, jnp.inexact) else jnp.dtype(jnp.float32)


def is_float(array: Any) -> bool:
    """Whether the array holds real floating-point numbers."""
    return bool(jnp.issubdtype(array.dtype, jnp.floating))


def is_complex(array: Any) -> bool:
    """Whether the array holds complex numbers."""
    return bool(jnp.issubdtype(array.dtype, jnp.complexfloating))
