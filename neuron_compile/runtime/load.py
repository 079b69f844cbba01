"""Chooses the runtime by the NEFF's target."""

from __future__ import annotations

from collections.abc import Mapping

from neuron_compile.artifact.manifest import Manifest
from neuron_compile.artifact.neff import HOST_EXECUTABLE, unpack_neff
from neuron_compile.errors import ExecutionError
from neuron_compile.runtime.executable import Executable
from neuron_compile.target import HOST


def load(blobs: Mapping[str, bytes]) -> Executable:
    """Load an artifact's NEFF into the runtime of its target.

    Raises `ArtifactError` if the bytes are damaged, `ExecutionError` if nothing here can run it.
    """
    manifest = Manifest.from_json(blobs["manifest.json"])
    if manifest.target == HOST.name:
        from neuron_compile.runtime.pjrt_executable import PjrtExecutable

        neff = unpack_neff(blobs["neff"])
        return PjrtExecutable(neff.members[HOST_EXECUTABLE], manifest.custom_calls)
    raise ExecutionError(
        f"a NEFF for {manifest.target} cannot run on this machine",
        why="libnrt, the Neuron runtime, is not installed here.",
        hint='compile for the host with options={"target": "host"}.',
    )
