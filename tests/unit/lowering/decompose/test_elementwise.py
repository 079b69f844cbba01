"""Elementwise rules give the right bits."""

from __future__ import annotations

import pytest
import torch

from neuron_compile.lowering.decompose.elementwise import signbit


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_sign_of_zero_and_of_nan_counts(dtype: torch.dtype) -> None:
    nan = torch.tensor(float("nan"), dtype=dtype)
    x = torch.stack([nan, -nan, *torch.tensor([0.0, -0.0, 1.0, -1.0], dtype=dtype)])
    assert torch.equal(signbit(x), torch.signbit(x))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.uint8, torch.bool])
def test_sign_of_integers(dtype: torch.dtype) -> None:
    x = torch.tensor([0, 1, -1]).to(dtype)
    assert torch.equal(signbit(x), torch.signbit(x))
