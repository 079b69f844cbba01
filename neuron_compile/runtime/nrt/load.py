"""From an artifact's NEFF to something that can be called, on a machine with a Neuron device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuron_compile.artifact.neff import is_for_host, verify_neff
from neuron_compile.errors import ArtifactError
from neuron_compile.runtime.nrt.executable import NrtExecutable
from neuron_compile.runtime.nrt.runtime import runtime

if TYPE_CHECKING:
    from pathlib import Path

    from neuron_compile.artifact.manifest import Manifest


def load_device_neff(
    neff: bytes, manifest: Manifest, *, library: Path | None = None, core: int = 0
) -> NrtExecutable:
    """Load a device NEFF. `library` names another libnrt than the installed one.

    Raises `ArtifactError` for damaged bytes or a NEFF for the host, `ExecutionError` where libnrt
    is missing or refuses it.
    """
    if is_for_host(verify_neff(neff)):
        raise ArtifactError("a NEFF for the host cannot be loaded onto a Neuron device")
    return NrtExecutable(neff, manifest, runtime(library), core=core)
