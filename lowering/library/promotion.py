"""PyTorch's type promotion: a number or a 0-d tensor gives way to a tensor of the same category.

See https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.dtype.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from neuron_compile.lowering.library.precision import float_dtype, wide_dtype

_SCALARS = {bool: jnp.bool_, int: jnp.int64, float: jnp.float32, complex: jnp.complex64}


def promoted(*values: Any) -> list[Any]:
    """The tensors and numbers as arrays of the dtype that PyTorch computes in."""
    dtype = result_type(*values)
    return [jnp.asarray(value).astype(dtype) for value in values]


def promoted_floats(*values: Any) -> list[Any]:
    """Like `promoted`, for a function of real or complex numbers: integers become float32, and low
    precision is widened."""
    dtype = wide_dtype(float_dtype(result_type(*values)))
    return [jnp.asarray(value).astype(dtype) for value in values]


def result_type(*values: Any) -> Any:
    """The dtype in which PyTorch computes with these tensors and numbers."""
    groups: list[Any] = [None, None, None]
    for value in values:
        is_number = type(value) in _SCALARS
        dtype = jnp.dtype(_SCALARS[type(value)]) if is_number else value.dtype
        rank = 2 if is_number else 1 if value.ndim == 0 else 0
        groups[rank] = dtype if groups[rank] is None else jnp.promote_types(groups[rank], dtype)
    return _prefer(_prefer(groups[0], groups[1]), groups[2])


def _prefer(higher: Any, lower: Any) -> Any:
    if higher is None or lower is None:
        return lower if higher is None else higher
    if jnp.issubdtype(higher, jnp.complexfloating):
        return higher
    if jnp.issubdtype(higher, jnp.floating):
        is_complex = jnp.issubdtype(lower, jnp.complexfloating)
        return jnp.promote_types(higher, jnp.complex64) if is_complex else higher
    if higher == jnp.bool_ or jnp.issubdtype(lower, jnp.inexact):
        return jnp.promote_types(higher, lower)
    return higher
