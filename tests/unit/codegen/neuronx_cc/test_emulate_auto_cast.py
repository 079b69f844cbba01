"""Rounding as the device does it, against PyTorch's own narrow types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from jaxlib import _jax, xla_client

from neuron_compile.codegen.neuronx_cc.emulate_auto_cast import emulate_auto_cast
from neuron_compile.errors import CodegenError, OptionsError
from stand_ins.fixtures import lowered

PROGRAM = """
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> #3
  %1 = stablehlo.multiply %x, %y : tensor<8x8xf32> #4
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
"""


def run(artifact: bytes, *inputs: torch.Tensor) -> list[torch.Tensor]:
    client = xla_client.make_cpu_client(asynchronous=False)
    device = client.local_devices()[0]
    options = xla_client.CompileOptions()
    executable = client.compile_and_load(artifact, xla_client.DeviceList((device,)), options)
    buffers = [
        _jax.dlpack_managed_tensor_to_buffer(tensor.numpy().copy().__dlpack__(), device, None)
        for tensor in inputs
    ]
    return [torch.from_numpy(np.array(output)) for output in executable.execute(buffers)]


def rounded(tensor: torch.Tensor, kind: str) -> torch.Tensor:
    if kind == "tf32":
        bits = tensor.view(torch.int32)
        return ((bits + 0xFFF + (bits >> 13 & 1)) & ~0x1FFF).view(torch.float32)
    return tensor.to({"bf16": torch.bfloat16, "fp16": torch.float16}[kind]).float()


@pytest.mark.parametrize("kind", ["bf16", "fp16", "tf32"])
def test_products_of_rounded_operands_in_float32(kind: str) -> None:
    torch.manual_seed(0)
    x, y = torch.randn(8, 8), torch.randn(8, 8)
    artifact = lowered(PROGRAM).stablehlo
    product, elementwise = run(
        emulate_auto_cast(artifact, auto_cast="matmult", auto_cast_type=kind), x, y
    )
    torch.testing.assert_close(product, rounded(x, kind) @ rounded(y, kind), rtol=1e-6, atol=1e-6)
    assert not torch.allclose(product, x @ y, rtol=1e-6, atol=1e-6)
    assert torch.equal(elementwise, x * y), "only matrix products are cast"


def test_all_rounds_elementwise_operations_too() -> None:
    torch.manual_seed(0)
    x, y = torch.randn(8, 8), torch.randn(8, 8)
    artifact = emulate_auto_cast(lowered(PROGRAM).stablehlo, auto_cast="all")
    assert torch.equal(run(artifact, x, y)[1], rounded(x, "bf16") * rounded(y, "bf16"))


def test_fp8_keeps_three_bits_of_mantissa() -> None:
    artifact = emulate_auto_cast(
        lowered(PROGRAM).stablehlo, auto_cast="matmult", auto_cast_type="fp8_e4m3"
    )
    product, _ = run(artifact, torch.full((8, 8), 1.06), torch.eye(8))
    assert torch.equal(product, torch.ones(8, 8))


def test_none_changes_nothing_and_other_casts_are_refused() -> None:
    artifact = lowered(PROGRAM).stablehlo
    assert emulate_auto_cast(artifact, auto_cast="none") == artifact
    for wrong in ({"auto_cast": "some"}, {"auto_cast": "all", "auto_cast_type": "int8"}):
        arguments: dict[str, Any] = wrong
        with pytest.raises(OptionsError, match="no auto-cast"):
            emulate_auto_cast(artifact, **arguments)
    with pytest.raises(CodegenError):
        emulate_auto_cast(b"nonsense", auto_cast="all")
