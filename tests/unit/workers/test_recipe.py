"""A code generator rebuilt from plain values is the same one."""

from __future__ import annotations

import json

import pytest

from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.codegen.neuronx_cc.generator import NeuronxCodeGenerator
from neuron_compile.target import TARGETS
from neuron_compile.workers.recipe import GeneratorRecipe, recipe_of


def rebuilt(generator: HostCodeGenerator | NeuronxCodeGenerator) -> object:
    recipe = recipe_of(generator)
    assert recipe is not None
    return GeneratorRecipe.from_json(json.loads(json.dumps(recipe.to_json()))).build()


@pytest.mark.parametrize("level", [1, 3])
def test_host_generator_is_rebuilt(level: int) -> None:
    generator = HostCodeGenerator(optimization_level=level, xla_flags="--a --b")
    copy = rebuilt(generator)
    assert type(copy) is HostCodeGenerator
    assert copy.fingerprint() == generator.fingerprint()


def test_device_generator_is_rebuilt() -> None:
    generator = NeuronxCodeGenerator(
        TARGETS["trn2"],
        optimization_level=1,
        model_type="transformer",
        auto_cast="all",
        auto_cast_type="fp16",
        logical_cores=1,
        extra_flags="--enable-saturate-infinity",
        version="2.27.1",
    )
    copy = rebuilt(generator)
    assert type(copy) is NeuronxCodeGenerator
    assert copy.fingerprint() == generator.fingerprint()
    assert copy.target is TARGETS["trn2"]
    assert copy.values == generator.values


def test_subclass_is_not_taken_for_its_parent() -> None:
    class Other(HostCodeGenerator):
        pass

    assert recipe_of(Other()) is None
