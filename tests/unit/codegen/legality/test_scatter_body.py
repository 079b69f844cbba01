from __future__ import annotations

from typing import Any

import pytest

from neuron_compile.codegen.legality.program_module import read_module, walk
from neuron_compile.codegen.legality.scatter_body import scatter_computation

PROGRAM = """
func.func @main(%x: tensor<4xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>) -> tensor<4xf32> {{
  %0 = "stablehlo.scatter"(%x, %i, %u) ({{
    ^bb0(%old: tensor<f32>, %new: tensor<f32>):
      {body}
  }}) {{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}
    : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}
"""


@pytest.mark.parametrize(
    "body,expected",
    [
        ("stablehlo.return %new : tensor<f32>", "overwrite"),
        ("stablehlo.return %old : tensor<f32>", None),
        ("%c = stablehlo.add %old, %new : tensor<f32>\nstablehlo.return %c : tensor<f32>", "add"),
        ("%c = stablehlo.add %new, %old : tensor<f32>\nstablehlo.return %c : tensor<f32>", "add"),
        ("%c = stablehlo.add %new, %new : tensor<f32>\nstablehlo.return %c : tensor<f32>", None),
        (
            "%c = stablehlo.maximum %old, %new : tensor<f32>\nstablehlo.return %c : tensor<f32>",
            "maximum",
        ),
        (
            "%c = stablehlo.add %old, %new : tensor<f32>\n%d = stablehlo.negate %c : tensor<f32>\n"
            "stablehlo.return %d : tensor<f32>",
            None,
        ),
    ],
)
def test_what_a_body_does(program: Any, body: str, expected: str | None) -> None:
    module = read_module(program(PROGRAM.format(body=body)))
    (scatter,) = (op for op in walk(module.operation) if op.name == "stablehlo.scatter")
    assert scatter_computation(scatter) == expected
