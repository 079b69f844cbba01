from __future__ import annotations

from typing import Any

import numpy as np

from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import find_refusals, legalize

# As Torch-MLIR writes `arange`: the length is computed in 64-bit floating point.
COMPUTED = """
func.func @main(%x: tensor<6xi64>) -> (tensor<6xi64>, tensor<2x3xi64>, tensor<2x6xi64>) {
  %one = stablehlo.constant dense<1> : tensor<i64>
  %six = stablehlo.constant dense<6> : tensor<i64>
  %0 = stablehlo.convert %one : (tensor<i64>) -> tensor<f64>
  %1 = stablehlo.convert %six : (tensor<i64>) -> tensor<f64>
  %2 = stablehlo.divide %1, %0 : tensor<f64>
  %3 = stablehlo.convert %2 : (tensor<f64>) -> tensor<i64>
  %4 = stablehlo.reshape %3 : (tensor<i64>) -> tensor<1xi64>
  %5 = stablehlo.dynamic_iota %4, dim = 0 : (tensor<1xi64>) -> tensor<6xi64> #7
  %6 = stablehlo.add %5, %x : tensor<6xi64>
  %7 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %8 = stablehlo.dynamic_reshape %6, %7 : (tensor<6xi64>, tensor<2xi64>) -> tensor<2x3xi64>
  %two = stablehlo.constant dense<2> : tensor<1xi64>
  %9 = stablehlo.concatenate %two, %4, dim = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %10 = stablehlo.dynamic_broadcast_in_dim %6, %9, dims = [1]
    : (tensor<6xi64>, tensor<2xi64>) -> tensor<2x6xi64>
  return %6, %8, %10 : tensor<6xi64>, tensor<2x3xi64>, tensor<2x6xi64>
}
"""


def test_known_shapes_are_static_and_what_computed_them_is_gone(program: Any, run: Any) -> None:
    before = program(COMPUTED)
    assert "EMOD025" in {refusal.code for refusal in find_refusals(before, device_of("trn2"))}
    after = legalize(before, device_of("trn2"))
    assert (after.refusals, after.demoted_nodes) == ((), None)
    x = np.arange(6) * 2**40
    for expected, found in zip(run(before, [x]), run(after.stablehlo, [x]), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_what_something_else_uses_is_kept(program: Any, run: Any) -> None:
    text = COMPUTED.replace("f64", "i64").replace(
        "tensor<2x6xi64>) {", "tensor<2x6xi64>, tensor<1xi64>) {"
    )
    text = text.replace("%8, %10 :", "%8, %10, %4 :").replace(
        "6xi64>\n}", "6xi64>, tensor<1xi64>\n}"
    )
    after = legalize(program(text), device_of("trn2"))
    assert after.refusals == ()
    assert run(after.stablehlo, [np.arange(6)])[3] == [6]


def test_iota_of_a_computed_length_is_followed(program: Any) -> None:
    text = """func.func @main(%x: tensor<4x3xf32>) -> tensor<6x3xf32> {
      %n = stablehlo.constant dense<6> : tensor<1xi64>
      %i = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<6xi64>
      %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1],
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
        slice_sizes = array<i64: 1, 3>} : (tensor<4x3xf32>, tensor<6xi64>) -> tensor<6x3xf32> #7
      return %0 : tensor<6x3xf32>
    }"""
    after = legalize(program(text), device_of("trn2"))
    assert [(done.code, done.nodes) for done in after.rewritten] == [("EVRF056", (7,))]
    assert after.refusals == ()


def test_unknown_shape_stays_refused(program: Any) -> None:
    text = """func.func @main(%n: tensor<1xi64>) -> tensor<?xi64> {
      %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<?xi64> #7
      return %0 : tensor<?xi64>
    }"""
    refusals = legalize(program(text), device_of("trn2")).refusals
    assert {refusal.code for refusal in refusals} == {"EMOD025"}
    assert (7,) in {refusal.nodes for refusal in refusals}
