"""The two actions as pure functions from named bytes to named bytes.

Whatever runs an action (this process, a worker, a cluster) and whatever keeps its results needs to
know nothing else about it. No torch here.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from neuron_compile import lowering
from neuron_compile.codegen.generator import CodeGenerator
from neuron_compile.loaded_source import marker
from neuron_compile.lowering import LibraryCall, LoweredProgram, TensorSpec, TorchProgram

KeyParts = tuple[tuple[str, bytes], ...]

# Bump when the blobs of an action change their meaning.
FORMAT: Final = b"1"


def lower_key(program: TorchProgram) -> KeyParts:
    """All that the StableHLO of `program` depends on."""
    return (
        ("torch dialect", program.module.encode()),
        ("library calls", _encode_calls(program.calls)),
        ("format", FORMAT),
        *loaded_tools(),
    )


def loaded_tools() -> KeyParts:
    """`lowering_tools`, and a part that is this process's own if the files were changed after they
    were imported: what it makes is then of nobody else's use."""
    changed = marker()
    return (*lowering_tools(), *((("changed while it runs", changed),) if changed else ()))


@functools.cache
def lowering_tools() -> KeyParts:
    """Versions of what lowers. Ours is a digest of its source, so that no edit goes unnoticed."""
    own = hashlib.sha256()
    folder = Path(lowering.__file__).parent
    for file in sorted(folder.rglob("*.py")):
        own.update(str(file.relative_to(folder)).encode() + b"\0")
        own.update(file.read_bytes() + b"\0")
    versions = {name: metadata.version(name) for name in ("torch-mlir", "jax", "jaxlib")}
    return (
        *((f"tool {name}", version.encode()) for name, version in versions.items()),
        ("lowering source", own.hexdigest().encode()),
    )


def lower(inputs: Mapping[str, bytes]) -> dict[str, bytes]:
    """Action 1: torch dialect to StableHLO. Raises `lowering.diagnostics.ConversionFailure`."""
    from neuron_compile.lowering.to_stablehlo import to_stablehlo

    return encode_program(to_stablehlo(decode_torch_program(inputs)))


def generate_key(program: LoweredProgram, generator: CodeGenerator) -> KeyParts:
    """All that the NEFF of `program` depends on: not how its StableHLO came about."""
    return (
        ("stablehlo", program.digest.encode()),
        ("target", generator.target.name.encode()),
        ("format", FORMAT),
        *generator.fingerprint(),
    )


def generate(inputs: Mapping[str, bytes], generator: CodeGenerator) -> dict[str, bytes]:
    """Action 2: StableHLO to NEFF and manifest. Raises `CodegenError`."""
    return dict(generator.generate(decode_program(inputs)))


def encode_torch_program(program: TorchProgram) -> dict[str, bytes]:
    """A `TorchProgram` as named bytes."""
    return {"module": program.module.encode(), "calls": _encode_calls(program.calls)}


def decode_torch_program(blobs: Mapping[str, bytes]) -> TorchProgram:
    """Read what `encode_torch_program` wrote."""
    calls = tuple(
        LibraryCall(
            call["symbol"],
            call["operator"],
            call["arguments"],
            tuple(TensorSpec.from_json(spec) for spec in call["operands"]),
            tuple(spec and TensorSpec.from_json(spec) for spec in call["results"]),
        )
        for call in json.loads(blobs["calls"])
    )
    return TorchProgram(blobs["module"].decode(), calls)


def encode_program(program: LoweredProgram) -> dict[str, bytes]:
    """A `LoweredProgram` as named bytes."""
    description = {
        "inputs": [spec.to_json() for spec in program.inputs],
        "outputs": [spec.to_json() for spec in program.outputs],
        "custom_calls": list(program.custom_calls),
        "digest": program.digest,
    }
    return {"stablehlo": program.stablehlo, "program.json": _canonical(description)}


def decode_program(blobs: Mapping[str, bytes]) -> LoweredProgram:
    """Read what `encode_program` wrote."""
    description = json.loads(blobs["program.json"])
    return LoweredProgram(
        stablehlo=blobs["stablehlo"],
        inputs=tuple(TensorSpec.from_json(spec) for spec in description["inputs"]),
        outputs=tuple(TensorSpec.from_json(spec) for spec in description["outputs"]),
        digest=description["digest"],
        custom_calls=tuple(description["custom_calls"]),
    )


def _encode_calls(calls: tuple[LibraryCall, ...]) -> bytes:
    return _canonical(
        [
            {
                "symbol": call.symbol,
                "operator": call.operator,
                "arguments": call.arguments,
                "operands": [spec.to_json() for spec in call.operands],
                "results": [spec and spec.to_json() for spec in call.results],
            }
            for call in calls
        ]
    )


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
