"""The manifest of a fresh NEFF."""

from __future__ import annotations

import hashlib

from host_programs import VECTOR, program
from neuron_compile.artifact.manifest import Manifest
from neuron_compile.codegen.describe import describe
from neuron_compile.codegen.host import HostCodeGenerator


def test_manifest_holds_types_digests_and_generator_and_reads_back() -> None:
    generator, lowered = HostCodeGenerator(), program()
    manifest = describe(generator, lowered, b"neff")
    assert manifest.inputs == manifest.outputs == (VECTOR,)
    assert manifest.neff_sha256 == hashlib.sha256(b"neff").hexdigest()
    assert manifest.stablehlo_sha256 == hashlib.sha256(lowered.stablehlo).hexdigest()
    assert dict(manifest.generator) == {k: v.decode() for k, v in generator.fingerprint()}
    assert Manifest.from_json(manifest.to_json()) == manifest
