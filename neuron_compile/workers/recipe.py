"""A code generator as plain values, so that another process can build the same one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from neuron_compile.codegen.generator import CodeGenerator
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.target import TARGETS


@dataclass(frozen=True, slots=True)
class GeneratorRecipe:
    """The target's name and the keyword arguments of its code generator's constructor, all JSON."""

    target: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_device(self) -> bool:
        """Whether the target is a Neuron device."""
        return TARGETS[self.target].is_device

    def build(self, progress: Callable[[float, str], None] | None = None) -> CodeGenerator:
        """The code generator. `progress` goes to one that reports it.

        Raises `CodegenError` where its tools are missing, `OptionsError` for flags that cannot be.
        """
        values = dict(self.values)
        if not self.is_device:
            return HostCodeGenerator(**values)
        from neuron_compile.codegen.neuronx_cc.generator import NeuronxCodeGenerator

        if values.get("keep_folder") is not None:
            values["keep_folder"] = Path(values["keep_folder"])
        return NeuronxCodeGenerator(TARGETS[self.target], progress=progress, **values)

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads back."""
        return {"target": self.target, "values": dict(self.values)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> GeneratorRecipe:
        """Read what `to_json` wrote."""
        return cls(value["target"], value["values"])


def recipe_of(generator: CodeGenerator) -> GeneratorRecipe | None:
    """What `generator` was built from; None for classes not ours, and for subclasses of ours, which
    may generate something else."""
    if type(generator) is HostCodeGenerator:
        return GeneratorRecipe(generator.target.name, generator.values)
    if generator.target.is_device:
        # Loads jaxlib, which host programs that are cached do without.
        from neuron_compile.codegen.neuronx_cc.generator import NeuronxCodeGenerator

        if type(generator) is NeuronxCodeGenerator:
            return GeneratorRecipe(generator.target.name, generator.values)
    return None
