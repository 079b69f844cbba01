"""Products of consecutive groups of rows, each group with a matrix of its own: mixtures of experts.

`offs[e]` is the row behind the last of group e. Rows behind the last group give zeros.
https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.grouped_mm.html
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.precision import wide_dtype
from neuron_compile.lowering.library.refusal import Refused


def grouped_mm(
    self: Any, mat2: Any, offs: Any = None, bias: Any = None, out_dtype: Any = None
) -> Any:
    """`self` [S, K], `mat2` [E, K, N] and `offs` [E] give [S, N]."""
    if self.ndim != 2 or mat2.ndim != 3 or offs is None or bias is not None:
        raise Refused("only the product of a matrix's row groups with a batch of matrices is done.")
    return _product(self, mat2, offs)


def grouped_mm_fallback(input: Any, weight: Any, offs: Any) -> Any:
    """The operator of the Transformers library for types that PyTorch's own does not take."""
    return _product(input, weight, offs)


def grouped_mm_fallback_backward(
    input: Any, weight: Any, offs: Any, grad_output: Any
) -> tuple[Any, Any]:
    """Gradients of the rows and of the matrices."""
    grad_input = _product(grad_output, jnp.swapaxes(weight, 1, 2), offs)
    groups = _groups(offs, input.shape[0])

    def gradient(_: Any, group: Any) -> tuple[Any, Any]:
        rows = jnp.where((groups == group)[:, None], input, 0)
        return None, _matmul(rows.T, grad_output).astype(weight.dtype)

    _, grad_weight = lax.scan(gradient, None, jnp.arange(weight.shape[0]))
    return grad_input, grad_weight


def _product(rows: Any, matrices: Any, offs: Any) -> Any:
    groups = _groups(offs, rows.shape[0])
    start = jnp.zeros((rows.shape[0], matrices.shape[2]), wide_dtype(rows.dtype))

    def add_group(total: Any, group: Any) -> tuple[Any, None]:
        index, matrix = group
        product = _matmul(rows, matrix)
        return jnp.where((groups == index)[:, None], product, total), None

    result, _ = lax.scan(add_group, start, (jnp.arange(matrices.shape[0]), matrices))
    return result.astype(rows.dtype)


def _groups(offs: Any, row_count: int) -> Any:
    """The group of each row; the number of groups for rows behind the last."""
    return jnp.searchsorted(offs, jnp.arange(row_count, dtype=offs.dtype), side="right")


def _matmul(left: Any, right: Any) -> Any:
    return jnp.matmul(left, right, preferred_element_type=wide_dtype(left.dtype))
