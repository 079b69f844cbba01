"""Removing, against holds and uses that come in the middle of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cache_actors import giving
from neuron_compile.cache import Limits
from neuron_compile.cache.digests import digest_of
from neuron_compile.cache.entry import ActionEntry, OutputBlob
from neuron_compile.cache.holds import Holds
from neuron_compile.cache.removal import clock_tick

if TYPE_CHECKING:
    from pathlib import Path

    from cache_actors import Clock, MakeCache, MakeKey

_BLOBS = {"a": b"a" * 5000, "b": b"b" * 5000}


def test_a_hold_taken_after_the_choice_brings_the_entry_back(
    make: MakeCache, key: MakeKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, reader = make(), make()
    for number in range(3):
        cache.get_or_produce(key(number), giving(**_BLOBS, n=b"%d" % number))
    real = Holds.everybody
    calls: list[int] = []

    def everybody(self: Holds) -> set[str]:
        calls.append(1)
        if len(calls) == 3:  # the files are out of sight: a reader that comes now finds nothing
            assert reader.get(key(1)) is None
            reader._local.holds.take(key(2).digest)  # and one that came a moment earlier has it
        return real(self)

    monkeypatch.setattr(Holds, "everybody", everybody)
    done = cache.evict(Limits(max_bytes=0))
    assert done.removed_entries == 2
    assert dict(reader.get(key(2)) or {}) == {**_BLOBS, "n": b"2"}
    assert cache.check().is_clean
    assert cache.check().blobs == 3


def test_a_blob_used_again_after_the_choice_comes_back(
    make: MakeCache, key: MakeKey, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    cache, writer = make(), make()
    cache.get_or_produce(key(1), lambda: dict(_BLOBS))
    clock.now += 10
    real = Holds.everybody
    calls: list[int] = []

    def everybody(self: Holds) -> set[str]:
        calls.append(1)
        if len(calls) == 2:  # seen, not yet moved: another action with these blobs is published
            writer.get_or_produce(key(2), lambda: dict(_BLOBS))
        return real(self)

    monkeypatch.setattr(Holds, "everybody", everybody)
    cache.evict(Limits(max_bytes=0))
    assert dict(cache.get(key(2)) or {}) == _BLOBS
    assert cache.get(key(1)) is None
    assert cache.check().is_clean


def test_when_holds_cannot_be_read_everything_goes_back(
    make: MakeCache, key: MakeKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = make()
    cache.get_or_produce(key(1), lambda: dict(_BLOBS))
    real = Holds.everybody
    calls: list[int] = []

    def everybody(self: Holds) -> set[str]:
        calls.append(1)
        if len(calls) == 3:
            raise OSError("stale handle")
        return real(self)

    monkeypatch.setattr(Holds, "everybody", everybody)
    with pytest.raises(OSError, match="stale handle"):
        cache.evict(Limits(max_bytes=0))
    assert dict(cache.get(key(1)) or {}) == _BLOBS


@pytest.mark.parametrize("when_held", [0, 1], ids=["before it began", "after it began"])
def test_a_publication_in_its_midst_loses_no_blob(
    make: MakeCache, key: MakeKey, monkeypatch: pytest.MonkeyPatch, when_held: int
) -> None:
    cache, writer = make(), make()
    tier = writer._local
    wanted = key(1)
    outputs = tuple(OutputBlob(name, digest_of(data), len(data)) for name, data in _BLOBS.items())
    entry = ActionEntry(wanted.digest, wanted.kind, wanted.records, outputs, 0.0, 0.0, "")
    holding: list[int] = []

    def begin() -> None:
        holding.append(tier.holds.take(wanted.digest))
        tier.store.write_blobs(outputs, _BLOBS, tier.clock() - 1000)

    def finish() -> None:
        tier.store.write_action(tier.store.encode(entry), wanted.digest, tier.clock() - 1000)
        assert not tier.store.lacks(outputs)
        tier.holds.let_go(holding.pop())

    real = Holds.everybody
    calls: list[int] = []

    def everybody(self: Holds) -> set[str]:
        held = real(self)
        calls.append(1)
        if len(calls) == when_held:
            begin()
        if len(calls) == 2:  # the blobs have been seen, the action has not
            finish()
        return held if len(calls) < 3 else real(self)

    if when_held == 0:
        begin()
    monkeypatch.setattr(Holds, "everybody", everybody)
    cache.evict(Limits(max_bytes=0))
    assert dict(cache.get(wanted) or {}) == _BLOBS
    assert cache.check().is_clean


def test_what_a_killed_collection_had_moved_comes_back(
    make: MakeCache, key: MakeKey, store: Path
) -> None:
    cache = make()
    cache.get_or_produce(key(1), giving(**_BLOBS))
    path = store / "ac" / key(1).digest[:2] / key(1).digest
    (store / "evicted").mkdir(exist_ok=True)
    path.rename(store / "evicted" / f"action-{key(1).digest}")
    (store / "evicted" / "clock-1234").write_bytes(b"")
    assert cache.get(key(1)) is None
    cache.evict()
    assert dict(cache.get(key(1)) or {}) == _BLOBS
    assert list((store / "evicted").iterdir()) == []


def test_the_clock_of_the_file_system_ticks(make: MakeCache, key: MakeKey, store: Path) -> None:
    cache = make()
    tick = clock_tick(cache._local.layout)
    cache.get_or_produce(key(1), giving(a=b"1"))
    for file in cache._local.layout.files("blob"):
        assert file.changed_ns > tick
    assert not list((store / "evicted").iterdir())
