"""From StableHLO to numbers: the stand-in compiler's NEFF run by the stand-in for libnrt."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from neuron_compile.artifact.manifest import Manifest
from neuron_compile.codegen.neuronx_cc.generator import NeuronxCodeGenerator
from neuron_compile.errors import ExecutionError
from neuron_compile.lowering import LoweredProgram, TensorSpec
from neuron_compile.runtime.nrt.executable import NrtExecutable
from neuron_compile.runtime.nrt.load import load_device_neff
from neuron_compile.runtime.nrt.runtime import runtime
from neuron_compile.target import TARGETS
from stand_ins.fixtures import lowered
from stand_ins.libnrt import StandIn

MIXED = """
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = stablehlo.multiply %x, %y : tensor<3xf32>
  %1 = stablehlo.negate %0 : tensor<3xf32>
  %2 = stablehlo.maximum %1, %x : tensor<3xf32>
  return %2, %0 : tensor<3xf32>, tensor<3xf32>
}
"""
COUNTED = """
func.func @main(%x: tensor<3xi64>, %y: tensor<3xi64>) -> tensor<3xi64> {
  %0 = stablehlo.add %x, %y : tensor<3xi64>
  return %0 : tensor<3xi64>
}
"""


def loaded(program: LoweredProgram, library: StandIn) -> NrtExecutable:
    # The stand-in for libnrt reads plain archives only.
    flags = "--enable-fast-loading-neuron-binaries"
    blobs = NeuronxCodeGenerator(TARGETS["trn2"], extra_flags=flags).generate(program)
    manifest = Manifest.from_json(blobs["manifest.json"])
    return load_device_neff(blobs["neff"], manifest, library=library.path)


def test_program_of_several_operations_and_results(compiler: Any, stand_in: StandIn) -> None:
    spec = TensorSpec((3,), "float32", (1,))
    program = lowered(MIXED, spec, spec, spec)
    both = LoweredProgram(program.stablehlo, (spec, spec), (spec, spec), program.digest)
    executable = loaded(both, stand_in)
    x, y = torch.tensor([1.0, -2.0, 3.0]), torch.tensor([4.0, 5.0, -6.0])
    largest, product = executable.execute([x, y])
    assert torch.equal(product, x * y)
    assert torch.equal(largest, torch.maximum(-(x * y), x))
    runtime(stand_in.path).close()
    assert stand_in.violations == []
    assert stand_in.live == 0


@pytest.mark.parametrize("narrow", [False, True])
def test_int64_whether_the_compiler_narrowed_it_or_not(
    compiler: Any, stand_in: StandIn, narrow: bool
) -> None:
    if narrow:
        compiler(int64_as_int32=1)
    spec = TensorSpec((3,), "int64", (1,))
    executable = loaded(lowered(COUNTED, spec, spec, spec), stand_in)
    x, y = torch.tensor([1, -2, 2**30]), torch.tensor([5, 6, 7])
    (total,) = executable.execute([x, y])
    assert total.dtype == torch.int64
    assert torch.equal(total, x + y)
    large = torch.tensor([2**40, 0, 0])
    if narrow:
        with pytest.raises(ExecutionError, match="do not fit the device"):
            executable.execute([large, y])
    else:
        assert torch.equal(executable.execute([large, y])[0], large + y)
    runtime(stand_in.path).close()
    assert stand_in.violations == []
