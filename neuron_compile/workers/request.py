"""What a worker is asked to do, as plain data."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from neuron_compile import actions
from neuron_compile.cache.blobs import Blobs
from neuron_compile.workers.recipe import GeneratorRecipe

LOWER: Final = "lower"
CONVERT: Final = "convert"
GENERATE: Final = "generate"

Progress = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Request:
    """An action's name, its inputs, and for `generate` the code generator.

    `identity` says by which tools the result is expected to be made: a worker that has others
    refuses. Empty, any will do.
    """

    action: str
    inputs: Blobs
    recipe: GeneratorRecipe | None = None
    identity: str = ""

    @classmethod
    def to(cls, action: str, inputs: Blobs, recipe: GeneratorRecipe | None = None) -> Request:
        """A request whose result is to be made by the tools of this process."""
        return cls(action, inputs, recipe, identity(action, recipe))

    def to_json(self) -> dict[str, Any]:
        """All but the inputs."""
        return {
            "action": self.action,
            "recipe": self.recipe and self.recipe.to_json(),
            "identity": self.identity,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any], inputs: Blobs) -> Request:
        """Read what `to_json` wrote."""
        recipe = value["recipe"] and GeneratorRecipe.from_json(value["recipe"])
        return cls(value["action"], inputs, recipe, value["identity"])


def identity(action: str, recipe: GeneratorRecipe | None) -> str:
    """A digest of what the keys of `action` say about our own code and its tools.

    A package that is upgraded under a running process would have new workers make by new rules
    what the process enters into the cache under the old ones.
    """
    parts = actions.lowering_tools() if recipe is None else recipe.build().fingerprint()
    digest = hashlib.sha256(action.encode())
    for name, value in parts:
        digest.update(f"\0{name}\0{len(value)}\0".encode() + value)
    return digest.hexdigest()


def _lower(request: Request, _progress: Progress) -> Blobs:
    return actions.lower(request.inputs)


def _convert(request: Request, _progress: Progress) -> Blobs:
    from neuron_compile.lowering.to_stablehlo import convert

    return {"text": convert(actions.decode_torch_program(request.inputs)).encode()}


def _generate(request: Request, progress: Progress) -> Blobs:
    assert request.recipe is not None
    return actions.generate(request.inputs, request.recipe.build(progress))


Task = Callable[[Request, Progress], Blobs]

TASKS: Final[Mapping[str, Task]] = {LOWER: _lower, CONVERT: _convert, GENERATE: _generate}
