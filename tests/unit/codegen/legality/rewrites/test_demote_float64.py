from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import legalize

PROGRAM = """
func.func private @twice(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.add %x, %x : tensor<4xf64>
  return %0 : tensor<4xf64>
}
func.func @main(%x: tensor<4xf64>, %y: tensor<4xf32>)
    -> (tensor<f64>, tensor<4xf64>, tensor<4xf32>) {
  %c = stablehlo.constant dense<[1.5, -1.0e300, 0x7FF0000000000000, 2.0e-3]> : tensor<4xf64>
  %i = stablehlo.constant dense<0.0> : tensor<f64>
  %w = stablehlo.convert %y : (tensor<4xf32>) -> tensor<4xf64> #5
  %m = stablehlo.multiply %x, %w : tensor<4xf64> #7
  %t = func.call @twice(%m) : (tensor<4xf64>) -> tensor<4xf64> #9
  %r = stablehlo.reduce(%t init: %i) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf64>, tensor<f64>) -> tensor<f64> #7
  %s = stablehlo.minimum %t, %c : tensor<4xf64> #7
  %n = stablehlo.convert %s : (tensor<4xf64>) -> tensor<4xf32> #7
  return %r, %s, %n : tensor<f64>, tensor<4xf64>, tensor<4xf32>
}
"""


def test_program_runs_in_32_bits_throughout(program: Any, run: Any) -> None:
    artifact = program(PROGRAM)
    after = legalize(artifact, device_of("trn2"))
    assert after.refusals == ()
    assert after.demoted_nodes is not None
    assert {5, 7, 9} <= set(after.demoted_nodes)
    x = np.array([1.25, -3.0, 1e10, 7.0])
    y = np.array([2.0, 0.1, 1e-3, -1.0], np.float32)
    expected = run(artifact, [x, y])
    found = run(after.stablehlo, [x.astype(np.float32), y])
    assert [array.dtype for array in found] == [np.float32] * 3
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-6)
    # Too large for 32 bits, a constant becomes the largest number and not an infinity.
    assert found[1][1] == -np.finfo(np.float32).max
    np.testing.assert_allclose(found[1][[0, 2, 3]], expected[1][[0, 2, 3]], rtol=1e-6)


def test_program_without_float64_is_not_touched(program: Any) -> None:
    text = "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"
    assert legalize(program(text), device_of("trn2")).demoted_nodes is None


def test_bits_of_float64_are_refused(program: Any) -> None:
    text = """
    func.func @main(%x: tensor<2xf64>) -> tensor<2xi64> {
      %0 = stablehlo.abs %x : tensor<2xf64> #7
      %1 = stablehlo.bitcast_convert %0 : (tensor<2xf64>) -> tensor<2xi64> #8
      return %1 : tensor<2xi64>
    }"""
    refusals = legalize(program(text), device_of("trn2")).refusals
    assert {r.code for r in refusals} == {"ESPP004"}
    assert (7,) in {r.nodes for r in refusals}


def test_integers_computed_through_float64_are_refused(program: Any) -> None:
    text = """
    func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
      %0 = stablehlo.convert %x : (tensor<2xi64>) -> tensor<2xf64> #5
      %1 = stablehlo.floor %0 : tensor<2xf64> #6
      %2 = stablehlo.convert %1 : (tensor<2xf64>) -> tensor<2xi64> #7
      return %2 : tensor<2xi64>
    }"""
    (refusal,) = legalize(program(text), device_of("trn2")).refusals
    assert (refusal.code, refusal.nodes) == ("ESPP004", (7,))


@pytest.mark.parametrize("number,codes", [("-100.0", set()), ("16777217.0", {"ESPP004"})])
def test_constant_that_32_bits_hold_may_become_an_integer(
    program: Any, run: Any, number: str, codes: set[str]
) -> None:
    text = f"""
    func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {{
      %0 = stablehlo.constant dense<{number}> : tensor<1xf64>
      %1 = stablehlo.reshape %0 : (tensor<1xf64>) -> tensor<f64>
      %2 = stablehlo.convert %1 : (tensor<f64>) -> tensor<i64> #7
      %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i64>) -> tensor<2xi64>
      %4 = stablehlo.add %3, %x : tensor<2xi64>
      return %4 : tensor<2xi64>
    }}"""
    artifact = program(text)
    found = legalize(artifact, device_of("trn2"))
    assert {refusal.code for refusal in found.refusals} == codes
    if not codes:
        x = np.array([1, 2**40])
        np.testing.assert_array_equal(run(found.stablehlo, [x])[0], run(artifact, [x])[0])
