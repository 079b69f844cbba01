from __future__ import annotations

import pytest
import torch

from neuron_compile.lowering.decompose.linear_cross_entropy import (
    linear_cross_entropy_decompositions,
)

RULES = linear_cross_entropy_decompositions()
SCALAR = torch.ops.torch_nn._linear_cross_entropy_batch_chunked.default
EACH = torch.ops.torch_nn._linear_cross_entropy_batch_chunked_no_reduction.default
ROWS, MATRIX, BIAS = torch.randn(7, 4), torch.randn(5, 4), torch.randn(5)
TARGET = torch.tensor([0, 4, -100, 2, 2, 1, -100])
WEIGHT = torch.tensor([0.5, 1.0, 2.0, 0.0, 3.0])
POLICY = ("chunk", torch.float32)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("bias", [None, BIAS])
@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("wanted", [(True, True, True), (False, True, False)])
def test_loss_and_its_gradients(
    reduction: str,
    bias: torch.Tensor | None,
    weight: torch.Tensor | None,
    wanted: tuple[bool, bool, bool],
) -> None:
    has_bias_gradient = wanted[2] and bias is not None
    arguments = (
        *(ROWS, MATRIX, TARGET, bias, weight, reduction, -100, 0.0, 3),
        *(*POLICY, True, *wanted[:2], has_bias_gradient),
    )
    torch.testing.assert_close(RULES[SCALAR](*arguments), SCALAR(*arguments))


@pytest.mark.parametrize("size", [3, 7, 100])
def test_loss_of_each_row(size: int) -> None:
    arguments = (ROWS, MATRIX, TARGET, BIAS, WEIGHT, -100, size, *POLICY)
    torch.testing.assert_close(RULES[EACH](*arguments), EACH(*arguments))


def test_mean_of_no_rows() -> None:
    arguments = (ROWS[:0], MATRIX, TARGET[:0], BIAS, None, "mean", -100, 0.0, 3)
    result = RULES[SCALAR](*arguments, *POLICY, True, True, True, True)
    torch.testing.assert_close(
        result, SCALAR(*arguments, *POLICY, True, True, True, True), equal_nan=True
    )
