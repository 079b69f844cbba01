"""Which bodies can work on whole tensors. That they do is tested by sorts and windows."""

from __future__ import annotations

from typing import Any

import pytest

from neuron_compile.codegen.legality.lift_region import can_lift
from neuron_compile.codegen.legality.program_module import read_module, walk

PROGRAM = """
func.func private @f(%a: tensor<f32>) -> tensor<f32> {{
  return %a : tensor<f32>
}}
func.func @main(%x: tensor<4xf32>, %s: tensor<f32>, %v: tensor<2xf32>) -> tensor<f32> {{
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce"(%x, %i) ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      {body}
      stablehlo.return %c : tensor<f32>
  }}) {{dimensions = array<i64: 0>}} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}}
"""


@pytest.mark.parametrize(
    "body,is_liftable",
    [
        ("%c = stablehlo.add %a, %b : tensor<f32>", True),
        (
            "%k = stablehlo.constant dense<2.0> : tensor<f32>\n"
            "%c = stablehlo.multiply %a, %k : tensor<f32>",
            True,
        ),
        ("%c = stablehlo.maximum %a, %s : tensor<f32>", True),
        ("%c = func.call @f(%a) : (tensor<f32>) -> tensor<f32>", False),
        (
            "%t = stablehlo.slice %v [0:1] : (tensor<2xf32>) -> tensor<1xf32>\n"
            "%c = stablehlo.reshape %t : (tensor<1xf32>) -> tensor<f32>",
            False,
        ),
        (
            "%t = stablehlo.add %v, %v : tensor<2xf32>\n%c = stablehlo.add %a, %b : tensor<f32>",
            False,
        ),
    ],
)
def test_scalar_elementwise_bodies_only(program: Any, body: str, is_liftable: bool) -> None:
    module = read_module(program(PROGRAM.format(body=body)))
    (reduce,) = (op for op in walk(module.operation) if op.name == "stablehlo.reduce")
    assert can_lift(reduce.regions[0].blocks[0]) is is_liftable
