"""Removing, against holds and uses that come in the middle of it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from cache_actors import giving
from neuron_compile.cache import CacheError, Limits
from neuron_compile.cache.digests import digest_of
from neuron_compile.cache.entry import ActionEntry, OutputBlob
from neuron_compile.cache.holds import Holds
from neuron_compile.cache.locks import try_lock
from neuron_compile.cache.removal import clock_tick, recover

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cache_actors import Clock, MakeCache, MakeKey
    from neuron_compile.cache import ActionCache

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


def _move_aside(store: Path, kind: str, digest: str) -> None:
    """What a killed collection does."""
    folder = "ac" if kind == "action" else "cas"
    (store / "evicted").mkdir(exist_ok=True)
    (store / folder / digest[:2] / digest).rename(store / "evicted" / f"{kind}-{digest}")


def _use(cache: ActionCache) -> None:
    cache.evict()


def _repair(cache: ActionCache) -> None:
    assert [problem.file.partition("/")[0] for problem in cache.check().problems] == ["evicted"]
    assert cache.check(repair=True).is_clean


def _export(cache: ActionCache) -> None:
    assert cache.export_bundle(io.BytesIO()) == 1


def _look_up(cache: ActionCache) -> None:
    """As the test does next."""


@pytest.mark.parametrize("how", [_use, _repair, _export, _look_up])
def test_what_a_killed_collection_had_moved_comes_back(
    make: MakeCache, key: MakeKey, store: Path, how: Callable[[ActionCache], None]
) -> None:
    cache = make()
    cache.get_or_produce(key(1), giving(**_BLOBS))
    _move_aside(store, "action", key(1).digest)
    how(cache)
    assert dict(cache.get(key(1)) or {}) == _BLOBS
    assert [path.name for path in (store / "evicted").iterdir()] == []
    assert cache.check().is_clean


def test_so_do_blobs_and_for_who_opens_the_store(
    make: MakeCache, key: MakeKey, store: Path
) -> None:
    cache = make()
    cache.get_or_produce(key(1), giving(**_BLOBS))
    _move_aside(store, "blob", digest_of(_BLOBS["a"]))
    assert dict(cache.get(key(1)) or {}) == _BLOBS
    _move_aside(store, "blob", digest_of(_BLOBS["a"]))
    assert not cache.check().is_clean
    assert make().check().is_clean


def test_what_a_living_collection_has_moved_is_its_own(
    make: MakeCache, key: MakeKey, store: Path
) -> None:
    cache = make()
    cache.get_or_produce(key(1), giving(**_BLOBS))
    _move_aside(store, "action", key(1).digest)
    lock = try_lock(store / "locks" / "collection")
    assert lock is not None
    assert cache.get(key(1)) is None
    assert cache.check().is_clean
    with pytest.raises(CacheError, match="another process is evicting"):
        cache.check(repair=True)
    lock.release()
    assert cache.get(key(1)) is not None


def test_what_was_cleared_does_not_come_back(make: MakeCache, key: MakeKey, store: Path) -> None:
    cache = make()
    cache.get_or_produce(key(1), giving(**_BLOBS))
    _move_aside(store, "action", key(1).digest)
    cache.clear()
    cache.evict()
    assert cache.get(key(1)) is None


def test_a_file_that_another_machine_puts_back_stays(
    make: MakeCache, key: MakeKey, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = make()
    cache.get_or_produce(key(1), giving(**_BLOBS))
    real = Holds.everybody
    calls: list[int] = []

    def everybody(self: Holds) -> set[str]:
        calls.append(1)
        if len(calls) == 3:  # out of sight; where locks do not reach, another one finds it so
            recover(cache._local.layout)
        return real(self)

    monkeypatch.setattr(Holds, "everybody", everybody)
    assert cache.evict(Limits(max_bytes=0)).removed_entries == 0
    assert dict(cache.get(key(1)) or {}) == _BLOBS


def test_the_clock_of_the_file_system_ticks(make: MakeCache, key: MakeKey, store: Path) -> None:
    cache = make()
    tick = clock_tick(cache._local.layout)
    cache.get_or_produce(key(1), giving(a=b"1"))
    for file in cache._local.layout.files("blob"):
        assert file.changed_ns > tick
    assert not list((store / "evicted").iterdir())
