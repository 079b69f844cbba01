"""The runtime is chosen by what the manifest says."""

from __future__ import annotations

import dataclasses
import hashlib

import pytest
import torch

from host_programs import artifact
from neuron_compile import ArtifactError, ExecutionError
from neuron_compile.artifact.manifest import Manifest
from neuron_compile.artifact.neff import HOST_EXECUTABLE, pack_neff, unpack_neff
from neuron_compile.runtime.load import load
from stand_ins import documented_neff


def test_host_artifact_runs() -> None:
    (result,) = load(artifact()).execute([torch.ones(3)])
    assert result.tolist() == [2, 2, 2]


def for_device(neff: bytes) -> dict[str, bytes]:
    """An artifact that says it is for trn1."""
    blobs = {**artifact(), "neff": neff}
    manifest = dataclasses.replace(
        Manifest.from_json(blobs["manifest.json"]),
        target="trn1",
        neff_sha256=hashlib.sha256(neff).hexdigest(),
    )
    return {**blobs, "manifest.json": manifest.to_json()}


def test_artifact_for_a_device_loads_without_one_and_says_why_it_cannot_be_called() -> None:
    files = {"neff.json": b"{}"}
    executable = load(
        for_device(documented_neff.write(files, name="n", lnc=1, is_gzipped=True, uuid=bytes(16)))
    )
    for _ in range(2):
        with pytest.raises(
            ExecutionError, match="libnrt, the Neuron runtime, is not inst"
        ) as raised:
            executable.execute([torch.ones(3)])
        assert '"execute": "host"' in raised.value.hint


def test_neff_for_the_host_is_no_neff_for_a_device() -> None:
    with pytest.raises(ArtifactError, match="NEFF for the host"):
        load(for_device(artifact()["neff"]))


def test_neff_of_another_artifact_is_refused() -> None:
    code = unpack_neff(artifact()["neff"]).members[HOST_EXECUTABLE]
    other = pack_neff({HOST_EXECUTABLE: code, "more": b""}, target="host", compressed=False)
    with pytest.raises(ArtifactError, match="not the one that its manifest describes"):
        load({**artifact(), "neff": other})


@pytest.mark.parametrize("name", ["neff", "manifest.json"])
def test_damaged_artifact_is_refused(name: str) -> None:
    blobs = dict(artifact())
    blobs[name] = blobs[name][:-7]
    with pytest.raises(ArtifactError):
        load(blobs)
