"""Chooses the runtime by the NEFF's target."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from neuron_compile.artifact.manifest import Manifest
from neuron_compile.artifact.neff import HOST_EXECUTABLE, unpack_neff
from neuron_compile.errors import ArtifactError, ExecutionError
from neuron_compile.runtime.absent_device import AbsentDevice
from neuron_compile.runtime.executable import Executable
from neuron_compile.target import HOST


def load(blobs: Mapping[str, bytes]) -> Executable:
    """Load an artifact's NEFF into the runtime of its target.

    On a machine that cannot run it, a NEFF for a device gives an executable whose calls raise
    `ExecutionError`, since compiling needs no device. Raises `ArtifactError` if the bytes are
    damaged or NEFF and manifest are not of one artifact, `ExecutionError` if the host cannot
    load its own.
    """
    manifest = Manifest.from_json(blobs["manifest.json"])
    if hashlib.sha256(blobs["neff"]).hexdigest() != manifest.neff_sha256:
        raise ArtifactError(
            "the NEFF is not the one that its manifest describes",
            why="its SHA-256 is another one than the manifest says.",
        )
    if manifest.target == HOST.name:
        from neuron_compile.runtime.pjrt_executable import PjrtExecutable

        neff = unpack_neff(blobs["neff"])
        return PjrtExecutable(neff.members[HOST_EXECUTABLE], manifest.custom_calls)
    from neuron_compile.runtime.nrt.load import load_device_neff

    try:
        return load_device_neff(blobs["neff"], manifest)
    except ExecutionError as error:
        return AbsentDevice(error)
