"""What is kept beside a NEFF: the facts that its container does not reliably hold.

Canonical JSON, so that equal manifests are equal bytes, and read back strictly: a manifest that
this release would not have written is refused rather than guessed at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from neuron_compile.errors import ArtifactError
from neuron_compile.lowering import TensorSpec
from neuron_compile.lowering.dtypes import ELEMENT_TYPES
from neuron_compile.target import TARGETS

MANIFEST_VERSION: Final = 1
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """An artifact's description.

    `generator` is the code generator's fingerprint as named text, in its order. `inputs` and
    `outputs` are the dense row-major types of the program's `main`, in its order. The two digests
    are SHA-256 in lower-case hexadecimal.
    """

    target: str
    generator: tuple[tuple[str, str], ...]
    custom_calls: tuple[str, ...]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    neff_sha256: str
    stablehlo_sha256: str
    format_version: int = MANIFEST_VERSION

    def to_json(self) -> bytes:
        """Canonical JSON: sorted keys, no spaces, ASCII, one newline at the end."""
        value = {
            "custom_calls": list(self.custom_calls),
            "format_version": self.format_version,
            "generator": [list(entry) for entry in self.generator],
            "inputs": [spec.to_json() for spec in self.inputs],
            "neff_sha256": self.neff_sha256,
            "outputs": [spec.to_json() for spec in self.outputs],
            "stablehlo_sha256": self.stablehlo_sha256,
            "target": self.target,
        }
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return text.encode("ascii") + b"\n"

    @classmethod
    def from_json(cls, data: bytes) -> Manifest:
        """Read what `to_json` wrote. Raises `ArtifactError` on anything else."""
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ArtifactError(f"the manifest is not JSON: {error}") from error
        if isinstance(value, dict) and value.get("format_version") != MANIFEST_VERSION:
            raise ArtifactError(
                f"the manifest has format version {value.get('format_version')!r}; this release "
                f"reads {MANIFEST_VERSION}"
            )
        manifest = _read(value)
        # Catches every other spelling at once: order, spaces, duplicate keys, 1.0 for 1.
        if manifest.to_json() != data:
            raise ArtifactError("the manifest is not in its canonical form")
        return manifest


def _read(value: Any) -> Manifest:
    _require(isinstance(value, Mapping), "is not an object")
    keys = set(Manifest.__slots__)
    _require(set(value) == keys, f"has the fields {sorted(value)}, expected {sorted(keys)}")
    target = _text(value["target"])
    _require(target in TARGETS, f"names the unknown target {target!r}")
    generator = []
    for entry in _list(value["generator"]):
        pair = _list(entry)
        _require(len(pair) == 2, "has a generator entry that is not a pair")
        generator.append((_text(pair[0]), _text(pair[1])))
    digests = [_text(value[key]) for key in ("neff_sha256", "stablehlo_sha256")]
    _require(all(map(_DIGEST.fullmatch, digests)), "has a digest that is not SHA-256 in hex")
    return Manifest(
        target=target,
        generator=tuple(generator),
        custom_calls=tuple(_text(name) for name in _list(value["custom_calls"])),
        inputs=tuple(_spec(item) for item in _list(value["inputs"])),
        outputs=tuple(_spec(item) for item in _list(value["outputs"])),
        neff_sha256=digests[0],
        stablehlo_sha256=digests[1],
    )


def _spec(value: Any) -> TensorSpec:
    _require(
        isinstance(value, Mapping) and set(value) == {"shape", "dtype", "strides"},
        "has a tensor without exactly shape, dtype and strides",
    )
    dtype = _text(value["dtype"])
    _require(dtype in ELEMENT_TYPES, f"has a tensor of unknown type {dtype!r}")
    shape = tuple(_size(size) for size in _list(value["shape"]))
    strides = tuple(_size(size) for size in _list(value["strides"]))
    _require(strides == dense_strides(shape), "has a tensor that is not dense and row-major")
    return TensorSpec(shape, dtype, strides)


def dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements; a zero-sized dimension counts as one, as in PyTorch."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def _list(value: Any) -> list[Any]:
    _require(isinstance(value, list), f"has {value!r:.60} where a list belongs")
    return list(value)


def _text(value: Any) -> str:
    _require(isinstance(value, str), f"has {value!r:.60} where text belongs")
    return str(value)


def _size(value: Any) -> int:
    _require(type(value) is int and 0 <= value < 1 << 63, f"has {value!r:.60} where a size belongs")
    return int(value)


def _require(condition: bool, complaint: str) -> None:
    if not condition:
        raise ArtifactError(f"the manifest {complaint}")
