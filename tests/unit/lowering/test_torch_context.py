"""A context in which all that lowering mixes can be parsed."""

from __future__ import annotations

from torch_mlir import ir

from neuron_compile.lowering.torch_context import torch_context

MIXED = """
func.func @main(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  %0 = torch_c.to_builtin_tensor %x : !torch.vtensor<[2],f32> -> tensor<2xf32>
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
  %2 = torch_c.from_builtin_tensor %1 : tensor<2xf32> -> !torch.vtensor<[2],f32>
  return %2 : !torch.vtensor<[2],f32>
}
"""


def test_torch_and_stablehlo_operations_parse_in_one_module() -> None:
    assert "stablehlo.add" in str(ir.Module.parse(MIXED, torch_context()))


def test_contexts_are_separate_and_can_be_made_again() -> None:
    assert torch_context() is not torch_context()
