"""What our results depend on beyond what AOTAutograd's cache key holds, as its tag."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import torch

from neuron_compile.actions import KeyParts, loaded_tools
from neuron_compile.codegen.generator import CodeGenerator
from neuron_compile.options import CompileOptions

# Options that say how to compile or what to call it, and not what.
WITHOUT_EFFECT: Final = frozenset({"model_name", "workers", "memory_limit", "time_limit"})


def cache_tag(
    options: CompileOptions, generator: CodeGenerator, example_inputs: Sequence[Any]
) -> str:
    """A value for `torch.compiler.config.cache_key_tag`, in addition to the user's own.

    It holds our source, the versions of the tools, options and target, and the sizes that are fixed
    for this graph although Dynamo left them open.
    """
    parts: list[tuple[str, bytes]] = [
        *loaded_tools(),
        *own_source(),
        ("target", generator.target.name.encode()),
        *generator.fingerprint(),
        *(
            (f"option {name}", repr(getattr(options, name)).encode())
            for name in sorted(options.__dataclass_fields__)
            if name not in WITHOUT_EFFECT
        ),
        ("sizes", repr(list(_sizes(example_inputs))).encode()),
    ]
    digest = hashlib.sha256()
    for name, value in sorted(parts):
        for field in (name.encode(), value):
            digest.update(len(field).to_bytes(8, "little") + field)
    user = torch.compiler.config.cache_key_tag
    return f"{user}neuron-compile {digest.hexdigest()}"


@functools.cache
def own_source() -> KeyParts:
    """A digest of what is ours between Dynamo and the lowering, so that no edit goes unnoticed."""
    folder = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for file in sorted([*folder.glob("*.py"), *folder.glob("warm_start/*.py")]):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(folder)} {len(content)}\0".encode() + content)
    return (("own source", digest.hexdigest().encode()),)


def _sizes(example_inputs: Sequence[Any]) -> Iterator[tuple[int, ...]]:
    for value in example_inputs:
        if isinstance(value, torch.Tensor):
            yield tuple(map(int, (*value.shape, *value.stride(), value.storage_offset())))
        elif isinstance(value, torch.SymInt):
            yield (int(value),)
