"""The manifest: canonical bytes, strict reading."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from neuron_compile.artifact.manifest import Manifest, dense_strides
from neuron_compile.errors import ArtifactError
from neuron_compile.lowering import TensorSpec

MANIFEST = Manifest(
    target="trn2",
    generator=(("neuronx-cc", "2.27.5334.0"), ("flags", "--optlevel=2")),
    custom_calls=(),
    inputs=(TensorSpec((2, 0, 3), "float32", (3, 3, 1)), TensorSpec((), "int64", ())),
    outputs=(TensorSpec((4,), "bfloat16", (1,)),),
    neff_sha256="0" * 64,
    stablehlo_sha256="ab" * 32,
)


def test_round_trip_and_canonical_form() -> None:
    data = MANIFEST.to_json()
    assert Manifest.from_json(data) == MANIFEST
    assert data.endswith(b"}\n")
    assert b" " not in data
    assert list(json.loads(data)) == sorted(json.loads(data))


@pytest.mark.parametrize(
    "key,value",
    [
        ("format_version", 2),
        ("format_version", "1"),
        ("target", "trn9"),
        ("target", None),
        ("generator", {"a": "b"}),
        ("generator", [["only"]]),
        ("generator", [["a", 1]]),
        ("custom_calls", "name"),
        ("custom_calls", [1]),
        ("inputs", [{"shape": [2], "dtype": "float32"}]),
        ("inputs", [{"shape": [2], "dtype": "float31", "strides": [1]}]),
        ("inputs", [{"shape": [2, 3], "dtype": "float32", "strides": [1, 2]}]),
        ("inputs", [{"shape": [-1], "dtype": "float32", "strides": [1]}]),
        ("inputs", [{"shape": [True], "dtype": "float32", "strides": [1]}]),
        ("inputs", [{"shape": [2.0], "dtype": "float32", "strides": [1]}]),
        ("inputs", [{"shape": [1 << 63], "dtype": "float32", "strides": [1]}]),
        ("outputs", None),
        ("neff_sha256", "0" * 63),
        ("neff_sha256", "G" * 64),
        ("stablehlo_sha256", "AB" * 32),
        ("unknown", 1),
    ],
)
def test_unexpected_value_is_refused(key: str, value: Any) -> None:
    changed = {**json.loads(MANIFEST.to_json()), key: value}
    data = json.dumps(changed, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    with pytest.raises(ArtifactError, match="manifest"):
        Manifest.from_json(data)


@pytest.mark.parametrize("key", sorted(json.loads(MANIFEST.to_json())))
def test_missing_field_is_refused(key: str) -> None:
    changed = json.loads(MANIFEST.to_json())
    del changed[key]
    with pytest.raises(ArtifactError, match="manifest"):
        Manifest.from_json(json.dumps(changed).encode())


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, MANIFEST.to_json()[:-1], b"1e999"],
    ids=["empty", "open", "list", "null", "bytes", "deep", "newline", "number"],
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ArtifactError, match="manifest"):
        Manifest.from_json(data)


def test_other_spelling_of_the_same_value_is_refused() -> None:
    value = json.loads(MANIFEST.to_json())
    for text in (json.dumps(value, indent=1), json.dumps(dict(reversed(value.items())))):
        with pytest.raises(ArtifactError, match="canonical"):
            Manifest.from_json(text.encode())
    twice = MANIFEST.to_json().replace(b'"target"', b'"target":"trn1","target"')
    with pytest.raises(ArtifactError, match="canonical"):
        Manifest.from_json(twice)


def test_every_flipped_bit_is_refused_or_is_another_manifest() -> None:
    data = MANIFEST.to_json()
    for at, bit in itertools.product(range(len(data)), range(8)):
        damaged = data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :]
        try:
            assert Manifest.from_json(damaged) != MANIFEST
        except ArtifactError:
            continue


@pytest.mark.parametrize(
    "shape,strides", [((), ()), ((3,), (1,)), ((2, 3), (3, 1)), ((2, 0, 3), (3, 3, 1))]
)
def test_dense_strides_are_those_of_pytorch(
    shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    assert dense_strides(shape) == strides
