from __future__ import annotations

from typing import Any

import numpy as np

from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import legalize
from neuron_compile.codegen.legality.program_module import node_numbers, read_module, walk

PROGRAM = """
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %0:2 = func.call @outer(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) #3
  %1:2 = func.call @outer(%0#0) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) #5
  return %1#0, %0#1 : tensor<4xf32>, tensor<f32>
}
func.func private @outer(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = func.call @inner(%x, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = "stablehlo.reduce"(%0, %c) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      %t = stablehlo.multiply %s, %c : tensor<f32>
      %u = stablehlo.divide %t, %c : tensor<f32>
      stablehlo.return %u : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32> #9
  return %0, %r : tensor<4xf32>, tensor<f32>
}
func.func private @inner(%x: tensor<4xf32>, %c: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.add %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""


def test_only_main_is_left_and_computes_the_same(program: Any, run: Any) -> None:
    artifact = program(PROGRAM)
    after = legalize(artifact, device_of("trn2"))
    assert after.refusals == ()
    module = read_module(after.stablehlo)
    operations = list(walk(module.operation))
    names = [operation.name for operation in operations]
    assert names.count("func.func") == 1
    assert "func.call" not in names
    nodes = {node_numbers(op) for op in operations if op.name == "stablehlo.add"}
    assert nodes == {(3,), (5,), (9,)}
    x = np.arange(4, dtype=np.float32)
    for expected, found in zip(run(artifact, [x]), run(after.stablehlo, [x]), strict=True):
        np.testing.assert_array_equal(found, expected)
