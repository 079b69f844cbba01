from __future__ import annotations

from typing import Any

import numpy as np

from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import legalize
from neuron_compile.codegen.legality.program_module import node_numbers, read_module, walk

PROGRAM = """
func.func @main(%x: tensor<3x5xf32>)
    -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x2xf32>, tensor<3x2xi32>) {
  %0 = chlo.erf %x : tensor<3x5xf32> -> tensor<3x5xf32> #7
  %1 = chlo.asin %x : tensor<3x5xf32> -> tensor<3x5xf32> #8
  %v, %i = chlo.top_k(%0, k = 2) : tensor<3x5xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>) #9
  return %0, %1, %v, %i : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x2xf32>, tensor<3x2xi32>
}
"""


def test_all_but_top_k_becomes_stablehlo(program: Any, run: Any) -> None:
    artifact = program(PROGRAM)
    after = legalize(artifact, device_of("trn2"))
    assert after.refusals == ()
    module = read_module(after.stablehlo)  # keeps its operations alive
    operations = list(walk(module.operation))
    assert {op.name for op in operations if op.name.startswith("chlo.")} == {"chlo.top_k"}
    assert not any(op.name == "stablehlo.custom_call" for op in operations)
    assert {7, 8, 9} <= {number for op in operations for number in node_numbers(op)}
    x = np.linspace(-0.99, 0.99, 15, dtype=np.float32).reshape(3, 5)
    for expected, found in zip(run(artifact, [x]), run(after.stablehlo, [x]), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)
