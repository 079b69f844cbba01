"""The manifest of a freshly generated NEFF."""

from __future__ import annotations

import hashlib

from neuron_compile.artifact.manifest import Manifest
from neuron_compile.codegen.generator import CodeGenerator
from neuron_compile.lowering import LoweredProgram


def describe(generator: CodeGenerator, program: LoweredProgram, neff: bytes) -> Manifest:
    """What is to be kept beside `neff`, which `generator` made of `program`."""
    return Manifest(
        target=generator.target.name,
        generator=tuple((name, value.decode()) for name, value in generator.fingerprint()),
        custom_calls=program.custom_calls,
        inputs=program.inputs,
        outputs=program.outputs,
        neff_sha256=hashlib.sha256(neff).hexdigest(),
        stablehlo_sha256=hashlib.sha256(program.stablehlo).hexdigest(),
    )
