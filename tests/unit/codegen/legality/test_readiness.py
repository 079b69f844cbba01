from __future__ import annotations

from typing import Any

from neuron_compile.codegen.legality.device import GIB, device_of
from neuron_compile.codegen.legality.readiness import assess

PROGRAM = """
func.func @main(%x: tensor<256xf32>, %k: tensor<256xi8>) -> tensor<256xf32> {
  %0 = stablehlo.negate %x : tensor<256xf32> #1
  %1 = stablehlo.cbrt %0 : tensor<256xf32> #2
  %2 = stablehlo.add %0, %1 : tensor<256xf32> #3
  %3 = stablehlo.shift_right_arithmetic %k, %k : tensor<256xi8> #4
  %4 = stablehlo.convert %3 : (tensor<256xi8>) -> tensor<256xf32> #5
  %5 = stablehlo.multiply %2, %4 : tensor<256xf32> #6
  return %5 : tensor<256xf32>
}
"""


def test_verdict_of_a_small_program(program: Any) -> None:
    found = assess(program(PROGRAM), device_of("trn2"))
    assert found.is_ready
    assert [done.code for done in found.rewritten] == ["EVRF022"]
    assert found.undocumented_operators == (("stablehlo.cbrt", 1),)
    assert dict(found.element_types)["f32"] == 5
    assert found.argument_bytes == 256 * 4 + 256
    assert found.result_bytes == 256 * 4
    # Arguments, and at the shift: %2 and two 32-bit operands with their result.
    assert found.peak_bytes == 256 * 5 + 256 * 4 * 4
    assert found.memory_share == found.peak_bytes / (24 * GIB)


def test_refusals_make_it_unready(program: Any) -> None:
    text = """func.func @main(%x: tensor<3x3xf64>) -> tensor<3x3xf64> {
      %0 = stablehlo.cholesky %x, lower = true : tensor<3x3xf64> #8
      return %0 : tensor<3x3xf64>
    }"""
    found = assess(program(text), device_of("trn2"))
    assert not found.is_ready
    assert found.float64_nodes == (8,)
    assert found.refusals[0].nodes == (8,)
    assert found.argument_bytes == 36


def test_64_bit_integers_are_counted_where_the_device_narrows_them(program: Any) -> None:
    text = """func.func @main(%x: tensor<4xi64>) -> tensor<4xi64> {
      %0 = stablehlo.add %x, %x : tensor<4xi64>
      return %0 : tensor<4xi64>
    }"""
    assert assess(program(text), device_of("trn1")).narrowed_count == 1
    assert assess(program(text), device_of("trn2")).narrowed_count == 0
