"""Artifacts in what torch.compiler saves."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.compiler._cache import CacheArtifactManager

from neuron_compile.artifact_store import ArtifactStore
from neuron_compile.cache import ActionKey, CacheWarning
from neuron_compile.warm_start.portable import (
    TYPE,
    NeuronArtifact,
    record_artifact,
    register_artifacts,
)

KEY = ActionKey("test", (("input", b"1"),))


def store_with_entry(folder: Path) -> ArtifactStore:
    store = ArtifactStore(folder)
    store.get_or_produce(KEY, lambda: {"blob": b"content"})
    return store


def test_entries_that_were_used_are_saved_and_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_artifacts()
    with CacheArtifactManager.with_fresh_cache():
        store = store_with_entry(tmp_path / "first")
        for _ in range(2):
            record_artifact(store, KEY.digest)
        saved = torch.compiler.save_cache_artifacts()
    assert saved is not None
    data, info = saved
    assert info.artifacts[TYPE] == [KEY.digest]
    monkeypatch.setenv("NEURON_COMPILE_CACHE_DIR", str(tmp_path / "second"))
    loaded = torch.compiler.load_cache_artifacts(data)
    assert loaded is not None
    blobs = ArtifactStore(tmp_path / "second").get(KEY)
    assert blobs is not None
    assert blobs["blob"] == b"content"


def test_a_damaged_artifact_is_warned_of_and_not_used() -> None:
    with pytest.warns(CacheWarning, match="not used"):
        NeuronArtifact(KEY.digest, b"nonsense").populate_cache()


def test_an_entry_that_was_evicted_is_left_out(tmp_path: Path) -> None:
    store = store_with_entry(tmp_path / "store")
    with CacheArtifactManager.with_fresh_cache():
        record_artifact(store, KEY.digest)
        store.clear()
        artifact = NeuronArtifact(KEY.digest, b"")
        assert artifact.content == b""
        artifact.populate_cache()
