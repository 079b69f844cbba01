"""Programs that compute on the host what a device would."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

from neuron_compile.codegen.emulation import Emulation
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.refusal import IllegalProgramError
from neuron_compile.lowering import LoweredProgram, TensorSpec
from neuron_compile.runtime.load import load
from neuron_compile.workers.recipe import recipe_of
from stand_ins.fixtures import lowered

MATRIX = TensorSpec((2, 2), "float32", (2, 1))


def product() -> LoweredProgram:
    return lowered(
        """func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
          %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
            : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
          return %0 : tensor<2x2xf32>
        }""",
        MATRIX,
        MATRIX,
        MATRIX,
    )


def factor() -> LoweredProgram:
    return lowered(
        """func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
          %0 = stablehlo.cholesky %x, lower = true : tensor<2x2xf32> #3
          return %0 : tensor<2x2xf32>
        }""",
        MATRIX,
        MATRIX,
    )


@pytest.mark.parametrize(
    "emulation",
    [
        Emulation(),
        Emulation(auto_cast="all", auto_cast_type="fp16"),
        Emulation(device_of("trn2", logical_cores=1, downcasts=frozenset({"dot", "pow"}))),
    ],
)
def test_json_is_read_back(emulation: Emulation) -> None:
    assert Emulation.from_json(json.loads(json.dumps(emulation.to_json()))) == emulation


def test_whatever_changes_the_program_is_in_the_fingerprint() -> None:
    trn2 = device_of("trn2")
    different = [
        Emulation(),
        Emulation(trn2),
        Emulation(device_of("trn1")),
        Emulation(trn2, "matmult"),
        Emulation(trn2, "all"),
        Emulation(trn2, "all", "fp16"),
    ]
    assert len({one.fingerprint() for one in different}) == len(different)
    plain = dict(HostCodeGenerator().fingerprint())
    emulating = dict(HostCodeGenerator(emulation=Emulation(trn2).to_json()).fingerprint())
    assert plain.items() < emulating.items()


def test_program_is_rounded_and_made_legal() -> None:
    x, y = torch.randn(2, 2), torch.randn(2, 2)
    emulation = Emulation(device_of("trn2"), "matmult").to_json()
    (result,) = load(HostCodeGenerator(emulation=emulation).generate(product())).execute([x, y])
    torch.testing.assert_close(result, x.bfloat16().float() @ y.bfloat16().float())
    assert not torch.allclose(result, x @ y, rtol=1e-6, atol=0)


def test_what_the_device_does_not_have_is_refused() -> None:
    with pytest.raises(IllegalProgramError, match="EVRF001") as raised:
        Emulation(device_of("trn2")).apply(factor())
    assert raised.value.nodes == (3,)


@pytest.mark.parametrize("value", [None, Emulation(device_of("trn3"), "all").to_json()])
def test_another_process_builds_the_same_generator(value: Any) -> None:
    generator = HostCodeGenerator(optimization_level=1, emulation=value)
    recipe = recipe_of(generator)
    assert recipe is not None
    copy = type(recipe).from_json(json.loads(json.dumps(recipe.to_json()))).build()
    assert copy.fingerprint() == generator.fingerprint()
