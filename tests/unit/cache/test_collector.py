"""Removing, against holds and uses that come in the middle of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cache_actors import giving
from neuron_compile.cache import CacheError, Limits
from neuron_compile.cache.collector import sweep_locks, sweep_temporary
from neuron_compile.cache.holds import Holds
from neuron_compile.cache.locks import try_lock

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
        if len(calls) == 2:  # the files are out of sight: a reader that comes now finds nothing
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
        if len(calls) == 1:  # chosen, not yet moved: another action with these blobs is published
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
        if len(calls) == 2:
            raise OSError("stale handle")
        return real(self)

    monkeypatch.setattr(Holds, "everybody", everybody)
    with pytest.raises(OSError, match="stale handle"):
        cache.evict(Limits(max_bytes=0))
    assert dict(cache.get(key(1)) or {}) == _BLOBS


def test_only_one_collects_at_a_time(make: MakeCache, key: MakeKey, store: Path) -> None:
    cache = make()
    cache.get_or_produce(key(1), lambda: dict(_BLOBS))
    lock = try_lock(store / "locks" / "collection")
    assert lock is not None
    with pytest.raises(CacheError, match="another process is evicting"):
        cache.evict(Limits(max_bytes=0))
    lock.release()
    assert cache.evict(Limits(max_bytes=0)).removed_entries == 1


def test_what_a_killed_collection_left_is_removed_by_the_next(
    make: MakeCache, key: MakeKey, store: Path
) -> None:
    cache = make()
    cache.get_or_produce(key(1), lambda: dict(_BLOBS))
    (store / "evicted").mkdir()
    (store / "evicted" / "left").write_bytes(b"x")
    cache.evict()
    assert list((store / "evicted").iterdir()) == []


def test_files_of_living_writers_stay_and_abandoned_ones_go(tmp_path: Path) -> None:
    (tmp_path / "abandoned").write_bytes(b"x")
    lock = try_lock(tmp_path / "living")
    assert lock is not None
    assert sweep_temporary(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["living"]
    lock.release()


def test_lock_files_idle_for_a_day_go_unless_held(tmp_path: Path) -> None:
    held = try_lock(tmp_path / "held")
    assert held is not None
    (tmp_path / "idle").write_bytes(b"")
    written = held.path.stat().st_mtime
    sweep_locks(tmp_path, written + 3600)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["held", "idle"]
    sweep_locks(tmp_path, written + 90_000)
    assert [path.name for path in tmp_path.iterdir()] == ["held"]
    held.release()


def test_a_collection_that_is_late_stops_and_the_next_one_goes_on(
    make: MakeCache, key: MakeKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neuron_compile.cache.collector._BATCH", 2)
    cache = make()
    for number in range(6):
        cache.get_or_produce(key(number), giving(a=b"%d" % number))
    tier = cache._local
    first = tier.collect(Limits(max_bytes=0), seconds=0.0)
    assert first is not None
    assert (first.is_finished, first.removed_entries + first.entries) == (False, 6)
    measured = tier.usage.measured()
    assert measured is not None
    assert not measured.is_finished
    cache.get_or_produce(key(9), giving(a=b"9"))  # finds work left over, and nothing over a limit
    measured = tier.usage.measured()
    assert measured is not None
    assert measured.is_finished
    assert cache.check().is_clean
