"""The runtime is chosen by what the manifest says."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from host_programs import artifact
from neuron_compile import ArtifactError, NeuronCompileError
from neuron_compile.artifact.manifest import Manifest
from neuron_compile.runtime.load import load


def test_host_artifact_runs() -> None:
    (result,) = load(artifact()).execute([torch.ones(3)])
    assert result.tolist() == [2, 2, 2]


def test_artifact_for_a_device_is_refused_where_there_is_none() -> None:
    blobs = dict(artifact())
    manifest = dataclasses.replace(Manifest.from_json(blobs["manifest.json"]), target="trn1")
    blobs["manifest.json"] = manifest.to_json()
    with pytest.raises(NeuronCompileError) as raised:
        load(blobs)
    assert raised.value.why
    assert raised.value.hint


@pytest.mark.parametrize("name", ["neff", "manifest.json"])
def test_damaged_artifact_is_refused(name: str) -> None:
    blobs = dict(artifact())
    blobs[name] = blobs[name][:-7]
    with pytest.raises(ArtifactError):
        load(blobs)
