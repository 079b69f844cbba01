"""Artifacts as text for people."""

from __future__ import annotations

from host_programs import program
from neuron_compile.lowering.stablehlo_text import stablehlo_text

LARGE = """
func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = stablehlo.constant dense<"0x{bytes}"> : tensor<100xf32>
  %y = stablehlo.add %x, %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
""".replace("{bytes}", "".join(f"{n:08X}" for n in range(100)))


def test_text_reads_as_stablehlo_and_large_constants_are_abbreviated() -> None:
    text = stablehlo_text(program(LARGE).stablehlo)
    assert "stablehlo.add" in text
    assert "tensor<100xf32>" in text
    assert len(text) < 600
