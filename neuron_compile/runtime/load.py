"""Chooses the runtime by the NEFF's target."""

from __future__ import annotations

from collections.abc import Mapping

from neuron_compile.artifact.manifest import Manifest
from neuron_compile.artifact.neff import HOST_EXECUTABLE, unpack_neff
from neuron_compile.errors import ExecutionError
from neuron_compile.runtime.absent_device import AbsentDevice
from neuron_compile.runtime.executable import Executable
from neuron_compile.target import HOST


def load(blobs: Mapping[str, bytes]) -> Executable:
    """Load an artifact's NEFF into the runtime of its target.

    On a machine that cannot run it, a NEFF for a device gives an executable whose calls raise
    `ExecutionError`, since compiling needs no device. Raises `ArtifactError` if the bytes are
    damaged, `ExecutionError` if the host cannot load its own.
    """
    manifest = Manifest.from_json(blobs["manifest.json"])
    if manifest.target == HOST.name:
        from neuron_compile.runtime.pjrt_executable import PjrtExecutable

        neff = unpack_neff(blobs["neff"])
        return PjrtExecutable(neff.members[HOST_EXECUTABLE], manifest.custom_calls)
    from neuron_compile.runtime.nrt.load import load_device_neff

    try:
        return load_device_neff(blobs["neff"], manifest)
    except ExecutionError as error:
        return AbsentDevice(error)
