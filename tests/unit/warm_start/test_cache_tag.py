"""What tells AOTAutograd's entries apart beyond the graph."""

from __future__ import annotations

import copy
import dataclasses

import torch

from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.options import CompileOptions
from neuron_compile.warm_start.cache_tag import WITHOUT_EFFECT, cache_tag

INPUTS = [torch.ones(2, 3)]


def tag(options: CompileOptions, **generator: int) -> str:
    return cache_tag(options, HostCodeGenerator(**generator), INPUTS)  # type: ignore[arg-type]


def test_each_option_with_an_effect_is_in_it() -> None:
    options = CompileOptions()
    for field in dataclasses.fields(CompileOptions):
        changed = copy.copy(options)
        object.__setattr__(changed, field.name, "another")
        assert (tag(changed) == tag(options)) == (field.name in WITHOUT_EFFECT)


def test_code_generator_is_in_it() -> None:
    assert tag(CompileOptions(), optimization_level=1) != tag(CompileOptions())


def test_sizes_and_strides_are_in_it() -> None:
    options, generator = CompileOptions(), HostCodeGenerator()
    inputs = (torch.ones(2, 3), torch.ones(3, 2), torch.ones(3, 2).t())
    assert len({cache_tag(options, generator, [x]) for x in inputs}) == 3


def test_tag_of_the_user_is_kept() -> None:
    with torch.compiler.config.patch(cache_key_tag="mine "):  # type: ignore[attr-defined]
        mine = tag(CompileOptions())
    assert mine == f"mine {tag(CompileOptions())}"
