"""Row groups times matrices, against products group by group."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
import torch

from neuron_compile.lowering.library.grouped_products import (
    grouped_mm,
    grouped_mm_fallback,
    grouped_mm_fallback_backward,
)
from neuron_compile.lowering.library.refusal import Refused

# Sizes of the groups; the last rows belong to none where they do not add up to 7.
GROUPS = [[2, 3, 2], [0, 7, 0], [7, 0, 0], [1, 0, 2], [0, 0, 0]]


def by_hand(rows: torch.Tensor, matrices: torch.Tensor, ends: list[int]) -> torch.Tensor:
    result = torch.zeros(rows.shape[0], matrices.shape[2])
    start = 0
    for matrix, end in zip(matrices, ends, strict=True):
        result[start:end] = rows[start:end] @ matrix
        start = end
    return result


@pytest.mark.parametrize("sizes", GROUPS)
def test_product_and_gradients(sizes: list[int]) -> None:
    rows, matrices = torch.randn(7, 4, requires_grad=True), torch.randn(3, 4, 5, requires_grad=True)
    ends = [int(end) for end in np.cumsum(sizes)]
    expected = by_hand(rows, matrices, ends)
    grad = torch.randn(7, 5)
    expected_gradients = torch.autograd.grad(
        expected, [rows, matrices], grad, allow_unused=True, materialize_grads=True
    )
    arrays: list[Any] = [rows.detach().numpy(), matrices.detach().numpy()]
    offsets = np.array(ends, dtype=np.int32)
    for function in (grouped_mm_fallback, grouped_mm):
        actual = torch.tensor(np.asarray(jax.jit(function)(*arrays, offsets)))
        torch.testing.assert_close(actual, expected.detach())
    gradients = jax.jit(grouped_mm_fallback_backward)(*arrays, offsets, grad.numpy())
    for ours, wanted in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(torch.tensor(np.asarray(ours)), wanted)


def test_other_forms_are_refused() -> None:
    with pytest.raises(Refused):
        grouped_mm(np.ones((2, 3, 4)), np.ones((2, 4, 5)))
