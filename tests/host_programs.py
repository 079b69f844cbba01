"""Small StableHLO programs, and host artifacts of them."""

from __future__ import annotations

from collections.abc import Mapping

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.lowering import LoweredProgram, TensorSpec
from neuron_compile.lowering.library.link import mlir_context
from neuron_compile.lowering.to_stablehlo import ARTIFACT_VERSION

VECTOR = TensorSpec((3,), "float32", (1,))
DOUBLE = """
func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = stablehlo.add %x, %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
"""


def program(text: str = DOUBLE, *, digest: str = "0" * 64) -> LoweredProgram:
    """A program of one vector to one vector."""
    with mlir_context():
        artifact = stablehlo.serialize_portable_artifact(ir.Module.parse(text), ARTIFACT_VERSION)
    return LoweredProgram(bytes(artifact), (VECTOR,), (VECTOR,), digest)


def artifact(text: str = DOUBLE) -> Mapping[str, bytes]:
    """The host artifact of a program."""
    return HostCodeGenerator().generate(program(text))
