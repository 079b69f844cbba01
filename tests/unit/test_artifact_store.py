"""The cache as the compiler uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_compile.artifact_store import ArtifactStore
from neuron_compile.cache import ActionKey, CachePolicy, RemotePolicy
from neuron_compile.cache import CacheMissError as Miss
from neuron_compile.errors import CacheMissError

WANTED = ActionKey("lower", (("program", b"p" * 300), ("tool", b"2.28")))
STORED = ActionKey("lower", (("program", b"p" * 300), ("tool", b"2.27")))


def test_a_refusal_names_graph_key_places_and_difference(tmp_path: Path) -> None:
    ArtifactStore(tmp_path).get_or_produce(STORED, lambda: {"blob": b"b"})
    remote = RemotePolicy("memory://artifacts-of-nobody")
    store = ArtifactStore(tmp_path, policy=CachePolicy(require_cache=True, remote=remote))
    with pytest.raises(CacheMissError) as failure:
        store.get_or_produce(WANTED, lambda: {"blob": b"b"}, what="lower of GPT2 forward")
    error = failure.value
    assert error.what.startswith("lower of GPT2 forward is not in the cache")
    assert [line.split()[-1] for line in error.where] == [
        WANTED.digest,
        str(tmp_path),
        "memory://artifacts-of-nobody",
    ]
    assert "tool: 2.27 -> 2.28" in error.why
    assert "neuron-compile warmup" in error.hint
    assert isinstance(error.__cause__, Miss)


def test_what_was_used_is_told(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path)
    used: list[str] = []
    store.on_use = lambda _store, digest: used.append(digest)
    assert store.recall(STORED.digest) is None
    store.get_or_produce(STORED, lambda: {"blob": b"b"})
    result = store.recall(STORED.digest)
    assert result is not None
    assert result.blobs["blob"] == b"b"
    assert used == [STORED.digest, STORED.digest]
