from __future__ import annotations

import pytest
import torch
import torch.ao.quantization.fx._decomposed  # defines quantized_decomposed

from unit.lowering.library.against_eager import check

NAN, INF = float("nan"), float("inf")
VALUES = torch.tensor([[0.05, 0.15, -0.25, 3.0, -3.0], [1e30, -1e30, 0.35, 12.7, 12.8]])
UNBOUNDED = torch.tensor([[NAN, INF, -INF], [0.5, NAN, 9e9]])
STEPS, ZEROS = torch.tensor([0.1, 0.02]), torch.tensor([3, -5])
RANGE = (-128, 127)


@pytest.mark.parametrize("values", [VALUES, UNBOUNDED, VALUES.bfloat16(), VALUES.half()])
def test_fake_per_tensor(values: torch.Tensor) -> None:
    check("aten.fake_quantize_per_tensor_affine_cachemask.default", values, 0.1, 3, *RANGE)
    check("aten.fake_quantize_per_tensor_affine.default", values, 0.1, 3, 0, 255)
    scale, zero = torch.tensor([0.1]), torch.tensor([3], dtype=torch.int32)
    check("aten.fake_quantize_per_tensor_affine.tensor_qparams", values, scale, zero, *RANGE)
    for enabled in (0, 1):
        check(
            "aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default",
            *(values, scale, zero, torch.tensor([enabled]), *RANGE),
        )


@pytest.mark.parametrize("values", [VALUES, UNBOUNDED, VALUES.half()])
@pytest.mark.parametrize("zeros", [ZEROS.int(), torch.tensor([3.3, -0.5])])
def test_fake_per_channel(values: torch.Tensor, zeros: torch.Tensor) -> None:
    name = "aten.fake_quantize_per_channel_affine_cachemask.default"
    check(name, values, STEPS, zeros, 0, *RANGE)
    check("aten.fake_quantize_per_channel_affine.default", values.mT, STEPS, zeros, 1, -5, 100)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32])
def test_per_tensor_and_back(dtype: torch.dtype) -> None:
    limits = (0, 120)
    check("quantized_decomposed.quantize_per_tensor.default", VALUES, 0.1, 3, *limits, dtype)
    scale, zero = torch.tensor(0.1), torch.tensor(3)
    check("quantized_decomposed.quantize_per_tensor.tensor", VALUES, scale, zero, *limits, dtype)
    bounds = [torch.tensor(limit) for limit in limits]
    check("quantized_decomposed.quantize_per_tensor.tensor2", VALUES, scale, zero, *bounds, dtype)
    whole = torch.tensor([0, 3, 7, 120], dtype=dtype)
    check("quantized_decomposed.dequantize_per_tensor.default", whole, 0.1, 3, *limits, dtype)
    check(
        "quantized_decomposed.dequantize_per_tensor.tensor",
        *(whole, scale, zero, *limits, dtype),
        out_dtype=torch.bfloat16,
    )
    check("quantized_decomposed.dequantize_per_tensor.tensor2", whole, scale, zero, *bounds, dtype)


def test_per_channel_and_back() -> None:
    rest = (*RANGE, torch.int8)
    name = "quantized_decomposed.quantize_per_channel.default"
    check(name, VALUES, STEPS, ZEROS, 0, *rest)
    check(name, VALUES.mT.bfloat16(), STEPS, ZEROS, 1, *rest)
    whole = torch.tensor([[-128, 5], [127, 0]], dtype=torch.int8)
    name = "quantized_decomposed.dequantize_per_channel.default"
    check(name, whole, STEPS, ZEROS, 1, *rest)
    check(name, whole, STEPS, None, 0, *rest)


def test_per_token_and_back() -> None:
    steps, zeros = STEPS[:, None].double(), ZEROS[:, None]
    rest = (*RANGE, torch.int8)
    check("quantized_decomposed.quantize_per_token.default", VALUES, steps, zeros, *rest)
    whole = torch.tensor([[-128, 5], [127, 0]], dtype=torch.int8)
    name = "quantized_decomposed.dequantize_per_token.default"
    check(name, whole, steps, zeros, *rest, torch.float32)
